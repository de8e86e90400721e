import { type Clock, systemClock } from './clock.ts';
import { onNextTurn } from './on-next-turn.ts';

/** Reads that follow each other within this many milliseconds on average are fast. */
const FAST_GAP_MS = 0.002;

/**
 * The most further reads that share an instant: 1 ms at the slowest pace that counts as fast. With the read that looks at the
 * clock they are a prime number, so that members that are read in turn do that in turn too.
 */
const MOST_SHARED = 498;

/** As many fast reads in a row pay for one that shares an instant: after n of them, at most n / 32 may be late. */
const READS_PER_SHARED = 32;

/** After attempts that saved no look at the clock, the most looks until the next attempt. */
const LONGEST_REST = 1024;

/** The machine's own `now`. A test kit may replace the object `performance`, before this line runs or after it. */
const machineNow: (() => number) | undefined = Object.hasOwn(performance, 'now')
  ? undefined
  : performance.now;

/** Test kits replace it together with the clock. */
const machineSetTimeout = setTimeout;

/** Counts the reads of one member. */
interface ReadCounter {
  reads: number;
}

/**
 * A monotonic clock for fresh reads, which may be a little late. It is read in two steps, so that no number is returned
 * from a function: such a number is allocated on the heap wherever V8 does not inline the call.
 */
export interface CoarseClock {
  /** {@link Clock.monotonic} as of the last {@link update}, or as of an earlier read of the same run of fast reads. */
  readonly instant: number;
  /**
   * To be called before each reading of {@link instant}. It counts the read: at once, or where reads share an instant with
   * the next look at the clock, so that this costs them nothing. The member that looks is given all of them.
   */
  update(counter: ReadCounter): void;
}

/** Schedules the end of sharing. `false`: that is not possible now. */
type ScheduleEnd = (callback: () => void) => boolean;

/**
 * The machine's monotonic clock, cached while reads are fast: one `performance.now()` takes about 40 ns, more than the
 * rest of a fresh read.
 *
 * No read can tell how long ago the last one was without a look at the clock. So the number of reads between two looks
 * is earned: it grows with the run of fast reads so far, and one look that finds slower reads, or a pause, ends the run.
 * At a steady pace no instant is shared for longer than 1 ms. Work that begins after n fast reads is noticed within n / 32
 * further reads, and those that follow it are exact, as are all reads where fewer than 32 in a row are fast.
 *
 * A callback ends the run too. No timer is left behind. Where sharing saves no look at the clock, it is tried less and
 * less often.
 */
class CachingClock implements CoarseClock {
  instant: number = -Infinity;
  readonly #scheduleEnd: ScheduleEnd;
  /** How many further reads share the present instant. */
  #left: number = 0;
  /** The number of further reads that share the instant of the last look at the clock. */
  #shared: number = 0;
  /** The number of fast reads in a row, as of the last look. */
  #run: number = 0;
  #isEndScheduled: boolean = false;
  /** Reads have shared an instant since the end was scheduled. */
  #hasSaved: boolean = false;
  /** How many looks at the clock are left until a run may begin. */
  #rest: number = 0;
  #restLength: number = 1;
  /** That of the last look; `undefined` after the end of a run. */
  #counter: ReadCounter | undefined;

  constructor(scheduleEnd: ScheduleEnd) {
    this.#scheduleEnd = scheduleEnd;
  }

  update(counter: ReadCounter): void {
    // A global function costs nothing to compare; a property of `performance` does.
    if (this.#left === 0 || setTimeout !== machineSetTimeout) this.#readClock(counter);
    else this.#left -= 1;
  }

  #readClock(counter: ReadCounter): void {
    counter.reads += 1 + this.#shared - this.#left;
    this.#counter = counter;
    const instant = performance.now();
    const reads = this.#shared + 1;
    const isFast = instant - this.instant < FAST_GAP_MS * reads && setTimeout === machineSetTimeout;
    this.instant = instant;
    if (reads > 1) this.#hasSaved = true;
    if (this.#rest > 0) this.#rest -= 1;
    else this.#run = isFast ? Math.min(this.#run + reads, MOST_SHARED * READS_PER_SHARED) : 0;
    this.#left = this.#shared =
      this.#run >= READS_PER_SHARED && this.#canShare() ? Math.floor(this.#run / READS_PER_SHARED) : 0;
  }

  #canShare(): boolean {
    if (this.#isEndScheduled) return true;
    this.#isEndScheduled = performance.now === machineNow && this.#scheduleEnd(this.#end);
    if (!this.#isEndScheduled) this.#end();
    return this.#isEndScheduled;
  }

  readonly #end = (): void => {
    if (this.#counter !== undefined) this.#counter.reads += this.#shared - this.#left;
    this.#counter = undefined;
    this.#restLength = this.#hasSaved ? 1 : Math.min(LONGEST_REST, 2 * this.#restLength);
    this.#rest = this.#hasSaved ? 0 : this.#restLength;
    this.#hasSaved = this.#isEndScheduled = false;
    this.#run = this.#left = this.#shared = 0;
  };
}

/** A clock that is read each time. */
class ExactClock implements CoarseClock {
  readonly #clock: Clock;
  instant: number = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  update(counter: ReadCounter): void {
    counter.reads += 1;
    this.instant = this.#clock.monotonic();
  }
}

/** For reads in one run of synchronous code: a microtask ends sharing, after those that were queued before it. */
const machineSync: CoarseClock = /* @__PURE__ */ new CachingClock((callback) => {
  Promise.resolve().then(callback);
  return true;
});

/**
 * For reads that are awaited one after the other, each in a microtask of its own: an immediate ends sharing. Where
 * `setImmediate` is missing, each read is exact.
 */
const machineAwaited: CoarseClock = /* @__PURE__ */ new CachingClock(onNextTurn);

/** Coarse clocks for fresh reads. Only the machine's monotonic clock is cached; any other is read each time. */
export function coarseClocks(clock: Clock): {
  /** For synchronous reads. */
  readonly sync: CoarseClock;
  /** For awaited reads. */
  readonly awaited: CoarseClock;
} {
  if (clock.monotonic === systemClock.monotonic) return { sync: machineSync, awaited: machineAwaited };
  const exact = new ExactClock(clock);
  return { sync: exact, awaited: exact };
}
