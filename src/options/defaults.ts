import type { WhenFailing, WhenTooStale } from '../engine/decide.ts';
import type { DurationLike } from '../time/duration.ts';

/** All defaults that are not `undefined`; durations in milliseconds unless they are objects. Frozen. */
export const defaults: {
  readonly schedule: DurationLike;
  readonly retry: {
    readonly retries: number;
    readonly minTimeout: number;
    readonly factor: number;
    readonly randomize: boolean;
  };
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly timeout: number;
  readonly propagateWithin: number;
  readonly maxStaleness: number;
  readonly whenTooStale: WhenTooStale;
  readonly whenFailing: WhenFailing;
  readonly closeTimeout: number;
  readonly max: number;
  readonly batchSize: number;
  readonly absentFor: number;
  readonly concurrency: number;
  readonly readyTimeout: number;
  readonly keepRuns: number;
} = /* @__PURE__ */ Object.freeze({
  schedule: /* @__PURE__ */ Object.freeze({ minutes: 10 }),
  retry: /* @__PURE__ */ Object.freeze({ retries: 2, minTimeout: 250, factor: 2, randomize: true }),
  coolDown: /* @__PURE__ */ Object.freeze({ initial: 1000, factor: 2, max: 120_000 }),
  timeout: 30_000,
  propagateWithin: 10_000,
  maxStaleness: Infinity,
  whenTooStale: 'wait',
  whenFailing: 'serve',
  closeTimeout: 10_000,
  max: 10_000,
  batchSize: Infinity,
  absentFor: 60_000,
  concurrency: 1000,
  readyTimeout: 30_000,
  keepRuns: 20,
});
