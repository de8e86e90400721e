import { firstFew } from '../printable.ts';

/** A part of a load that is under way. */
interface Step {
  /** For people. */
  readonly text: () => string;
  /** The signal of what goes on inside; `undefined`: nothing is known of that. */
  readonly inner: AbortSignal | undefined;
}

/** The steps under way, by the signal of what they are a part of. */
const stepsOf: WeakMap<AbortSignal, Set<Step>> = new WeakMap();

/** This many are named, of those that are under way at a time. */
const MOST_NAMED = 3;

/**
 * Does a part of the work that has a signal. Until it has settled, {@link waitedFor} names it: the error of a time-out then says what
 * has hung. Rejects as the work does.
 *
 * @param inner the signal of its own parts, another one.
 */
export async function whileWaiting<R>(
  signal: AbortSignal,
  text: () => string,
  work: () => R | PromiseLike<R>,
  inner?: AbortSignal,
): Promise<R> {
  const step = { text, inner };
  const steps = stepsOf.get(signal) ?? new Set();
  stepsOf.set(signal, steps.add(step));
  try {
    return await work();
  } finally {
    steps.delete(step);
  }
}

/** The parts under way of the work with that signal, each with its own: `source 2: prices.json`. `undefined`: none is known. */
export function waitedFor(signal: AbortSignal | undefined): string | undefined {
  const steps = [...((signal && stepsOf.get(signal)) ?? [])];
  if (steps.length === 0) return undefined;
  return firstFew(steps, MOST_NAMED, ({ text, inner }) => {
    const within = waitedFor(inner);
    return within === undefined ? text() : `${text()}: ${within}`;
  });
}
