import { type Clock, systemClock } from './clock.ts';
import { EngineClock } from './engine-clock.ts';

/** At most so many reads in a row are answered with the same instant. */
const MOST_SKIPPED = 1024;

/** Reads that are closer together than this, in milliseconds, on average, are taken for a burst. */
const BURST_GAP_MS = 0.005;

/** After attempts that saved nothing, so many reads pass at most until the next. */
const LONGEST_PAUSE = 1024;

/** The machine's own: a test kit puts an object of its own in the place of `performance`, before this is read or after. */
const machineNow: (() => number) | undefined = Object.hasOwn(performance, 'now')
  ? undefined
  : performance.now;

/**
 * A clock for fresh reads. It is asked in two steps, and no number goes from one function to another: such a number is
 * put on the heap wherever the engine does not inline.
 */
export interface ReadClock {
  /** As of {@link Clock.monotonic} at the last {@link tick}, or as of a moment before in the same burst. */
  readonly instant: number;
  /** To be called before {@link instant} is read. */
  tick(): void;
}

/** Has something called later, once. */
type Defer = (callback: () => void) => unknown;

/**
 * The machine's monotonic clock for bursts of reads: to ask it costs some 40 ns, more than all else that a fresh read
 * does.
 *
 * While the stack is not unwound time hardly moves. So while reads come close together, an instant is kept for a growing
 * number of reads, at most {@link MOST_SKIPPED}, and no longer than until a deferred call forgets it. No timer is left
 * behind. Where nothing is saved by that, it is tried ever less often.
 */
class BurstClock implements ReadClock {
  instant: number = Number.NEGATIVE_INFINITY;
  readonly #defer: Defer;
  readonly #closeReads: number;
  /** So many reads are still answered with the same instant. */
  #left: number = 0;
  /** So many were to be, after the last look at the clock. */
  #skip: number = 0;
  #isBurst: boolean = false;
  /** Of this burst reads were answered with an instant that was kept. */
  #hasSaved: boolean = false;
  /** So many reads in a row have come close together. */
  #close: number = 0;
  /** So many looks at the clock until a burst is looked for again. */
  #pause: number = 0;
  #pauseLength: number = 1;

  /**
   * @param defer calls what forgets the instant.
   * @param closeReads so many reads close together are a burst.
   */
  constructor(defer: Defer, closeReads: number) {
    this.#defer = defer;
    this.#closeReads = closeReads;
  }

  tick(): void {
    if (this.#left === 0) this.#look();
    else this.#left -= 1;
  }

  #look(): void {
    const instant = performance.now();
    const gap = (instant - this.instant) / (this.#skip + 1);
    this.instant = instant;
    this.#close = gap < BURST_GAP_MS ? this.#close + 1 : 0;
    if (this.#isBurst) {
      this.#hasSaved = true;
      this.#skip = this.#close > 0 ? Math.min(MOST_SKIPPED, 2 * this.#skip + 1) : 0;
      this.#left = this.#skip;
    } else if (this.#pause > 0) {
      this.#pause -= 1;
    } else if (this.#close >= this.#closeReads && performance.now === machineNow) {
      this.#isBurst = true;
      this.#hasSaved = false;
      this.#skip = this.#left = 1;
      this.#defer(this.#forget);
    }
  }

  readonly #forget = (): void => {
    this.#pauseLength = this.#hasSaved ? 1 : Math.min(LONGEST_PAUSE, 2 * this.#pauseLength);
    this.#pause = this.#hasSaved ? 0 : this.#pauseLength;
    this.#isBurst = false;
    this.#left = this.#skip = 0;
  };
}

/** A clock that is asked each time. */
class AskedClock implements ReadClock {
  readonly #clock: Clock;
  instant: number = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tick(): void {
    this.instant = this.#clock.monotonic();
  }
}

const inMicrotask: Defer = (callback) => Promise.resolve().then(callback);

/** Browsers have none. */
const { setImmediate } = globalThis as { readonly setImmediate?: Defer };

/** Forgets with the next microtask: what is read after an `await` is exact, but for what was waiting to run before. */
const burst: ReadClock = new BurstClock(inMicrotask, 1);

/**
 * Forgets with the turn of the event loop: for reads that are awaited one after the other, each in a microtask of its
 * own. Where there is no such hook it forgets as the other does. The hook has its price, so it takes more to try it.
 */
const chain: ReadClock =
  setImmediate === undefined ? burst : new BurstClock((callback) => setImmediate(callback), 16);

/** Clocks for fresh reads: of the machine's one for bursts, any other as it is. */
export function clocksOfReads(clock: Clock): {
  /** For reads that are done at once: exact but within one synchronous run. */
  readonly now: ReadClock;
  /** For reads that are awaited: exact but within one turn of the event loop. */
  readonly awaited: ReadClock;
} {
  const base = clock instanceof EngineClock ? clock.base : clock;
  if (base === systemClock) return { now: burst, awaited: chain };
  const asked = new AskedClock(base);
  return { now: asked, awaited: asked };
}
