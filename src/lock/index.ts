// For adapter authors: wrap your backend with `createLock`. `LockProvider` has a worked example.

export { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
export { type AsLockOptions, asLock } from './as-lock.ts';
export {
  createLock,
  type Lock,
  type LockBackendKind,
  type LockOptions,
} from './create-lock.ts';
export type { Ending, LeaseEnd, LockBackend, LockRow } from './lock-backend.ts';
export {
  acquired as acquireRecord,
  type BackendRecord,
  extended as extendRecord,
  forceReleased as forceReleaseRecord,
  type Instant,
  released as releaseRecord,
  rowOf as rowOfRecord,
} from './record.ts';
