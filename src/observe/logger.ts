import { callUserCode } from './call-user-code.ts';

/** Where tickless writes its few lines. `console` fits, and so do pino, winston and the like. */
export interface Logger {
  /** A background load failed: one line with the name, the attempt, the cause and when it will be tried again. */
  warn(line: string): void;
  /** A listener, a schedule or a `waitUntil` of yours misbehaved: one line with the name and the cause. */
  error(line: string): void;
}

/** A logger that can't harm its caller, with the name of the value or executor put before each line. */
export class SafeLogger {
  readonly #name: string;
  readonly #logger: Logger | false;

  constructor(name: string, logger: Logger | false) {
    this.#name = name;
    this.#logger = logger;
  }

  warn(text: string, cause: unknown): void {
    this.#write('warn', text, cause);
  }

  error(text: string, cause: unknown): void {
    this.#write('error', text, cause);
  }

  #write(level: keyof Logger, text: string, cause: unknown): void {
    const logger = this.#logger;
    if (logger === false) return;
    const prefix = `${this.#name}: `; // which an error of ours has too
    const message = messageOf(cause);
    const why = message.startsWith(prefix) ? message.slice(prefix.length) : message;
    const line = oneLine(`tickless: ${prefix}${text}: ${why}`);
    // A logger that throws has nobody left to tell.
    callUserCode(
      () => logger[level](line),
      () => {},
    );
  }
}

/**
 * The message of anything that can be thrown, followed by those of its causes: "fetch failed" alone tells nobody
 * which connection was refused. Never throws.
 */
export function messageOf(thrown: unknown): string {
  const messages: string[] = [];
  try {
    for (let at = thrown, depth = 0; depth < MOST_CAUSES; at = (at as Error).cause, depth++) {
      const message = ownMessageOf(at);
      if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
      if (!(at instanceof Error) || at.cause === undefined) break;
    }
  } catch {
    messages.push('a thrown value that can not be read'); // a revoked proxy, a getter that throws, no string form
  }
  return messages.join(': ');
}

/** Causes can run in a circle. */
const MOST_CAUSES = 8;

function ownMessageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return String(thrown.message || ((thrown as { code?: unknown }).code ?? thrown.name));
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ');
}
