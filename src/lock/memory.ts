import { type Clock, systemClock } from '../time/clock.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import type { LockEngine } from './lock-backend.ts';
import { acquired, extended, forceReleased, type Instant, type Record, released, rowOf } from './record.ts';

/** The options of {@link memoryLock}. */
export interface MemoryLockOptions extends LockOptions {
  /** Clock of leases and holds; `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/**
 * A lock in the memory of this process: for tests, and for several values that share one source. Instances that share
 * the object share the lock. It keeps the record of each name for ever: do not use it for an unbounded number of keys.
 *
 * ```ts
 * import { memoryLock } from 'tickless/lock/memory';
 *
 * const lock = memoryLock({ leaseFor: { seconds: 10 } });
 * const answer = await lock.acquire({ name: 'rates' });
 * console.log(answer.kind); // acquired
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryLock(options: MemoryLockOptions = {}): Lock {
  return createLock(new MemoryLock(options?.clock ?? systemClock), options, {
    longestName: undefined,
    options: ['clock'],
  });
}

class MemoryLock implements LockEngine {
  readonly #clock: Clock;
  readonly #records: Map<string, Record> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(request: Parameters<LockEngine['acquire']>[0]): ReturnType<LockEngine['acquire']> {
    const now = this.#now();
    const record = acquired(this.#records.get(request.name), request, now);
    this.#records.set(request.name, record);
    return rowOf(request.name, record, now);
  }

  async extend(...[lease, leaseFor]: Parameters<LockEngine['extend']>): Promise<boolean> {
    return this.#put(lease.name, extended(this.#records.get(lease.name), lease, leaseFor, this.#now().at));
  }

  async release(...[lease, ending]: Parameters<LockEngine['release']>): Promise<boolean> {
    return this.#put(lease.name, released(this.#records.get(lease.name), lease, ending, this.#now().at));
  }

  async find(name: string): ReturnType<LockEngine['find']> {
    const record = this.#records.get(name);
    return record === undefined ? undefined : rowOf(name, record, this.#now());
  }

  async list(prefix: string, limit: number): ReturnType<LockEngine['list']> {
    const names = [...this.#records.keys()].filter((name) => name.startsWith(prefix)).sort();
    const now = this.#now();
    return names.slice(0, limit).map((name) => rowOf(name, this.#records.get(name) as Record, now));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    return this.#put(name, forceReleased(this.#records.get(name), token, this.#now().at));
  }

  #put(name: string, record: Record | undefined): boolean {
    if (record === undefined) return false;
    this.#records.set(name, record);
    return true;
  }

  #now(): Instant {
    return { at: this.#clock.monotonic(), wall: this.#clock.now() };
  }
}
