import type { ExecutionOutcome, ExecutionRecord } from '../data/execution-record.ts';
import { failureText } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { wholeWords } from '../whole-words.ts';
import { messageOf } from './logger.ts';

/** How many executions are kept. */
const MOST = 20;

/** How many that failed before these are kept too: in a minute of loads once a second the trouble would be forgotten. */
const MOST_EARLIER = 10;

/** In characters. */
const LONGEST_ERROR = 500;

/** Executions without an end of their own: another instance is loading, or it has ended before. */
const LEFT_OUT: readonly ExecutionOutcome[] = ['deferred', 'late'];

const FAILURES: readonly ExecutionOutcome[] = ['failed', 'refused', 'timed-out'];

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
  readonly #last: ExecutionRecord[] = [];
  #place = 0;
  /** Those that failed before the last ones, oldest first. */
  #earlier: readonly ExecutionRecord[] = [];
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
    return [...this.#earlier, ...older, ...newer].reverse();
  }

  /** How long ago the last one failed, in milliseconds; `Infinity`: none has. */
  get failedAgo(): number {
    return this.#clock.monotonic() - this.#failedAt;
  }

  add(ended: ExecutionRecord<Error>): void {
    if (LEFT_OUT.includes(ended.outcome)) return;
    const record = withTexts(ended);
    if (isFailure(record)) this.#failedAt = this.#clock.monotonic();
    const left = this.#last[this.#place];
    if (left !== undefined && isFailure(left))
      this.#earlier = [...this.#earlier.slice(1 - MOST_EARLIER), left];
    this.#last[this.#place] = record;
    this.#place = (this.#place + 1) % MOST;
    this.onEnd?.(record);
  }
}

/** The same record where it has no errors: most have none. */
function withTexts(ended: ExecutionRecord<Error>): ExecutionRecord {
  const { error, tries } = ended;
  if (error === undefined && tries.length === 0) return ended as unknown as ExecutionRecord;
  return {
    ...ended,
    error: error && copyOf(failureText(error)),
    tries: tries.map(({ error, pause }) => ({ error: copyOf(messageOf(error)), pause })),
  };
}

/** A copy: a part of a text may hold on to all of it, such as the body of a response. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(wholeWords(text, LONGEST_ERROR)));
}

function isFailure({ outcome }: ExecutionRecord): boolean {
  return FAILURES.includes(outcome);
}
