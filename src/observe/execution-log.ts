import type { ExecutionRecord } from '../data/execution-record.ts';
import { failureText } from '../errors.ts';
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
  /** Oldest first: those that failed before the last ones, then the last ones. `undefined`: none has ended. */
  #records: ExecutionRecord[] | undefined = undefined;
  #failedAt: number = Number.NEGATIVE_INFINITY;

  /** @param now the wall clock. */
  constructor(now: () => number) {
    this.now = now;
  }

  /** Newest first. */
  get newest(): ExecutionRecord[] {
    return (this.#records ?? []).toReversed();
  }

  /** How long ago the last one failed, in milliseconds; `Infinity`: none has. */
  get failedAgo(): number {
    return Math.max(0, this.now() - this.#failedAt);
  }

  /** An execution has ended. One that was deferred to another instance, or that another one follows, is none for people. */
  ended(
    { outcome, attempts, token, error }: ExecutionEnd,
    { trigger, key }: LoadDetails,
    took: number,
  ): void {
    if (outcome === 'deferred' || outcome === 'again') return;
    const now = this.now();
    // A copy: a part of a text may hold on to all of it, such as the body of a response.
    const text: string | undefined =
      error && JSON.parse(JSON.stringify(failureText(error).slice(0, LONGEST_ERROR)));
    const record = { at: now - took, took, trigger, outcome, attempts, error: text, token, key };
    if (isFailure(record)) this.#failedAt = now;
    this.#add(record);
    this.onEnd?.(record);
  }

  #add(record: ExecutionRecord): void {
    this.#records ??= [];
    const records = this.#records;
    records.push(record);
    const leaving = records.length - 1 - MOST;
    const left = records[leaving];
    if (left === undefined) return;
    if (!isFailure(left)) records.splice(leaving, 1);
    else if (leaving >= MOST_EARLIER) records.shift();
  }
}

function isFailure({ outcome }: ExecutionRecord): boolean {
  return outcome === 'failed' || outcome === 'timed-out';
}
