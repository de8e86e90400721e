import type { Parameters } from 'fast-check';

/** In `npm test` a property of the usual price is tried so often. */
const USUAL_RUNS = 1000;

/** `npm run fuzz -- --runs N --seed S` (scripts/fuzz.mjs) sets these, and nothing else reads them. */
const { TICKLESS_FUZZ_RUNS, TICKLESS_FUZZ_SEED } = process.env;

/** How many times as long as in `npm test`. */
const FACTOR: number = Number(TICKLESS_FUZZ_RUNS ?? USUAL_RUNS) / USUAL_RUNS;

/** What is called huge, in characters. */
export const HUGE: number = FACTOR > 1 ? 30_000_000 : 3_000_000;

/**
 * How often a property is tried, and from which seed.
 *
 * @param quick the number of runs in `npm test`; with `--runs N` it is `N / 1000` times that.
 */
export function runs<T>(quick: number = USUAL_RUNS): Parameters<T> {
  const numRuns = Math.max(1, Math.round(quick * FACTOR));
  return TICKLESS_FUZZ_SEED === undefined ? { numRuns } : { numRuns, seed: Number(TICKLESS_FUZZ_SEED) };
}
