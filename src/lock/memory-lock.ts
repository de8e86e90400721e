import { MemoryRecords } from '../memory/memory-records.ts';
import type { Clock } from '../time/clock.ts';
import type { LockBackend } from './lock-backend.ts';
import {
  acquired,
  type BackendRecord,
  extended,
  forceReleased,
  type Instant,
  released,
  rowOf,
} from './record.ts';

/** The steps of a lock on records in memory. */
export class MemoryLock implements LockBackend {
  readonly #clock: Clock;
  readonly #records: MemoryRecords<BackendRecord> = new MemoryRecords(
    ({ leaseUntil, notBefore, keepFor = Infinity }) => Math.max(leaseUntil, notBefore) + keepFor,
  );

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(request: Parameters<LockBackend['acquire']>[0]): ReturnType<LockBackend['acquire']> {
    const now = this.#now();
    const record = acquired(this.#records.get(request.name), request, now);
    this.#records.set(request.name, record, now.at);
    return rowOf(request.name, record, now);
  }

  async extend(...[lease, leaseFor]: Parameters<LockBackend['extend']>): Promise<boolean> {
    return this.#change(lease.name, (record, at) => extended(record, lease, leaseFor, at));
  }

  async release(...[lease, ending]: Parameters<LockBackend['release']>): Promise<boolean> {
    return this.#change(lease.name, (record, at) => released(record, lease, ending, at));
  }

  async find(name: string): ReturnType<LockBackend['find']> {
    const record = this.#records.get(name);
    return record === undefined ? undefined : rowOf(name, record, this.#now());
  }

  async list(prefix: string, limit: number): ReturnType<LockBackend['list']> {
    const names = this.#records
      .names()
      .filter((name) => name.startsWith(prefix))
      .sort();
    const now = this.#now();
    return names.slice(0, limit).map((name) => rowOf(name, this.#records.get(name) as BackendRecord, now));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    return this.#change(name, (record, at) => forceReleased(record, token, at));
  }

  #change(
    name: string,
    step: (record: BackendRecord | undefined, at: number) => BackendRecord | undefined,
  ): boolean {
    const { at } = this.#now();
    const record = step(this.#records.get(name), at);
    if (record === undefined) return false;
    this.#records.set(name, record, at);
    return true;
  }

  #now(): Instant {
    return { at: this.#clock.monotonic(), wall: this.#clock.now() };
  }
}
