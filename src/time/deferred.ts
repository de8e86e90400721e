/** One for all: each promise of a load has use for it. */
const nothing = (): void => {};

/** A promise and the means to settle it (`Promise.withResolvers`, which Node 20 lacks). */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #resolve: (value: never) => void = nothing;
  #reject: (error: unknown) => void = nothing;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    ignoreRejection(this.promise);
  }

  resolve(value: T): void {
    this.#resolve(value as never);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}

/** A promise that may be dropped: its rejection reaches those that await it, and is never an unhandled rejection. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.then(undefined, nothing); // `catch` takes longer
  return promise;
}

/** The result of a call, also where it throws, as a promise that may be dropped. */
export function droppable<T>(call: () => Promise<T>): Promise<T> {
  return ignoreRejection((async () => call())());
}

/** A rejected promise that may be dropped. */
export function rejected(error: unknown): Promise<never> {
  return ignoreRejection(Promise.reject(error));
}

/** The same promise without its value; it may be dropped. */
export function voided(promise: Promise<unknown>): Promise<void> {
  return ignoreRejection(promise.then(() => {}));
}

/** Whether `await` would wait for it. Throws the error of a `then` getter that throws. */
export function isThenable(thing: unknown): thing is PromiseLike<unknown> {
  return (
    (typeof thing === 'object' || typeof thing === 'function') &&
    thing !== null &&
    typeof (thing as { then?: unknown }).then === 'function'
  );
}

/**
 * A result of user code where no promise may be: if it is one, its rejection is never an unhandled one. Never throws.
 *
 * @returns the same.
 */
export function ignoreThenable<T>(received: T): T {
  try {
    if (isThenable(received)) ignoreRejection(Promise.resolve(received));
  } catch {
    // a `then` getter that throws
  }
  return received;
}
