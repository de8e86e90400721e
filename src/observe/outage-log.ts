import { showDuration } from '../time/show-duration.ts';
import type { Logger, SafeLogger } from './logger.ts';
import { type Failure, Outage, type OutageSummary } from './outage.ts';

/** Whether reads are served while a thing fails. */
export interface ServedState {
  readonly isServed: boolean;
  /** The age of the value, and its limit. */
  readonly text: string;
}

/** A failure, with its text. */
export interface LoggedFailure extends Failure {
  /**
   * The line without the cause.
   *
   * @param others how many other keys have failed: ` and 99 more keys`, or empty.
   */
  readonly text: (others: string) => string;
  readonly cause: unknown;
  /** Of a thing that is read: whether reads are served now. */
  readonly state?: () => ServedState;
}

/** Reads that were refused. */
export interface LoggedRefusal extends Failure {
  /** The reason, where no load has failed. */
  readonly cause: unknown;
  readonly state: () => ServedState;
  /** Why a read was refused where others are served: `maxStaleness 5 s`. */
  readonly limit: string | undefined;
}

/** The words of an {@link OutageLog}. */
export interface OutageWords {
  /** @default 'warn' */
  readonly level?: keyof Logger;
  /** The beginning of the last line; `undefined`: there is none. */
  readonly recovered: string | undefined;
  /** The word for them. @default 'reads' */
  readonly reads?: string;
  /** The beginning of a further line. @default 'still failing' */
  readonly still?: string;
}

/**
 * Logs the outages of one thing as `Outage` decides: one line when one begins, at most one a minute while it lasts, one when
 * it is over, and one when the first read is refused. The listeners of events have no part in it.
 */
export class OutageLog {
  readonly #logger: SafeLogger;
  readonly #clock: { monotonic(): number };
  readonly #words: OutageWords;
  readonly #outage: Outage;
  #pending: (() => void) | undefined;
  /** The last failure of the present outage. */
  #last: LoggedFailure | undefined;

  /** @param outage that of a thing with several logs: the backend of many members. */
  constructor(
    logger: SafeLogger,
    clock: { monotonic(): number },
    words: OutageWords,
    outage: Outage = new Outage(),
  ) {
    this.#logger = logger;
    this.#clock = clock;
    this.#words = words;
    this.#outage = outage;
  }

  /**
   * Logs the failure if a line is due: in a microtask, when the other keys of a batch that failed as a whole have been
   * counted.
   */
  failed(failure: LoggedFailure): void {
    const at = this.#clock.monotonic();
    this.#last = failure;
    if (this.#outage.failed(at, failure)) this.#logSoon(at, failure, undefined);
  }

  /** As of `Outage`. */
  get isOpen(): boolean {
    return this.#outage.isOpen;
  }

  /** As of `Outage`. */
  get isRefusing(): boolean {
    return this.#outage.isRefusing;
  }

  /** Logs that reads are refused, if a line is due. */
  refused(refusal: LoggedRefusal, times: number): void {
    const at = this.#clock.monotonic();
    if (!this.#outage.isOpen) this.#last = undefined;
    if (this.#outage.refused(at, refusal, times)) this.#logSoon(at, this.#last, refusal);
  }

  #logSoon(at: number, failure: LoggedFailure | undefined, refusal: LoggedRefusal | undefined): void {
    const isFirst = this.#outage.at(at).lasted === 0;
    this.#pending = () => {
      this.#pending = undefined;
      const line = this.#lineOf(failure, refusal, isFirst);
      this.#logger[this.#words.level ?? 'warn'](line, (failure ?? refusal)?.cause);
    };
    queueMicrotask(() => this.#pending?.());
  }

  /** @param isByBackup its own lines say how that goes on: here only that reads are served again. */
  succeeded(id?: unknown, isByBackup: boolean = false): void {
    if (!this.#outage.isOpen) return;
    this.#pending?.();
    const ended = this.#outage.succeeded(this.#clock.monotonic(), id);
    const { level = 'warn', reads = 'reads' } = this.#words;
    const recovered = isByBackup ? 'a backup answers' : this.#words.recovered;
    if (ended === undefined || recovered === undefined || (isByBackup && ended.refused === 0)) return;
    const keys = ended.keys > 1 ? ` of up to ${ended.keys} keys` : '';
    const again = ended.refused > 0 ? `; ${reads} are served again, ${wereRefused(ended.refused)}` : '';
    this.#logger[level](`${recovered} ${lengthOf(ended)}${keys}${again}`);
  }

  #lineOf(failure: LoggedFailure | undefined, refusal: LoggedRefusal | undefined, isFirst: boolean): string {
    const at = this.#clock.monotonic();
    const now = this.#outage.at(at);
    const others = now.keys > 1 ? ` and ${now.keys - 1} more key${now.keys > 2 ? 's' : ''}` : '';
    const progress = isFirst ? '' : `${this.#words.still ?? 'still failing'} ${lengthOf(now)}, `;
    const what = failure && `${progress}${failure.text(others)}`;
    const state = (refusal ?? failure)?.state?.();
    if (state === undefined) return what ?? '';
    if (now.refused > 0 || !state.isServed) this.#outage.refusalLogged(at);
    return this.#withState(what, state, now, refusal?.limit);
  }

  #withState(
    what: string | undefined,
    { isServed, text }: ServedState,
    { refused, keys, lasted }: OutageSummary,
    limit: string | undefined,
  ): string {
    const { reads = 'reads' } = this.#words;
    const ofKeys = keys > 1 ? `, ${keys} keys` : '';
    if (isServed) {
      const limited = limit === undefined ? '' : ` (with ${limit})`;
      const some = refused === 0 ? '' : `, ${wereRefused(refused)}${limited}`;
      return `${what === undefined ? '' : `${what}; `}${reads} are served${some}, ${text}`;
    }
    const since = what === undefined && lasted >= LEAST_SHOWN_MS ? ` for ${showDuration(lasted)}` : '';
    const count = refused === 0 ? '' : ` (${refused} so far${ofKeys})`;
    return `${reads} are refused${since}${count}, ${text}${what === undefined ? '' : `; ${what}`}`;
  }
}

/** A read is refused, and another one a moment later. */
const LEAST_SHOWN_MS = 1000;

/** `after 4 min 12 s and 9 failures` */
function lengthOf({ lasted, failures }: OutageSummary): string {
  const counted = failures === 0 ? '' : ` and ${failures} failure${failures === 1 ? '' : 's'}`;
  return `after ${showDuration(lasted)}${counted}`;
}

function wereRefused(count: number): string {
  return `${count} ${count === 1 ? 'was' : 'were'} refused`;
}
