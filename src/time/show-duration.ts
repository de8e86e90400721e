const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/**
 * A duration for people: `850 ms`, `1.5 s`, `4 min 12 s`, `6 h`, `2 d 3 h`. Two units at most, rounded.
 *
 * @param ms milliseconds from 0; `Infinity` is shown as `ever`, NaN and negative numbers as they are.
 */
export function showDuration(ms: number): string {
  if (ms === Infinity) return 'ever';
  if (!(ms > 999)) return `${Math.ceil(ms)} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  const index = UNITS.findIndex(([, unitMs]) => Math.round(ms / 1000) * 1000 >= unitMs);
  const [unit, unitMs] = UNITS[index] as (typeof UNITS)[number];
  const [smaller, smallerMs] = UNITS[index + 1] ?? UNITS[3];
  const rounded = Math.round(ms / smallerMs) * smallerMs;
  const [greater, greaterMs] = UNITS[index - 1] ?? ['', NaN];
  if (rounded === greaterMs) return `1 ${greater}`;
  const count = Math.floor(rounded / unitMs);
  const rest = (rounded - count * unitMs) / smallerMs;
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${smaller}`;
}
