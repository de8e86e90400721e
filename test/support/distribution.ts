/** Numbers from 0 to below 1 that are the same in each run: mulberry32, of a period of 2³² and good enough for KS. */
export function seeded(seed: number = 1): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * How far samples are from a distribution: the Kolmogorov–Smirnov distance times the root of their number. Of true
 * samples one set in a thousand is over 1.95, one in a hundred over 1.63.
 *
 * @param below the share of the distribution that is at most a number.
 */
export function misfit(samples: readonly number[], below: (number: number) => number): number {
  const count = samples.length;
  const distances = samples
    .toSorted((one, other) => one - other)
    .flatMap((sample, index) => [below(sample) - index / count, (index + 1) / count - below(sample)]);
  return distances.reduce((most, distance) => Math.max(most, distance), 0) * Math.sqrt(count);
}

/** What {@link misfit} stays below for a distribution that is right, whatever the seed. */
export const FITS = 1.95;

export function uniform(from: number, to: number): (number: number) => number {
  return (number) => Math.min(1, Math.max(0, (number - from) / (to - from)));
}

export function exponential(mean: number): (number: number) => number {
  return (number) => 1 - Math.exp(-Math.max(0, number) / mean);
}
