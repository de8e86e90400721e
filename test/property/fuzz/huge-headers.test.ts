import { describe, expect, it } from 'vitest';
import { expectBounded, type Reading, reading } from './support/readings.ts';
import { HUGE } from './support/runs.ts';
import { ratioOfTimes } from './support/times.ts';

describe('headers of a megabyte', () => {
  const shapes: Record<string, (size: number) => string> = {
    commas: (size) => ','.repeat(size),
    blanks: (size) => ' '.repeat(size),
    'blanks in a directive': (size) => `max-age=${' '.repeat(size)}x`,
    'blanks in quotes': (size) => `max-age="${' '.repeat(size)}`,
    'quotes that open': (size) => `${'="'.repeat(size / 2)}`,
    'quotes and commas': (size) => '",'.repeat(size / 2),
    backslashes: (size) => `x="${'\\'.repeat(size)}`,
    'quoted backslashes': (size) => `x="${'\\\\'.repeat(size / 2)}", max-age=5`,
    digits: (size) => `max-age=${'9'.repeat(size)}`,
    directives: (size) => 'max-age=60,'.repeat(size / 11),
    'other directives': (size) =>
      Array.from({ length: size / 10 }, (_, index) => `d${index}=${index}`).join(),
    'a date that goes on': (size) => `Sun, 06 Nov 1994 08:49:37 GMT${' '.repeat(size)}`,
    'a date that begins late': (size) => `${'Sun, '.repeat(size / 5)}06 Nov 1994 08:49:37 GMT`,
  };

  it.each(Object.entries(shapes))('%s: in a time in proportion to their length', async (_, shape) => {
    const read = (text: string): Reading => {
      const names = ['cache-control', 'age', 'expires', 'date', 'last-modified'];
      const found = reading(Object.fromEntries(names.map((name) => [name, text])));
      expectBounded(found);
      return found;
    };
    const [small, large] = [shape(HUGE / 30), shape(HUGE / 3)];
    expect(
      await ratioOfTimes(
        () => read(small),
        () => read(large),
      ),
    ).toBeLessThan(50);
  });
});
