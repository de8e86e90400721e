import { parse } from '@lukeed/ms';
import { methodOf } from '../plain-object.ts';
import { ignoreThenable } from './deferred.ts';

/** A length of time in named units, added up. At least one unit; each a number, fractions allowed. */
export interface DurationObject {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  readonly milliseconds?: number;
}

/**
 * A length of time: a number of milliseconds, a text (`'10m'`, `'1h30m'`, `'1.5 hours'`), an object of units
 * (`{ minutes: 10 }`), or anything that has a `toMillis()` method, such as luxon's `Duration`. A day is 24 hours. `Infinity`
 * stands for "no limit" or "never" where an option says so.
 *
 * A text has numbers with units, which are added up: `ms`, `s`, `m`, `h`, `d`, `w`, `y`, in lower or upper case, or their
 * names (`seconds`, `sec`). A number without a unit is refused, so that a text from the environment is not taken for
 * milliseconds by mistake, and so is one with a sign or a comma.
 */
export type DurationLike = number | string | DurationObject | { toMillis(): number };

const MILLISECONDS_IN = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
} as const;

/**
 * The duration in milliseconds, or `NaN` for anything that is not a duration: not a number, a text or an object without a
 * unit or with an unknown one. Never throws.
 */
export function toMillis(duration: DurationLike): number {
  if (typeof duration === 'number') return duration;
  if (typeof duration === 'string') return parsed(duration);
  if (typeof duration !== 'object' || duration === null) return NaN;
  try {
    const toMillisOf = methodOf(duration as { readonly toMillis?: () => unknown }, 'toMillis');
    if (toMillisOf !== undefined) return asNumber(ignoreThenable(toMillisOf.call(duration)));
    const parts = Object.entries(duration).filter(([, count]) => count !== undefined);
    if (parts.length === 0) return NaN;
    return parts.reduce(
      (sum, [unit, count]) =>
        sum + asNumber(count) * (MILLISECONDS_IN[unit as keyof typeof MILLISECONDS_IN] ?? NaN),
      0,
    );
  } catch {
    return NaN; // a getter or toMillis() of the caller threw
  }
}

const PART = /\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gi;

/** Of a text that is a duration: the pattern looks at each blank of a longer one again and again. */
const LONGEST_TEXT = 200;

function parsed(text: string): number {
  if (text.length > LONGEST_TEXT) return NaN;
  let sum = 0;
  const rest = text.replace(PART, (_, count: string, unit: string) => {
    sum += Number(count) * (parse(`1${unit}`) ?? NaN);
    return '';
  });
  return rest === '' && text !== '' ? sum : NaN;
}

function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : NaN;
}
