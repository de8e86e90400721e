import type { ExecutionRecord } from '../data/execution-record.ts';
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

/**
 * The last 20 executions of a member, and the last 10 that failed before these; of a cache those of all its keys together. For people
 * who come after the trouble. It costs a read nothing, an execution an object of 150 bytes, and a member 3 kB, where all have failed 6 kB with their
 * errors.
 */
export class ExecutionLog {
  /** Hears of each. */
  onEnd: ((record: ExecutionRecord) => void) | undefined = undefined;
  readonly now: () => number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The last ones. Once there are 20, each new one takes the place of the oldest. `undefined`: none has ended. */
  #last: ExecutionRecord[] | undefined = undefined;
  #ended = 0;
  /** Those that failed before the last ones, oldest first. */
  #earlier: readonly ExecutionRecord[] = [];
  /** By the monotonic clock. */
  #failedAt: number = Number.NEGATIVE_INFINITY;

  /** @param now the wall clock. */
  constructor(now: () => number, clock: Pick<Clock, 'monotonic'>) {
    this.now = now;
    this.#clock = clock;
  }

  /** Newest first. */
  get newest(): ExecutionRecord[] {
    const last = this.#last ?? [];
    const oldest = this.#ended % MOST;
    return [...this.#earlier, ...last.slice(oldest), ...last.slice(0, oldest)].reverse();
  }

  /** How long ago the last one failed, in milliseconds; `Infinity`: none has. */
  get failedAgo(): number {
    return this.#clock.monotonic() - this.#failedAt;
  }

  /**
   * An execution has ended. One that was deferred to another instance, or that another one follows, is none for people.
   *
   * @param took in milliseconds.
   */
  ended(
    { outcome, attempts, token, error }: ExecutionEnd,
    { trigger, key }: LoadDetails,
    took: number,
  ): void {
    if (outcome === 'deferred' || outcome === 'again') return;
    const text = error && textOf(error);
    const record = { at: this.now() - took, took, trigger, outcome, attempts, error: text, token, key };
    if (isFailure(record)) this.#failedAt = this.#clock.monotonic();
    this.#add(record);
    this.onEnd?.(record);
  }

  #add(record: ExecutionRecord): void {
    this.#last ??= [];
    const place = this.#ended % MOST;
    const left = this.#last[place];
    if (left !== undefined && isFailure(left))
      this.#earlier = [...this.#earlier.slice(1 - MOST_EARLIER), left];
    this.#last[place] = record;
    this.#ended += 1;
  }
}

/** A copy: a part of a text may hold on to all of it, such as the body of a response. */
function textOf(error: Error): string {
  return JSON.parse(JSON.stringify(wholeWords(failureText(error), LONGEST_ERROR)));
}

function isFailure({ outcome }: ExecutionRecord): boolean {
  return outcome === 'failed' || outcome === 'timed-out';
}
