import { type Redact, shownText } from './redact.ts';

/** Causes can form a cycle. */
const MOST_CAUSES = 4;

/** In characters. */
const LONGEST_STACK = 4000;
const LONGEST_MESSAGE = 4000;

/** An error as operators see it. */
export interface ShownError {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ShownError;
}

/** An error with its stack and its causes. Without credentials. Never throws. */
export function shownError(error: unknown, redact: Redact, depth: number = 0): ShownError {
  try {
    if (!(error instanceof Error))
      return { name: 'thrown', message: shownText(String(error), LONGEST_MESSAGE, redact) };
    const { name, message, stack, cause, code } = error as Error & { readonly code?: unknown };
    return {
      name: String(name),
      ...(typeof code === 'string' ? { code } : {}),
      message: shownText(String(message), LONGEST_MESSAGE, redact),
      ...(typeof stack === 'string' ? { stack: shownText(stack, LONGEST_STACK, redact) } : {}),
      ...(cause === undefined || depth >= MOST_CAUSES ? {} : { cause: shownError(cause, redact, depth + 1) }),
    };
  } catch {
    return { name: 'Error', message: 'an error that cannot be read' };
  }
}
