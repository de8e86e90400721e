/** The callbacks of each signal. */
const callbacksOf: WeakMap<AbortSignal, Set<() => void>> = new WeakMap();

/**
 * Calls `callback` when a signal is aborted. A signal has one listener, however many callbacks it has: a program that
 * passes one to the reads of a thousand keys is not warned of a leak.
 *
 * @returns the function that forgets the callback. The last one to be forgotten removes the listener.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = callbacksOf.get(signal);
  if (callbacks === undefined) {
    callbacks = new Set();
    callbacksOf.set(signal, callbacks);
    signal.addEventListener('abort', callAll);
  }
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0 || callbacksOf.get(signal) !== callbacks) return;
    callbacksOf.delete(signal);
    signal.removeEventListener('abort', callAll);
  };
}

/**
 * Rejects with the reason of the signal if that is aborted first; the promise goes on. The body of a `fetch` needs it: on
 * Node 20 a garbage collection can part the body from the signal that the request was given.
 */
export function unlessAborted<R>(promise: PromiseLike<R>, signal: AbortSignal): Promise<R> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    Promise.resolve(promise).then(resolve, reject).finally(forget);
    if (signal.aborted) reject(signal.reason);
  });
}

function callAll(event: Event): void {
  const signal = event.target as AbortSignal;
  const callbacks = callbacksOf.get(signal);
  callbacksOf.delete(signal);
  signal.removeEventListener('abort', callAll);
  for (const callback of callbacks ?? []) callback(); // not those that one before has made forget
}
