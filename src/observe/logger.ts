import { showName } from '../errors.ts';
import { errorsOf, MOST_LISTED } from '../json.ts';
import { printable } from '../printable.ts';
import { systemClock } from '../time/clock.ts';
import { callUserCode } from './call-user-code.ts';

/** Errors of listeners and the like come as often as events do. */
const FAULT_EVERY_MS = 60_000;

/** The destination of log lines. `console` fits, and so do pino, winston and the like. */
export interface Logger {
  /**
   * An outage of a member or its backend: one line when it begins, at most one a minute while it lasts, one when it is over.
   * Each has the name and the cause; that of a load also the time of the next try. And one line when a pin begins or ends.
   */
  warn(line: string): void;
  /**
   * A listener or a `waitUntil` threw: one line with the name and the cause. A schedule that throws or returns an invalid
   * value is logged as an outage.
   */
  error(line: string): void;
}

/** Wraps a logger: errors of the logger are dropped, and each line begins with the name of the value or executor. */
export class SafeLogger {
  readonly #name: string;
  readonly #logger: Logger | false;
  readonly #clock: { monotonic(): number };
  /** By text. */
  #faults: Map<string, { loggedAt: number; more: number }> | undefined;

  /** @param clock for the distance of faults: not that of the user, which may be at fault. */
  constructor(name: string, logger: Logger | false, clock: { monotonic(): number } = systemClock) {
    this.#name = name;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** The same logger, for the lines of another thing. */
  as(name: string): SafeLogger {
    return new SafeLogger(name, this.#logger, this.#clock);
  }

  /**
   * Logs an error of code of the user that changes nothing, such as a listener: at most one line a minute with that text.
   *
   * @param text one of few.
   */
  fault(text: string, cause: unknown): void {
    const now = this.#clock.monotonic();
    const last = this.#faults?.get(text);
    if (last !== undefined && now - last.loggedAt < FAULT_EVERY_MS) {
      last.more += 1;
      return;
    }
    this.#faults ??= new Map();
    this.#faults.set(text, { loggedAt: now, more: 0 });
    const times =
      last === undefined || last.more === 0 ? '' : ` (${last.more + 1} times since the last line)`;
    this.error(`${text}${times}`, cause);
  }

  /** @param cause its message ends the line; `undefined`: the text is all. */
  warn(text: string, cause?: unknown): void {
    this.#write('warn', text, cause);
  }

  /** As {@link warn}. */
  error(text: string, cause?: unknown): void {
    this.#write('error', text, cause);
  }

  #write(level: keyof Logger, text: string, cause: unknown): void {
    const logger = this.#logger;
    if (logger === false) return;
    const prefix = `${showName(this.#name)}: `; // errors of tickless begin with it too
    const message = cause === undefined ? '' : messageOf(cause);
    const reason = message.startsWith(prefix) ? message.slice(prefix.length) : message;
    const line = printable(`tickless: ${prefix}${text}${reason === '' ? '' : `: ${reason}`}`);
    callUserCode(
      () => logger[level](line),
      () => {}, // there is no other place to report the error of a logger
    );
  }
}

/**
 * The message of any thrown value, followed by the messages of its causes, and of the first errors of a list of them: "fetch failed"
 * alone does not tell which connection was refused, nor "All promises were rejected" why. On one line, printable, at most 1 kB. Never
 * throws.
 */
export function messageOf(thrown: unknown): string {
  const messages: string[] = [];
  try {
    addReasons(thrown, messages, new Set());
  } catch {
    messages.push('a thrown value that cannot be read'); // a revoked proxy, a getter threw, no string form
  }
  return printable(messages.join(': '));
}

/** @param seen causes and lists can form cycles, and be huge. */
function addReasons(thrown: unknown, messages: string[], seen: Set<unknown>): void {
  for (let at = thrown; seen.size < MOST_REASONS && !seen.has(at); at = (at as Error).cause) {
    seen.add(at);
    const message = ownMessageOf(at).trim();
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
    const listed = errorsOf(at);
    if (listed.length > 0) {
      const reasons: string[] = [];
      for (const error of listed.slice(0, MOST_LISTED)) {
        const inner: string[] = [];
        addReasons(error, inner, seen);
        const reason = inner.join(': ');
        const isKnown = reasons.includes(reason) || messages.some((earlier) => earlier.includes(reason));
        if (!isKnown) reasons.push(reason);
      }
      const more = listed.length - MOST_LISTED;
      if (reasons.length > 0) messages.push(reasons.join('; ') + (more > 0 ? `; and ${more} more` : ''));
    }
    if (!(at instanceof Error) || at.cause === undefined) break;
  }
}

/** In all. */
const MOST_REASONS = 12;

/**
 * Its message without those of its causes; else its code: the error of Node for a host of several addresses that all refuse has no
 * message. Throws for what can't be read.
 */
export function ownMessageOf(thrown: unknown): string {
  const { message, code, name } = (thrown ?? {}) as Partial<Error> & { readonly code?: unknown };
  return String(message || code || (thrown instanceof Error ? name : thrown));
}
