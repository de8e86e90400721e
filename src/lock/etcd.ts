import type { EtcdOptions } from '../etcd/etcd-client.ts';
import { openKeys } from '../etcd/open-keys.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

export type { EtcdFetch, EtcdOptions, EtcdResponse } from '../etcd/etcd-client.ts';

/** The options of {@link etcdLock}. */
export interface EtcdLockOptions extends LockOptions, EtcdOptions {
  /** The beginning of all keys. A store may share it. @default 'tickless/' */
  readonly prefix?: string | undefined;
  /**
   * How long the record of an unused name is kept at least, counted from the end of its lease or hold; up to 1.8 times as
   * long. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

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
  const options = ownOptions(given);
  const { records, backend } = openKeys('lock', options);
  return createLock(new RecordLock(records), options, backend);
}
