// Stands for fast-check in the tests. Where TICKLESS_PROPERTY_RUNS is set, as `npm test` does, no property is tried more
// often: a change wants an answer soon. `npm run test:all` tries each in full.

import fc, { type Parameters } from '../../node_modules/fast-check/lib/fast-check.js';

export * from '../../node_modules/fast-check/lib/fast-check.js';

const MOST = Number(process.env.TICKLESS_PROPERTY_RUNS ?? Number.POSITIVE_INFINITY);

const capped = <T>(settings: Parameters<T> = {}): Parameters<T> => ({
  ...settings,
  numRuns: Math.min(settings.numRuns ?? 100, MOST),
});

const assert = ((property: never, settings?: Parameters<never>) =>
  fc.assert(property, capped(settings))) as typeof fc.assert;

const withCap: typeof fc = { ...fc, assert };
export default withCap;
