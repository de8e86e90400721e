import { describe, expect, it } from 'vitest';
import { compare, figuresOf, type Mutant, type Report, sumOf, survivorsOf } from './compare.mjs';

const source = 'const a = 1;\nif (a >\n    b) stop();\n';

function mutant(status: string, change: Partial<Mutant> = {}): Mutant {
  return {
    mutatorName: 'EqualityOperator',
    replacement: 'a >= b',
    status,
    location: { start: { line: 2, column: 5 }, end: { line: 3, column: 6 } },
    ...change,
  };
}

const reportOf = (...mutants: Mutant[]): Report => ({ files: { 'src/a.ts': { source, mutants } } });

const listed = {
  file: 'src/a.ts',
  mutator: 'EqualityOperator',
  line: 'if (a >',
  original: 'a > b',
  replacement: 'a >= b',
  reason: 'b is never a',
};

describe('the survivors of a report', () => {
  it('are those that survived and those that no test reaches, by their text', () => {
    const { reason, ...survivor } = listed;
    const all = ['Killed', 'Survived', 'NoCoverage', 'Timeout', 'Ignored', 'RuntimeError'].map((status) =>
      mutant(status),
    );
    expect(survivorsOf(reportOf(...all))).toEqual([
      { ...survivor, at: 2, status: 'Survived' },
      { ...survivor, at: 2, status: 'NoCoverage' },
    ]);
  });

  it('have the text of a part of one line', () => {
    const location = { start: { line: 1, column: 11 }, end: { line: 1, column: 12 } };
    expect(survivorsOf(reportOf(mutant('Survived', { location })))).toMatchObject([
      { line: 'const a = 1;', original: '1' },
    ]);
  });
});

describe('held against the list', () => {
  it('one that is listed is in order, wherever its line has moved to', () => {
    const moved = mutant('Survived', {
      location: { start: { line: 4, column: 5 }, end: { line: 5, column: 6 } },
    });
    const report = { files: { 'src/a.ts': { source: `\n\n${source}`, mutants: [moved] } } };
    expect(compare(report, [listed])).toEqual({ unlisted: [], gone: [], withoutReason: [] });
  });

  it.each([
    ['mutator', 'ConditionalExpression'],
    ['line', 'if (b >'],
    ['original', 'a > c'],
    ['replacement', 'a <= b'],
    ['file', 'src/b.ts'],
  ])('one with another %s is not listed', (field, value) => {
    const { unlisted } = compare(reportOf(mutant('Survived')), [{ ...listed, [field]: value }]);
    expect(unlisted).toHaveLength(1);
  });

  describe('two with the same text, in two places', () => {
    const twice = 'use(a > b);\nuse(a > b);\n';
    const at = (line: number, status = 'Survived'): Mutant =>
      mutant(status, { location: { start: { line, column: 5 }, end: { line, column: 10 } } });
    const entry = { ...listed, line: 'use(a > b);' };
    const report = (...mutants: Mutant[]): Report => ({
      files: { 'src/a.ts': { source: twice, mutants } },
    });

    it.each([
      [0, 2, 0],
      [1, 1, 0],
      [2, 0, 0],
      [3, 0, 1],
    ])('with %i entries, %i are not listed and %i are gone', (entries, unlisted, gone) => {
      const found = compare(report(at(1), at(2)), Array(entries).fill(entry));
      expect([found.unlisted.length, found.gone.length]).toEqual([unlisted, gone]);
    });

    it('of which one is killed need one entry; the second is gone', () => {
      const found = compare(report(at(1, 'Killed'), at(2)), [entry, { ...entry, reason: 'the second' }]);
      expect(found.unlisted).toEqual([]);
      expect(found.gone).toEqual([{ ...entry, reason: 'the second' }]);
    });

    it('the later one is told, where one is listed', () => {
      expect(compare(report(at(2), at(1)), [entry]).unlisted).toMatchObject([{ at: 2 }]);
    });
  });

  it('one that is killed now is gone', () => {
    expect(compare(reportOf(mutant('Killed')), [listed]).gone).toEqual([listed]);
  });

  it('nothing is said of files that were not mutated', () => {
    expect(compare({ files: {} }, [listed]).gone).toEqual([]);
  });

  it('each needs a reason', () => {
    const bare = { ...listed, reason: ' ' };
    expect(compare(reportOf(mutant('Survived')), [bare]).withoutReason).toEqual([bare]);
  });
});

describe('the score', () => {
  it('counts killed and timed out, of those that could be run', () => {
    const statuses = ['Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'Pending'];
    expect(figuresOf(reportOf(...statuses.map((status) => mutant(status))))).toEqual({
      mutants: 5,
      killed: 2,
      timeout: 1,
      survived: 1,
      noCoverage: 1,
      pending: 1,
      score: 60,
    });
  });

  it('takes the timeout of a test for one', () => {
    const slow = mutant('Killed', { statusReason: 'Test timed out in 5000ms.' });
    expect(figuresOf(reportOf(slow))).toMatchObject({ killed: 0, timeout: 1 });
  });

  it('of several parts is that of all their mutants, not the mean of their scores', () => {
    const large = figuresOf(
      reportOf(...Array<Mutant>(7).fill(mutant('Killed')), mutant('Timeout'), mutant('Survived')),
    );
    const small = figuresOf(reportOf(mutant('NoCoverage'), mutant('Pending')));
    expect(sumOf([large, small])).toEqual({
      mutants: 10,
      killed: 7,
      timeout: 1,
      survived: 1,
      noCoverage: 1,
      pending: 1,
      score: 80,
    });
  });

  it('is full where there is nothing to mutate', () => {
    expect(figuresOf({ files: {} }).score).toBe(100);
  });
});
