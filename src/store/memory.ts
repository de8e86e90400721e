import { implausibleSnapshot, isPlausibleToken } from '../cluster/plausible.ts';
import type { SnapshotStore, StoredSnapshot, WriteAnswer } from '../cluster/store-contract.ts';
import { MemoryRecords } from '../memory/memory-records.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { createStore, type StoreEngine, type StoreOptions } from './create-store.ts';

/** The options of {@link memoryStore}. */
export interface MemoryStoreOptions extends StoreOptions {
  /** Clock of the ages; `FakeClock` of `tickless/testing` in tests. @default the machine's */
  readonly clock?: Clock | undefined;
}

/**
 * A store in the memory of this process, for tests. Instances that share the object share the store. It keeps each
 * snapshot until it is deleted, except those of absent keys: do not use it for an unbounded number of keys.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function memoryStore(options: MemoryStoreOptions = {}): SnapshotStore {
  return createStore(new MemoryStore(options?.clock ?? systemClock), options, {
    longestName: undefined,
    options: ['clock'],
  });
}

interface Written {
  readonly version: number;
  readonly writtenAt: number;
  readonly payload: string;
  /** On the monotonic clock; `Infinity`: until it is deleted. */
  readonly keptUntil: number;
}

class MemoryStore implements StoreEngine {
  readonly #clock: Clock;
  readonly #snapshots: MemoryRecords<Written> = new MemoryRecords(({ keptUntil }) => keptUntil);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read(name: string, newerThan: number = -1): Promise<StoredSnapshot | undefined> {
    const written = this.#snapshots.get(name);
    if (written === undefined || written.version <= newerThan) return undefined;
    const { version, payload, writtenAt } = written;
    if (!this.#isPlausible(version)) return implausibleSnapshot(version);
    return { version, payload, age: this.#clock.monotonic() - writtenAt };
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor: number = Infinity,
  ): Promise<WriteAnswer> {
    const present = this.#snapshots.get(name)?.version ?? 0;
    const held = this.#isPlausible(present) ? present : 0;
    if (token !== undefined && token < held && held !== rejected) return { kind: 'refused', version: held };
    const version = token ?? Math.max(held + 1, Math.floor(this.#clock.now() * 1000));
    const writtenAt = this.#clock.monotonic();
    this.#snapshots.set(name, { version, payload, writtenAt, keptUntil: writtenAt + keepFor }, writtenAt);
    return { kind: 'written', version };
  }

  async delete(name: string): Promise<boolean> {
    return this.#snapshots.delete(name);
  }

  #isPlausible(version: number): boolean {
    return isPlausibleToken(version, this.#clock.now());
  }
}
