/** A length of time in named units, added up. At least one unit; each a number, fractions allowed. */
export interface DurationObject {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  readonly milliseconds?: number;
}

/**
 * A length of time: a number of milliseconds, an object of units (`{ minutes: 10 }`), or anything that has a
 * `toMillis()` method, such as luxon's `Duration`. A day is 24 hours. `Infinity` stands for "no limit" or "never"
 * where an option says so.
 */
export type DurationLike = number | DurationObject | { toMillis(): number };

const MILLISECONDS_IN = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
} as const;

/**
 * The duration in milliseconds, or `NaN` for anything that is not a duration: not a number, an object without a unit or
 * with an unknown one. Never throws.
 */
export function toMillis(duration: DurationLike): number {
  if (typeof duration === 'number') return duration;
  if (typeof duration !== 'object' || duration === null) return Number.NaN;
  try {
    if ('toMillis' in duration) return asNumber(duration.toMillis());
    const parts = Object.entries(duration).filter(([, count]) => count !== undefined);
    if (parts.length === 0) return Number.NaN;
    return parts.reduce(
      (sum, [unit, count]) =>
        sum + asNumber(count) * (MILLISECONDS_IN[unit as keyof typeof MILLISECONDS_IN] ?? Number.NaN),
      0,
    );
  } catch {
    return Number.NaN; // a getter or toMillis() of the caller threw
  }
}

function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}
