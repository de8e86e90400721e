import type { Quarter, Sample } from './samples.ts';

/** A condition that must hold. */
export interface Check {
  readonly label: string;
  readonly isOk: boolean;
  /** The measured value, and the bound. */
  readonly value: string;
  readonly bound: string;
}

/** The result of a part of the soak. */
export interface Verdict {
  readonly part: 'virtual' | 'real';
  readonly samples: readonly Sample[];
  readonly quarters: readonly Quarter[];
  readonly checks: readonly Check[];
  /** Further details for the report. */
  readonly notes: readonly string[];
}

/** The allowed growth of the heap from the first quarter to the last. */
export const MOST_GROWTH: number = 0.05;
/**
 * The number of objects of a kind varies with the pending work. A leak makes four times as many or more. A leak of a
 * few objects is found by other checks: during pauses without reads, and after the end.
 */
const MOST_TIMES = 2;
const ALWAYS_ALLOWED = 20;

/**
 * Whether heap and live objects have stayed about the same from the first quarter to the last.
 *
 * @param mostGrowth of the heap. In a run of minutes caches still fill and code is still compiled.
 */
export function flatness(quarters: readonly Quarter[], mostGrowth: number = MOST_GROWTH): Check[] {
  const [first, last] = [quarters[0] as Quarter, quarters.at(-1) as Quarter];
  const growth = last.heap / first.heap - 1;
  const heap: Check = {
    label: 'heap, from the first quarter to the last',
    isOk: growth < mostGrowth,
    value: `${growth < 0 ? '' : '+'}${(100 * growth).toFixed(1)} %`,
    bound: `below +${100 * mostGrowth} %`,
  };
  const kinds = Object.keys(last.live).map((kind): Check => {
    const [before, after] = [first.live[kind] ?? 0, last.live[kind] ?? 0];
    const most = MOST_TIMES * before + ALWAYS_ALLOWED;
    return {
      label: `live ${kind}, from the first quarter to the last`,
      isOk: after <= most,
      value: `${Math.round(before)} to ${Math.round(after)}`,
      bound: `at most ${Math.round(most)}`,
    };
  });
  return [heap, ...kinds];
}

/** Checks that nothing is left. */
export function none(label: string, left: number | readonly unknown[]): Check {
  const isCount = typeof left === 'number';
  const value = isCount ? `${left}` : left.length === 0 ? '0' : left.map(String).join(', ');
  return { label, isOk: isCount ? left === 0 : left.length === 0, value, bound: '0' };
}

/** Checks that an event has happened often enough to be significant. */
export function atLeast(label: string, count: number, least: number): Check {
  return { label, isOk: count >= least, value: `${count}`, bound: `at least ${least}` };
}

/** The elements that were added since. */
export function added(before: readonly string[], after: readonly string[]): string[] {
  const left = [...after];
  for (const resource of before) {
    const index = left.indexOf(resource);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}
