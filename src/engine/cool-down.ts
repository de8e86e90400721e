/** How long to wait after a failed execution. All durations in milliseconds. */
export interface CoolDown {
  /** The span after the first failure. */
  readonly initialMs: number;
  /** Each further failure in a row multiplies the span by this. */
  readonly factor: number;
  /** The span never grows beyond this. */
  readonly maxMs: number;
  /** `maxMs` is a default: a shorter time between two executions takes its place. */
  readonly isMaxDefault: boolean;
}

/** A cool-down that has begun. */
export interface CoolingDown {
  /** Epoch milliseconds. */
  readonly until: number;
  /** Milliseconds. */
  readonly delay: number;
  readonly error: Error;
}

/** No cool-down is capped below this by default. */
const SHORTEST_CAP_MS = 1000;

/**
 * Where the cap is a default, no cool-down is longer than the time between two executions, so that a value is fresh again
 * within one period of the end of an outage.
 *
 * @param periodMs that time; `NaN` where it is not known.
 */
export function cappedByPeriod(coolDown: CoolDown, periodMs: number): CoolDown {
  const { initialMs, maxMs, isMaxDefault } = coolDown;
  const cap = Math.max(periodMs, initialMs, SHORTEST_CAP_MS);
  return isMaxDefault && cap < maxMs ? { ...coolDown, maxMs: cap } : coolDown;
}

/**
 * The cool-down after a number of failures in a row, in milliseconds: `initial · factor^(failures − 1)`, capped at
 * `max`, then a random point between half and all of it ("equal jitter", Brooker, Exponential Backoff And Jitter,
 * 2015), so that it is never nothing and instances do not come back in step.
 *
 * @param failures failures in a row, 1 or more.
 * @param random a number from 0 to below 1.
 */
export function coolDownMs(coolDown: CoolDown, failures: number, random: number): number {
  const span = Math.min(coolDown.maxMs, coolDown.initialMs * coolDown.factor ** (failures - 1));
  return span / 2 + (span / 2) * random;
}
