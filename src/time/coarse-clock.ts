import { ServerClock } from '../cluster/server-clock.ts';
import { type Clock, systemClock } from './clock.ts';
import { onNextTurn } from './on-next-turn.ts';

/** Reads that are closer together than this, in milliseconds, on average, are taken for a burst. */
const BURST_GAP_MS = 0.005;

/** After attempts that saved nothing, so many reads pass at most until the next. */
const LONGEST_PAUSE = 1024;

/** The machine's own: a test kit puts an object of its own in the place of `performance`, before this is read or after. */
const machineNow: (() => number) | undefined = Object.hasOwn(performance, 'now')
  ? undefined
  : performance.now;

/** Test kits replace it together with the clock. */
const machineSetTimeout = setTimeout;

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

interface BurstPlan {
  /** So many reads close together are a burst. */
  readonly closeReads: number;
  /** At most so many reads in a row are answered with the same instant. */
  readonly mostSkipped: number;
  /** Has something called once what a burst may last for is over. `false`: it can't. */
  readonly afterwards: (callback: () => void) => boolean;
}

/**
 * The machine's monotonic clock for bursts of reads: to ask it costs some 40 ns, more than all else that a fresh read
 * does.
 *
 * So while reads come close together, an instant is kept for a growing number of reads, and no longer than until it is
 * forgotten afterwards. No timer is left behind. Where nothing is saved by that, it is tried ever less often.
 */
class BurstClock implements ReadClock {
  instant: number = Number.NEGATIVE_INFINITY;
  readonly #plan: BurstPlan;
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

  constructor(plan: BurstPlan) {
    this.#plan = plan;
  }

  tick(): void {
    // A global function costs nothing to look at, `performance` itself would.
    if (this.#left === 0 || setTimeout !== machineSetTimeout) this.#look();
    else this.#left -= 1;
  }

  #look(): void {
    const instant = performance.now();
    const isClose = instant - this.instant < BURST_GAP_MS * (this.#skip + 1);
    this.instant = instant;
    this.#close = isClose && setTimeout === machineSetTimeout ? this.#close + 1 : 0;
    if (this.#isBurst) {
      this.#hasSaved = true;
      this.#skip = this.#close > 0 ? Math.min(this.#plan.mostSkipped, 2 * this.#skip + 1) : 0;
      this.#left = this.#skip;
    } else if (this.#pause > 0) {
      this.#pause -= 1;
    } else if (this.#close >= this.#plan.closeReads) {
      this.#begin();
    }
  }

  #begin(): void {
    this.#hasSaved = false;
    this.#isBurst = performance.now === machineNow && this.#plan.afterwards(this.#forget);
    if (this.#isBurst) this.#skip = this.#left = 1;
    else this.#forget();
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

/** Forgets with the next microtask: what is read after an `await` is exact, but for what was waiting to run before. */
const burst: ReadClock = new BurstClock({
  closeReads: 1,
  mostSkipped: 1024,
  afterwards: (callback) => {
    Promise.resolve().then(callback);
    return true;
  },
});

/**
 * Forgets with the turn of the event loop: for reads that are awaited one after the other, each in a microtask of its
 * own. The hook has its price, so it takes more to try it. Where there is none they all look at the clock.
 */
const chain: ReadClock = new BurstClock({ closeReads: 16, mostSkipped: 512, afterwards: onNextTurn });

/** Clocks for fresh reads: of the machine's one for bursts, any other as it is. */
export function clocksOfReads(clock: Clock): {
  /** For reads that are done at once: exact but within one synchronous run. */
  readonly now: ReadClock;
  /** For reads that are awaited: exact but within one turn of the event loop. */
  readonly awaited: ReadClock;
} {
  const base = clock instanceof ServerClock ? clock.base : clock;
  if (base === systemClock) return { now: burst, awaited: chain };
  const asked = new AskedClock(base);
  return { now: asked, awaited: asked };
}
