import { expect, it } from 'vitest';

const module = new URL('../../../scripts/support/concerned-lines.mjs', import.meta.url).href;
const { concernedLines } = (await import(module)) as {
  readonly concernedLines: (trace: readonly string[], message: string, most: number) => string[];
};

const TRACE = [
  '   0.0000  world        {"instances":2}',
  '   0.1000  A1           starts',
  '   0.2000  A1[1]        changed',
  '   0.2000  A1[2]        changed',
  '   0.3000  B2[1]        changed',
  '   0.4000  A1           read lists["1"] →',
  '   0.4000  A1           read lists["2"] →',
  '   0.5000  backend      read lists["1"] of A1: nothing',
  '   0.5000  backend      read lists["1"] of B2: nothing',
  '   0.6000  source       returns full editions from now on',
];

it('keeps the lines of the instances and keys that a message names, and those about all', () => {
  expect(concernedLines(TRACE, 'A1[1]: it serves 89', 100)).toEqual(
    [0, 1, 2, 5, 7, 9].map((index) => TRACE[index]),
  );
});

it('keeps all lines of an instance that is named without a key, and all of all where none is named', () => {
  expect(concernedLines(TRACE, 'B2: it writes', 100)).toEqual([0, 4, 8, 9].map((index) => TRACE[index]));
  expect(concernedLines(TRACE, 'an unhandled rejection', 100)).toEqual(TRACE);
});

it('keeps the last ones', () => {
  expect(concernedLines(TRACE, 'A1: late', 2)).toEqual(
    TRACE.filter((_, index) => index === 7 || index === 9),
  );
});
