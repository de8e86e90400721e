import type { SafeLogger } from './logger.ts';

/**
 * Calls code of others that must harm nobody: a listener, a logger, a platform's `waitUntil`. What it throws goes to
 * `tell`; so does what it rejects with, if it is asynchronous.
 */
export function callUserCode(callback: () => unknown, tell: (error: unknown) => void): void {
  try {
    const result = callback() as PromiseLike<unknown> | undefined;
    if (typeof result?.then === 'function') Promise.resolve(result).then(undefined, tell);
  } catch (error) {
    tell(error);
  }
}

/** Hands a promise to a platform's `waitUntil`. What that throws is told to the logger. */
export function handOver(
  waitUntil: (promise: Promise<unknown>) => unknown,
  promise: Promise<unknown>,
  logger: SafeLogger,
): void {
  callUserCode(
    () => waitUntil(promise),
    (error) => logger.error('waitUntil threw', error),
  );
}
