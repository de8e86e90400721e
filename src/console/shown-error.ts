/** Causes can form a cycle. */
const MOST_CAUSES = 4;

/** In characters. */
const LONGEST_STACK = 4000;

/** An error as operators see it. */
export interface ShownError {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ShownError;
}

/** An error with its stack and its causes. Never throws. Credentials are hidden where it is sent. */
export function shownError(error: unknown, depth: number = 0): ShownError {
  try {
    if (!(error instanceof Error)) return { name: 'thrown', message: String(error) };
    const { name, message, stack, cause, code } = error as Error & { readonly code?: unknown };
    return {
      name: String(name),
      ...(typeof code === 'string' ? { code } : {}),
      message: String(message),
      ...(typeof stack === 'string' ? { stack: stack.slice(0, LONGEST_STACK) } : {}),
      ...(cause === undefined || depth >= MOST_CAUSES ? {} : { cause: shownError(cause, depth + 1) }),
    };
  } catch {
    return { name: 'Error', message: 'an error that cannot be read' };
  }
}
