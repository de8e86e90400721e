import type { EventType } from './events.ts';
import { LoadTimeCounter } from './load-times.ts';

/** Counts what happens to one member, by its events and by what emits none. `stats.ts` shows it to people. */
export class Counters {
  /** Reads of all kinds. Each fresh read counts here: nothing else is paid for it. */
  reads: number = 0;
  /** Reads that found no value. */
  misses: number = 0;
  /** Reads that waited for a load. */
  waited: number = 0;
  bytesPublished: number = 0;
  lockCommands: number = 0;
  storeCommands: number = 0;
  readonly loading: LoadTimeCounter = new LoadTimeCounter();
  readonly #events: Map<EventType, number> = new Map();

  count(type: EventType): void {
    this.#add(type, 1);
  }

  /** How many events of that type there were. */
  of(type: EventType): number {
    return this.#events.get(type) ?? 0;
  }

  /** Adds those of another member. */
  add(other: Counters): void {
    for (const name of NUMBERS) this[name] += other[name];
    this.loading.addAll(other.loading);
    for (const [type, count] of other.#events) this.#add(type, count);
  }

  #add(type: EventType, count: number): void {
    this.#events.set(type, this.of(type) + count);
  }
}

const NUMBERS = ['reads', 'misses', 'waited', 'bytesPublished', 'lockCommands', 'storeCommands'] as const;
