import type { Quarter, Sample } from './samples.ts';

/** Something that has to hold. */
export interface Check {
  readonly label: string;
  readonly isOk: boolean;
  /** What was seen, and what is allowed. */
  readonly value: string;
  readonly bound: string;
}

/** What came of a part of the soak. */
export interface Verdict {
  readonly part: 'virtual' | 'real';
  readonly samples: readonly Sample[];
  readonly quarters: readonly Quarter[];
  readonly checks: readonly Check[];
  /** What people may want to know besides. */
  readonly notes: readonly string[];
}

/** By how much the heap may grow from the first quarter to the last. */
export const MOST_GROWTH: number = 0.05;
/**
 * How many objects of a kind there are differs by what is under way. A leak makes four times as many, and more. One of a
 * few objects is for other checks to see: while nobody reads, and after the end.
 */
const MOST_TIMES = 2;
const ALWAYS_ALLOWED = 20;

/**
 * Whether what there is has stayed about the same from the first quarter to the last.
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

/** Nothing of it is left. */
export function none(label: string, left: number | readonly unknown[]): Check {
  const isCount = typeof left === 'number';
  const value = isCount ? `${left}` : left.length === 0 ? '0' : left.map(String).join(', ');
  return { label, isOk: isCount ? left === 0 : left.length === 0, value, bound: '0' };
}

/** It has happened often enough for the soak to say something. */
export function atLeast(label: string, count: number, least: number): Check {
  return { label, isOk: count >= least, value: `${count}`, bound: `at least ${least}` };
}

/** What is there now beside what was there before. */
export function added(before: readonly string[], after: readonly string[]): string[] {
  const left = [...after];
  for (const resource of before) {
    const index = left.indexOf(resource);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}
