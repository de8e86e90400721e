import type { Schedule } from './schedule.ts';

/**
 * Never due by itself: it executes the first time it is asked for, and after that only when it is forced
 * (`refresh`, `execute`, `invalidate`).
 *
 * It is a schedule and a function that returns this same schedule, so that `schedule: never`, as one writes a
 * constant, and `schedule: never()`, as one writes `dailyAt(…)`, mean the same. Without it, `schedule: never` would
 * pass a function that answers no number. It does not stop the first load; `pause()` does.
 */
export const never: Schedule & (() => Schedule) = Object.assign((): Schedule => never, {
  nextExecuteTime: () => Number.POSITIVE_INFINITY,
});
