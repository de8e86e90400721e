/** What became of a promise, without waiting for it longer than all that is ready to run. */
export async function settled<T>(
  promise: Promise<T>,
): Promise<'pending' | { value: T } | { error: unknown }> {
  const pending = new Promise<'pending'>((resolve) => setImmediate(() => resolve('pending')));
  return Promise.race([
    promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
    pending,
  ]);
}

/** The error that an action throws. Fails when it throws none. */
export function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** The error that a promise rejects with. Fails when it resolves. @typeParam E what is expected of it */
export async function rejectionOf<E = unknown>(promise: Promise<unknown>): Promise<E> {
  return promise.then(
    (value) => {
      throw new Error(`resolved with ${String(value)}`);
    },
    (error: unknown) => error as E,
  );
}
