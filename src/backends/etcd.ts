import type { Store } from '../cluster/store-contract.ts';
import { OptionChecks } from '../option-checks.ts';
import type { Lock, LockOptions } from '../records/lock/create-lock.ts';
import { type OpenRecords, RETENTION } from '../records/records-kind.ts';
import type { StoreOptions } from '../records/store/create-store.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Backend, backendOn, lockOn, storeOn } from './backend.ts';
import { SwappedRecords } from './cas/swapped-records.ts';
import { EtcdClient, type EtcdOptions as EtcdServers } from './etcd/etcd-client.ts';
import { EtcdTexts } from './etcd/etcd-texts.ts';

export type { Backend } from './backend.ts';
export type { EtcdFetch, EtcdResponse } from './etcd/etcd-client.ts';

/** The options of all that is in etcd. */
export interface EtcdOptions extends EtcdServers {
  /** The beginning of all keys. A lock and a store may share it. @default 'tickless/' */
  readonly prefix?: string | undefined;
  /**
   * How long a record is kept at least, and up to 1.8 times as long: of a lock counted from the end of its lease or hold, of a store
   * from the last write. Choose more than the time between two loads: an instance that starts later finds no snapshot. Over 0;
   * `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/** The options of {@link etcdLock}. */
export interface EtcdLockOptions extends LockOptions, EtcdOptions {}

/** The options of {@link etcdStore}. */
export interface EtcdStoreOptions extends StoreOptions, EtcdOptions {}

/** The options of {@link etcdBackend}: those of the lock and of the store. */
export interface EtcdBackendOptions extends EtcdLockOptions, EtcdStoreOptions {}

/**
 * A lock in etcd (3.4 or newer), over its HTTP API with JSON, by `fetch`: no package is needed. One key per name, which is
 * replaced if it is still as it was. Names may have any length.
 *
 * The clock is that of the servers, by the header `Date` of their responses, which counts seconds: at first it is known to a
 * second, to 0.1 s by an instance that sends a command a second. A lease is never shorter for that; a lease whose holder has
 * crashed and a hold are over later, by as much as the two instances do not know: 3 s at most. Synchronize the clocks of the
 * servers of a cluster. etcd's own leases delete records after the retention: they last for two seconds or more, and can't
 * tell how old a value is.
 *
 * An acquire is one command where no other instance has used the name since, or holds it now, else two, and two after some
 * minutes without a command; an extension and a release are one. The user needs the rights to read and write the keys under
 * `prefix`.
 *
 * ```ts no-run
 * import { etcdLock } from 'tickless/etcd';
 *
 * const lock = etcdLock({ endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'] });
 * const answer = await lock.acquire({ name: 'rates' });
 * if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor: 60_000 });
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function etcdLock(given: EtcdLockOptions): Lock {
  return lockOn(openEtcd, given);
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
  return storeOn(openEtcd, given);
}

/**
 * A lock and a store in etcd, for the option `backend`: {@link etcdLock} and {@link etcdStore} with the same options.
 *
 * ```ts no-run
 * import { RefreshingValue } from 'tickless';
 * import { etcdBackend } from 'tickless/etcd';
 *
 * const backend = etcdBackend({ endpoints: 'http://localhost:2379' });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function etcdBackend(given: EtcdBackendOptions): Backend {
  return backendOn(openEtcd, given);
}

function openEtcd(about: 'lock' | 'store', options: EtcdOptions): OpenRecords {
  const { prefix = 'tickless/', retention = RETENTION } = options ?? {};
  const checks = new OptionChecks(about);
  checks.name('prefix', prefix);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  const texts = new EtcdTexts(new EtcdClient(about, options), prefix);
  return {
    backend: 'etcd',
    records: new SwappedRecords(texts, retentionMs),
    options: ['endpoints', 'user', 'fetch', 'prefix', 'retention'],
  };
}
