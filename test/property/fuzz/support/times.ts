/** Shorter times are noise, such as a garbage collection. */
const LEAST_MS = 10;
const TRIES = 3;

/**
 * How much more processor time the second action takes than the first, by the shortest of a few times each: to tell a time
 * that grows with the square of the size from one that grows with the size. Time on the clock would count what other
 * processes take.
 */
export async function ratioOfTimes(small: () => unknown, large: () => unknown): Promise<number> {
  let [short, long, ratio] = [Infinity, Infinity, Infinity];
  // A busy machine may lengthen all tries of one, by its caches; in turns, and again while it looks so, not all of them.
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
    const begun = process.cpuUsage();
    await action();
    const { user, system } = process.cpuUsage(begun);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
