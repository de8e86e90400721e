const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/**
 * A duration for people: `850 ms`, `1.5 s`, `4 min 12 s`, `6 h`, `2 d 3 h`. Two units at most, rounded.
 *
 * @param ms milliseconds from 0; `Infinity` is shown as `ever`, what is not a duration as it is.
 */
export function showDuration(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return 'ever';
  if (!(ms >= 0)) return `${ms} ms`; // not a duration
  if (ms < 1000) return `${Math.ceil(ms)} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1000) * 1000;
  const index = UNITS.findIndex(([, unitMs]) => seconds >= unitMs);
  const [unit, unitMs] = UNITS[index] as (typeof UNITS)[number];
  const smaller = UNITS[index + 1];
  const count = Math.floor(seconds / unitMs);
  if (smaller === undefined) return `${count} ${unit}`;
  const rest = Math.round((seconds - count * unitMs) / smaller[1]);
  if (rest * smaller[1] === unitMs) return `${count + 1} ${unit}`;
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${smaller[0]}`;
}
