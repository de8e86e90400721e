import { commandTimeoutMs } from '../cluster/time-limits.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import type { MongoCollection } from './collection.ts';
import { MongoDocuments } from './documents.ts';
import { MongoRecords } from './mongo-records.ts';

/** The documents of a lock or of a store. */
export interface OpenCollection {
  readonly records: MongoRecords;
  /** The limits and the options of the backend. */
  readonly backend: { readonly longestName: undefined; readonly options: readonly string[] };
}

/**
 * @param about the subject of errors.
 * @throws {OptionError} when one of these options breaks a rule.
 */
export function openCollection(
  about: 'lock' | 'store',
  options: {
    readonly collection: MongoCollection;
    readonly retention?: DurationLike | undefined;
    readonly timeout?: DurationLike | undefined;
  },
): OpenCollection {
  const { collection, retention = { days: 7 }, timeout } = options ?? {};
  const checks = new OptionChecks(about);
  checks.methods('collection', collection, ['findOneAndUpdate', 'aggregate', 'deleteOne', 'createIndex']);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  const timeoutMs = commandTimeoutMs(about, timeout);
  return {
    records: new MongoRecords(new MongoDocuments(collection, timeoutMs), retentionMs),
    backend: { longestName: undefined, options: ['collection', 'retention'] },
  };
}
