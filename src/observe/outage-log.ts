import { showDuration } from '../time/show-duration.ts';
import type { Logger, SafeLogger } from './logger.ts';
import { type Failure, Outage, type OutageSummary } from './outage.ts';

/** A failure, with its text. */
export interface LoggedFailure extends Failure {
  /**
   * The line without the cause.
   *
   * @param others how many other keys have failed: ` and 99 more keys`, or empty.
   */
  readonly text: (others: string) => string;
  readonly cause: unknown;
}

/** The words of an {@link OutageLog}. */
export interface OutageWords {
  /** @default 'warn' */
  readonly level?: keyof Logger;
  /** The beginning of the last line; `undefined`: there is none. */
  readonly recovered: string | undefined;
}

/**
 * Logs the outages of one thing as `Outage` decides: one line when one begins, at most one a minute while it lasts, one when
 * it is over. The listeners of events have no part in it.
 */
export class OutageLog {
  readonly #logger: SafeLogger;
  readonly #clock: { monotonic(): number };
  readonly #words: OutageWords;
  readonly #outage: Outage;
  #pending: (() => void) | undefined;

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
    if (!this.#outage.failed(at, { ...failure, kind: kindOf(failure.cause) })) return;
    const isFirst = this.#outage.at(at).lasted === 0;
    this.#pending = () => {
      this.#pending = undefined;
      this.#logger[this.#words.level ?? 'warn'](this.#lineOf(failure, isFirst), failure.cause);
    };
    queueMicrotask(() => this.#pending?.());
  }

  succeeded(id?: unknown): void {
    if (!this.#outage.isOpen) return;
    this.#pending?.();
    const ended = this.#outage.succeeded(this.#clock.monotonic(), id);
    const { recovered, level = 'warn' } = this.#words;
    if (ended === undefined || recovered === undefined) return;
    const keys = ended.keys > 1 ? ` of up to ${ended.keys} keys` : '';
    this.#logger[level](`${recovered} ${lengthOf(ended)}${keys}`);
  }

  #lineOf({ text }: LoggedFailure, isFirst: boolean): string {
    const now = this.#outage.at(this.#clock.monotonic());
    const others = now.keys > 1 ? ` and ${now.keys - 1} more key${now.keys > 2 ? 's' : ''}` : '';
    return isFirst ? text(others) : `still failing ${lengthOf(now)}, ${text(others)}`;
  }
}

/** Causes of one kind differ in numbers only. */
function kindOf(cause: unknown): string {
  try {
    const { name, code, message } = cause as Error & { readonly code?: unknown };
    return `${name} ${String(code)} ${String(message).slice(0, 200)}`.replace(/\d+/g, '#');
  } catch {
    return typeof cause;
  }
}

/** `after 4 min 12 s and 9 failures` */
function lengthOf({ lasted, failures }: OutageSummary): string {
  return `after ${showDuration(lasted)} and ${failures} failure${failures === 1 ? '' : 's'}`;
}
