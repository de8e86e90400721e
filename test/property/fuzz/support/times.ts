/** Shorter times are noise: a garbage collection, another process. */
const LEAST_MS = 10;
const TRIES = 3;

/**
 * How much longer the second action takes than the first, by the shortest of a few times each: to tell a time that
 * grows with the square of the size from one that grows with the size.
 */
export async function ratioOfTimes(small: () => unknown, large: () => unknown): Promise<number> {
  const [short, long] = [await shortest(small), await shortest(large)];
  return Math.max(long, LEAST_MS) / Math.max(short, LEAST_MS);
}

async function shortest(action: () => unknown): Promise<number> {
  let least = Infinity;
  for (let left = TRIES; left > 0; left--) {
    const begun = performance.now();
    await action();
    least = Math.min(least, performance.now() - begun);
  }
  return least;
}
