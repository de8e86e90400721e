import type { ExecutionOutcome, ExecutionRecord } from '../data/execution-record.ts';
import { failureText } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { wholeWords } from '../whole-words.ts';
import type { LoadDetails } from './events.ts';
import type { ExecutionEnd } from './instrument.ts';

/** How many executions are kept. */
const MOST = 20;

/** How many that failed before these are kept too: in a minute of loads once a second the trouble would be forgotten. */
const MOST_EARLIER = 10;

/** In characters. */
const LONGEST_ERROR = 500;

/** An execution as it has ended. Its record for people is made when they ask: that is rare, and loads are many. */
interface Ended {
  readonly outcome: ExecutionOutcome;
  readonly attempts: number;
  readonly token: number | undefined;
  readonly text: string | undefined;
  readonly details: LoadDetails;
  /** By the monotonic clock. */
  readonly startedAt: number;
  readonly took: number;
  /** By the wall clock, once a record of it was made. */
  at: number | undefined;
}

/**
 * The last 20 executions of a member, and the last 10 that failed before these; of a cache those of all its keys together. They
 * are for people who come after the trouble. Reads leave it as it is. An execution adds an object of 150 bytes. A member has
 * 3 kB of them, or 6 kB with the errors where all have failed.
 */
export class ExecutionLog {
  /** Hears of each. */
  onEnd: ((record: ExecutionRecord) => void) | undefined = undefined;
  readonly now: () => number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The last ones. Once there are 20, each new one takes the place of the oldest. */
  readonly #last: Ended[] = [];
  #place = 0;
  /** Those that failed before the last ones, oldest first. */
  #earlier: readonly Ended[] = [];
  /** By the monotonic clock. */
  #failedAt: number = -Infinity;

  /** @param now the wall clock. */
  constructor(now: () => number, clock: Pick<Clock, 'monotonic'>) {
    this.now = now;
    this.#clock = clock;
  }

  /** Newest first. */
  get newest(): ExecutionRecord[] {
    const [newer, older] = [this.#last.slice(0, this.#place), this.#last.slice(this.#place)];
    return [...this.#earlier, ...older, ...newer].reverse().map((one) => this.#recordOf(one));
  }

  /** How long ago the last one failed, in milliseconds; `Infinity`: none has. */
  get failedAgo(): number {
    return this.#clock.monotonic() - this.#failedAt;
  }

  /**
   * An execution has ended. One that was deferred to another instance, or that another one follows, is none for people.
   *
   * @param startedAt by the monotonic clock.
   * @param took in milliseconds.
   */
  ended(end: ExecutionEnd, details: LoadDetails, startedAt: number, took: number): void {
    const { outcome, attempts, token, error } = end;
    if (outcome === 'deferred' || outcome === 'again') return;
    const text = error && textOf(error);
    const one: Ended = { outcome, attempts, token, text, details, startedAt, took, at: undefined };
    if (isFailure(one)) this.#failedAt = startedAt + took;
    this.#add(one);
    this.onEnd?.(this.#recordOf(one));
  }

  #add(one: Ended): void {
    const left = this.#last[this.#place];
    if (left !== undefined && isFailure(left))
      this.#earlier = [...this.#earlier.slice(1 - MOST_EARLIER), left];
    this.#last[this.#place] = one;
    this.#place = (this.#place + 1) % MOST;
  }

  #recordOf(one: Ended): ExecutionRecord {
    const { outcome, attempts, token, text: error, details, startedAt, took } = one;
    one.at ??= this.now() - (this.#clock.monotonic() - startedAt);
    return { at: one.at, took, trigger: details.trigger, outcome, attempts, error, token, key: details.key };
  }
}

/** A copy: a part of a text may hold on to all of it, such as the body of a response. */
function textOf(error: Error): string {
  return JSON.parse(JSON.stringify(wholeWords(failureText(error), LONGEST_ERROR)));
}

function isFailure({ outcome }: Ended): boolean {
  return outcome === 'failed' || outcome === 'timed-out';
}
