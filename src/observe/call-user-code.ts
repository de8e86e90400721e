/**
 * Calls user code whose failure must not affect the caller: a listener, a logger, a platform's `waitUntil`. An error that
 * it throws, or rejects with, goes to `onError`.
 */
export function callUserCode(callback: () => unknown, onError: (error: unknown) => void): void {
  try {
    const result = callback() as PromiseLike<unknown> | undefined;
    if (typeof result?.then === 'function') Promise.resolve(result).then(undefined, onError);
  } catch (error) {
    onError(error);
  }
}
