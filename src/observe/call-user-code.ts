import type { SafeLogger } from './logger.ts';

/**
 * Calls code of the user whose failure must not affect the caller: a listener, a logger, a platform's `waitUntil`. An
 * error that it throws, or rejects with if it is asynchronous, is passed to `onError`.
 */
export function callUserCode(callback: () => unknown, onError: (error: unknown) => void): void {
  try {
    const result = callback() as PromiseLike<unknown> | undefined;
    if (typeof result?.then === 'function') Promise.resolve(result).then(undefined, onError);
  } catch (error) {
    onError(error);
  }
}

/** Passes a promise to a platform's `waitUntil`, and logs an error of that function. */
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
