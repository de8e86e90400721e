import type { Store } from '../cluster/store-contract.ts';
import type { EtcdOptions } from '../etcd/etcd-client.ts';
import { openKeys } from '../etcd/open-keys.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

export type { EtcdFetch, EtcdOptions, EtcdResponse } from '../etcd/etcd-client.ts';

/** The options of {@link etcdStore}. */
export interface EtcdStoreOptions extends StoreOptions, EtcdOptions {
  /** The beginning of all keys. A lock may share it. @default 'tickless/' */
  readonly prefix?: string | undefined;
  /**
   * How long a snapshot is kept at least after its last write; up to 1.8 times as long. Choose more than the time between
   * two loads: an instance that starts later finds none. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A store in etcd (3.4 or newer), over its HTTP API with JSON, by `fetch`: no package is needed. etcd is made for small
 * values: it keeps all of them in memory, 2 GB by default, and each change of them until it is compacted
 * (`--auto-compaction-retention`). Use it for values of some kilobytes, up to some megabytes.
 *
 * A payload of up to 3 kB is in the key of its name; a longer one is in keys of its own, of up to 1 MB each, which are
 * written first. So a read is one command, or two; a write is one command, or two and one for each megabyte. With
 * `keepVersions` over 1 all payloads are in keys of their own.
 *
 * Ages are by the clock of the servers, as the header `Date` of their responses tells it, which counts seconds: too high by
 * up to 3 s, by some 0.2 s where instances send a command a second, and never too low. Synchronize the clocks of
 * the servers of a cluster. The user needs the rights to read and write the keys under `prefix`. Reports of instances come
 * with checks (`propagateWithin`), not with the reads and writes of rounds.
 *
 * ```ts no-run
 * import { etcdStore } from 'tickless/etcd';
 *
 * const store = etcdStore({ endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'] });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function etcdStore(given: EtcdStoreOptions): Store {
  const options = ownOptions(given);
  const { records, backend } = openKeys('store', options);
  return createStore(new RecordStore(records, options.keepVersions), options, backend);
}
