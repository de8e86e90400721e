import { SwappedRecords } from '../cas/swapped-records.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { EtcdClient, type EtcdOptions } from './etcd-client.ts';
import { EtcdTexts } from './etcd-texts.ts';

/** The keys of a lock or of a store. */
export interface OpenKeys {
  readonly records: SwappedRecords;
  /** The limits and the options of the backend. */
  readonly backend: { readonly longestName: undefined; readonly options: readonly string[] };
}

/**
 * @param about the subject of errors.
 * @throws {OptionError} when one of these options breaks a rule.
 */
export function openKeys(
  about: 'lock' | 'store',
  options: EtcdOptions & {
    readonly prefix?: string | undefined;
    readonly retention?: DurationLike | undefined;
    readonly timeout?: DurationLike | undefined;
  },
): OpenKeys {
  const { prefix = 'tickless/', retention = { days: 7 } } = options ?? {};
  const checks = new OptionChecks(about);
  checks.name('prefix', prefix);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  return {
    records: new SwappedRecords(new EtcdTexts(new EtcdClient(about, options), prefix), retentionMs),
    backend: {
      longestName: undefined,
      options: ['endpoints', 'user', 'fetch', 'prefix', 'retention'],
    },
  };
}
