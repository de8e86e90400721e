import { type Clock, systemClock } from './clock.ts';
import { EngineClock } from './engine-clock.ts';

/** At most so many reads in a row are answered with the same instant. */
const MOST_SKIPPED = 128;

/** Reads closer together than this, in milliseconds, are taken for a burst. */
const BURST_GAP_MS = 0.005;

/** After attempts that saved nothing, so many reads pass at most until the next. */
const LONGEST_PAUSE = 1024;

/** The machine's own: a test kit puts an object of its own in the place of `performance`, before this is read or after. */
const machineNow: (() => number) | undefined = Object.hasOwn(performance, 'now')
  ? undefined
  : performance.now;

/**
 * The machine's monotonic clock for bursts of reads: to ask it costs some 40 ns, more than all else that a fresh read
 * does.
 *
 * Within one turn of the event loop time hardly moves. So once reads come close together, an instant is kept for a
 * growing number of reads, at most {@link MOST_SKIPPED}, and no longer than until the next microtask, which forgets it.
 * What is read after an `await` is exact, but for what was waiting to run before the burst began; no timer is left
 * behind. Where turns have one read each there is nothing to save, and it is tried ever less often.
 */
class BurstClock {
  #instant: number = Number.NEGATIVE_INFINITY;
  /** So many reads are still answered with that instant. */
  #left: number = 0;
  /** So many were to be, after the last look at the clock. */
  #skip: number = 0;
  #isBurst: boolean = false;
  /** So many looks at the clock until a burst is looked for again. */
  #pause: number = 0;
  #pauseLength: number = 1;

  /** As of {@link Clock.monotonic}, or as of a moment before in the same turn of the event loop. */
  monotonic(): number {
    if (this.#left === 0) return this.#look();
    this.#left -= 1;
    return this.#instant;
  }

  #look(): number {
    const instant = performance.now();
    const gap = instant - this.#instant;
    this.#instant = instant;
    if (this.#isBurst) {
      this.#skip = Math.min(MOST_SKIPPED, 2 * this.#skip);
      this.#left = this.#skip;
    } else if (this.#pause > 0) {
      this.#pause -= 1;
    } else if (gap < BURST_GAP_MS && performance.now === machineNow) {
      this.#isBurst = true;
      this.#skip = 1;
      Promise.resolve().then(this.#forget);
    }
    return instant;
  }

  readonly #forget = (): void => {
    const hasSaved = this.#skip > 1;
    this.#pauseLength = hasSaved ? 1 : Math.min(LONGEST_PAUSE, 2 * this.#pauseLength);
    this.#pause = hasSaved ? 0 : this.#pauseLength;
    this.#isBurst = false;
    this.#left = 0;
  };
}

/** A clock for fresh reads: a {@link BurstClock} for the machine's, any other as it is. */
export function clockOfReads(clock: Clock): Pick<Clock, 'monotonic'> {
  const base = clock instanceof EngineClock ? clock.base : clock;
  return base === systemClock ? new BurstClock() : base;
}
