import type { Parameters } from 'fast-check';

/** Runs of a property of ordinary cost, where no other number is given. */
const USUAL_RUNS = 1000;

/** `npm run fuzz -- --runs N --seed S` (scripts/fuzz.mjs) sets these, and nothing else reads them. */
const { TICKLESS_FUZZ_RUNS, TICKLESS_FUZZ_SEED } = process.env;

/** The factor by which `--runs` multiplies all numbers of runs. */
const FACTOR: number = Number(TICKLESS_FUZZ_RUNS ?? USUAL_RUNS) / USUAL_RUNS;

/** Length of huge texts, in characters. */
export const HUGE: number = FACTOR > 1 ? 30_000_000 : 3_000_000;

/**
 * The number of runs of a property, and its seed. `TICKLESS_PROPERTY_RUNS`, which `npm test` sets, limits the number.
 *
 * @param quick the number of runs; with `--runs N` it is `N / 1000` times that.
 */
export function runs<T>(quick: number = USUAL_RUNS): Parameters<T> {
  const numRuns = Math.max(1, Math.round(quick * FACTOR));
  return TICKLESS_FUZZ_SEED === undefined ? { numRuns } : { numRuns, seed: Number(TICKLESS_FUZZ_SEED) };
}
