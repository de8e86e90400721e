import type { AcquireRequest, LeaseExtension } from '../cluster/lock-contract.ts';
import { oneByOne } from '../cluster/one-by-one.ts';
import { CasLock } from '../lock/cas-lock.ts';
import type { LeaseEnd, LockRow } from '../lock/lock-backend.ts';

/** The steps of a lock in its object, also those for several names. */
export class ObjectLock extends CasLock {
  acquireMany(requests: readonly AcquireRequest[]): Promise<(LockRow | Error)[]> {
    return oneByOne(requests, (request) => this.acquire(request));
  }

  releaseMany(ends: readonly LeaseEnd[]): Promise<(boolean | Error)[]> {
    return oneByOne(ends, ({ lease, ending }) => this.release(lease, ending));
  }

  extendMany(extensions: readonly LeaseExtension[]): Promise<(boolean | Error)[]> {
    return oneByOne(extensions, ({ lease, leaseFor }) => this.extend(lease, leaseFor));
  }
}
