import { ownOptions } from '../option-checks.ts';
import { MemoryRecords } from '../records/memory-records.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

/** The options of {@link memoryLock}. */
export interface MemoryLockOptions extends LockOptions {
  /** Clock of leases and holds; `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/**
 * A lock in the memory of this process: for tests, and for several values that share one source. Instances that share
 * the object share the lock. It keeps the record of each name for ever, except those of absent keys: do not use it for an unbounded number of keys.
 *
 * ```ts
 * import { memoryLock } from 'tickless/memory';
 *
 * const lock = memoryLock({ leaseFor: { seconds: 10 } });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind); // acquired
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryLock(given: MemoryLockOptions = {}): Lock {
  const options = ownOptions(given);
  return createLock(new RecordLock(new MemoryRecords(options?.clock ?? systemClock)), options, {
    longestName: undefined,
    options: ['clock'],
  });
}
