import { alongCauses } from './retry-after.ts';

const spans: WeakMap<object, number> = new WeakMap();

/** The load of this failure may succeed that many milliseconds later, whatever else has failed: no cool-down is longer. */
export function retryWithin<E extends object>(error: E, ms: number): E {
  if (ms < Infinity) spans.set(error, ms);
  return error;
}

/** As {@link retryWithin} says of the error, or of one of its `cause`s; `Infinity`: nothing. Never throws. */
export function retryWithinMs(error: unknown): number {
  return alongCauses(error, (at) => spans.get(at)) ?? Infinity;
}
