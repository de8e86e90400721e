import type { Schedule } from './schedule.ts';

/**
 * Never due by itself: it executes once on the first read, and after that only when forced (`refresh`, `execute`,
 * `invalidate`). To prevent the first load, use `pause()`.
 *
 * It is a schedule and also a function that returns this schedule, so that `schedule: never` and `schedule: never()`
 * mean the same. A plain function would be called as a schedule in the first form, and return no number.
 */
export const never: Schedule & (() => Schedule) = /* @__PURE__ */ Object.assign((): Schedule => never, {
  nextExecuteTime: () => Infinity,
});
