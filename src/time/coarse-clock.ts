import { type Clock, systemClock } from './clock.ts';
import { onNextTurn } from './on-next-turn.ts';

/** Reads that follow each other within this many milliseconds on average are a burst. */
const BURST_GAP_MS = 0.005;

/** After attempts that saved no clock reading, the longest pause until the next attempt, in clock readings. */
const LONGEST_PAUSE = 1024;

/** The machine's own `now`. A test kit may replace the object `performance`, before this line runs or after it. */
const machineNow: (() => number) | undefined = Object.hasOwn(performance, 'now')
  ? undefined
  : performance.now;

/** Test kits replace it together with the clock. */
const machineSetTimeout = setTimeout;

/**
 * A monotonic clock for fresh reads, which may be a little late. It is read in two steps, so that no number is returned
 * from a function: such a number is allocated on the heap wherever V8 does not inline the call.
 */
export interface CoarseClock {
  /** {@link Clock.monotonic} as of the last {@link update}, or as of an earlier read of the same burst. */
  readonly instant: number;
  /** To be called before each reading of {@link instant}. */
  update(): void;
}

interface CachingPlan {
  /** How many close readings in a row make a burst. */
  readonly minCloseReadings: number;
  /** The most reads in a row that share one instant. */
  readonly maxSharedReads: number;
  /** Schedules the end of a burst. `false`: that is not possible now. */
  readonly scheduleEnd: (callback: () => void) => boolean;
}

/**
 * The machine's monotonic clock, cached during bursts of reads: one `performance.now()` takes about 40 ns, more than
 * the
 * rest of a fresh read.
 *
 * While reads follow each other closely, a growing number of them share one instant, and the end of the burst forgets
 * it.
 * No timer is left behind. Where caching saves no clock reading, it is tried less and less often.
 */
class CachingClock implements CoarseClock {
  instant: number = Number.NEGATIVE_INFINITY;
  readonly #plan: CachingPlan;
  /** How many further reads share the present instant. */
  #left: number = 0;
  /** The number of reads that share the instant of the last clock reading. */
  #shared: number = 0;
  #isBurst: boolean = false;
  /** Reads of this burst have shared an instant. */
  #hasSaved: boolean = false;
  /** How many clock readings in a row were close together. */
  #close: number = 0;
  /** How many clock readings are left until the next burst may begin. */
  #pause: number = 0;
  #pauseLength: number = 1;

  constructor(plan: CachingPlan) {
    this.#plan = plan;
  }

  update(): void {
    // A global function costs nothing to compare; a property of `performance` does.
    if (this.#left === 0 || setTimeout !== machineSetTimeout) this.#readClock();
    else this.#left -= 1;
  }

  #readClock(): void {
    const instant = performance.now();
    const isClose = instant - this.instant < BURST_GAP_MS * (this.#shared + 1);
    this.instant = instant;
    this.#close = isClose && setTimeout === machineSetTimeout ? this.#close + 1 : 0;
    if (this.#isBurst) {
      this.#hasSaved = true;
      this.#shared = this.#close > 0 ? Math.min(this.#plan.maxSharedReads, 2 * this.#shared + 1) : 0;
      this.#left = this.#shared;
    } else if (this.#pause > 0) {
      this.#pause -= 1;
    } else if (this.#close >= this.#plan.minCloseReadings) {
      this.#begin();
    }
  }

  #begin(): void {
    this.#hasSaved = false;
    this.#isBurst = performance.now === machineNow && this.#plan.scheduleEnd(this.#end);
    if (this.#isBurst) this.#shared = this.#left = 1;
    else this.#end();
  }

  readonly #end = (): void => {
    this.#pauseLength = this.#hasSaved ? 1 : Math.min(LONGEST_PAUSE, 2 * this.#pauseLength);
    this.#pause = this.#hasSaved ? 0 : this.#pauseLength;
    this.#isBurst = false;
    this.#left = this.#shared = 0;
  };
}

/** A clock that is read each time. */
class ExactClock implements CoarseClock {
  readonly #clock: Clock;
  instant: number = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  update(): void {
    this.instant = this.#clock.monotonic();
  }
}

/** A burst ends with a microtask: reads after an `await` are exact, except in microtasks that were queued before. */
const machineSync: CoarseClock = /* @__PURE__ */ new CachingClock({
  minCloseReadings: 1,
  maxSharedReads: 1024,
  scheduleEnd: (callback) => {
    Promise.resolve().then(callback);
    return true;
  },
});

/**
 * A burst ends with the turn of the event loop: for reads that are awaited one after the other, each in a microtask of
 * its own. An immediate has its price, so a burst takes more close readings to begin. Where `setImmediate` is missing,
 * each read is exact.
 */
const machineAwaited: CoarseClock = /* @__PURE__ */ new CachingClock({
  minCloseReadings: 16,
  maxSharedReads: 512,
  scheduleEnd: onNextTurn,
});

/** Coarse clocks for fresh reads. Only the machine's monotonic clock is cached; any other is read each time. */
export function coarseClocks(clock: Clock): {
  /** For synchronous reads: late only within one synchronous run. */
  readonly sync: CoarseClock;
  /** For awaited reads: late only within one turn of the event loop. */
  readonly awaited: CoarseClock;
} {
  if (clock.monotonic === systemClock.monotonic) return { sync: machineSync, awaited: machineAwaited };
  const exact = new ExactClock(clock);
  return { sync: exact, awaited: exact };
}
