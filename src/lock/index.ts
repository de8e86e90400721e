// For adapter authors: wrap your backend with `createLock`. `LockProvider` documents a complete example.

export { createLock, type Lock, type LockEngineKind, type LockOptions } from './create-lock.ts';
export type { Ending, LockEngine, LockRow } from './lock-backend.ts';
export {
  acquired as acquireRecord,
  extended as extendRecord,
  forceReleased as forceReleaseRecord,
  type Instant,
  type Record as EngineRecord,
  released as releaseRecord,
  rowOf as rowOfRecord,
} from './record.ts';
