const spans: WeakMap<object, number> = new WeakMap();

/** The load of this failure may succeed that many milliseconds later, whatever else has failed: no cool-down is longer. */
export function retryWithin<E extends object>(error: E, ms: number): E {
  if (ms < Infinity) spans.set(error, ms);
  return error;
}

/** As {@link retryWithin} says of the error, or of one of its `cause`s; `Infinity`: nothing. Never throws. */
export function retryWithinMs(error: unknown): number {
  try {
    for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth++) {
      const ms = spans.get(at);
      if (ms !== undefined) return ms;
      at = (at as { readonly cause?: unknown }).cause;
    }
  } catch {
    // a getter of a user's error object has thrown
  }
  return Infinity;
}
