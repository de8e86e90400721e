/** Shorter times are noise: a garbage collection, another process. */
const LEAST_MS = 10;
const TRIES = 3;

/**
 * How much longer the second action takes than the first, by the shortest of a few times each: to tell a time that
 * grows with the square of the size from one that grows with the size.
 */
export async function ratioOfTimes(small: () => unknown, large: () => unknown): Promise<number> {
  let [short, long, ratio] = [Infinity, Infinity, Infinity];
  // A busy machine may lengthen all tries of one; in turns, and again while it looks so, it lengthens not all of them.
  for (let round = 0; round < 5 && !(ratio < 20); round++) {
    short = Math.min(short, await shortest(small));
    long = Math.min(long, await shortest(large));
    ratio = Math.max(long, LEAST_MS) / Math.max(short, LEAST_MS);
  }
  return ratio;
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
