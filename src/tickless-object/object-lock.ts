import type { AcquireRequest } from '../cluster/lock-contract.ts';
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
}
