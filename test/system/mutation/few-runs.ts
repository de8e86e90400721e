// fast-check, with a fixed seed and few runs: stands for it in mutation testing, where a property is checked thousands
// of times. A mutant must not be killed in one run and survive the next.

import fc, { type Parameters as Settings } from '../../../node_modules/fast-check/lib/fast-check.js';

export * from '../../../node_modules/fast-check/lib/fast-check.js';

const RUNS = 50;

const few = <T>(settings: Settings<T> = {}): Settings<T> => ({
  ...settings,
  seed: 20_260_101,
  numRuns: Math.min(settings.numRuns ?? RUNS, RUNS),
  // The counterexample is not looked at.
  endOnFailure: true,
});

export default {
  ...fc,
  assert: ((property: never, settings?: Settings<never>) =>
    fc.assert(property, few(settings))) as typeof fc.assert,
} satisfies typeof fc;
