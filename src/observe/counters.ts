import type { EventType } from './events.ts';
import type { FreshnessObjective } from './freshness.ts';
import { LoadTimeCounter } from './load-times.ts';

/** Counts what happens to one member, by its events and by what emits none. `stats.ts` shows it to people. */
export class Counters {
  /** Reads of all kinds. The coarse clock counts fresh ones. */
  reads: number = 0;
  /** Reads that found no value. */
  misses: number = 0;
  /** Reads that waited for a load. */
  waited: number = 0;
  /** `load-kept` of loads on other instances. */
  keptElsewhere: number = 0;
  bytesPublished: number = 0;
  lockCommands: number = 0;
  storeCommands: number = 0;
  readonly loading: LoadTimeCounter = new LoadTimeCounter();
  /** How many events of each type there were. */
  readonly events: { [type in EventType]?: number } = {};
  /** That of the option `freshness`; `undefined`: none. */
  objective: FreshnessObjective | undefined = undefined;

  count(type: EventType, times: number = 1): void {
    this.events[type] = (this.events[type] ?? 0) + times;
  }
}
