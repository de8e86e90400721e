import { expect, it } from 'vitest';
import { type EachName, eachName } from '../../../src/sql/each-name.ts';

/** Answers each name by itself in upper case, and keeps the statements; `bad` is a value that fails a statement. */
function stepOf(own: Partial<EachName<string, string>> = {}) {
  const statements: (readonly string[])[] = [];
  const step: EachName<string, string> = {
    nameOf: (name) => name,
    send: async (names) => {
      statements.push(names);
      if (names.includes('bad')) throw new Error('value');
      if (names.includes('gone')) throw new Error('ECONNRESET');
      return new Map(names.filter((name) => name !== 'lost').map((name) => [name, name.toUpperCase()]));
    },
    missing: () => new Error('lost'),
    isOfValues: (error) => (error as Error).message === 'value',
    ...own,
  };
  return { statements, ask: (names: readonly string[]) => eachName(names, step) };
}

it('answers are in the order of the requests, the names of a statement in that of UTF-8', async () => {
  const { statements, ask } = stepOf();
  const names = ['b', '\u{1f680}', 'a', '\uffee', 'ab', '\ud7ff', 'B'];
  expect(await ask(names)).toEqual(names.map((name) => name.toUpperCase()));
  const inBytes = names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  expect(statements).toEqual([inBytes]);
});

it('a statement has at most 500 names, all of one kind', async () => {
  const { statements, ask } = stepOf({ kindOf: (name) => name.slice(0, 1) });
  await ask(Array.from({ length: 1002 }, (_, i) => `${i % 2}-${i}`));
  expect(statements.map(({ length }) => length)).toEqual([500, 1, 500, 1]);
  expect(statements.flatMap((names) => [...new Set(names.map((name) => name[0]))])).toEqual([
    '0',
    '0',
    '1',
    '1',
  ]);
});

it('a name that is missing in the reply, or whose value is refused, is alone with that', async () => {
  const { statements, ask } = stepOf();
  expect(await ask(['a', 'bad', 'c', 'lost'])).toEqual(['A', new Error('value'), 'C', new Error('lost')]);
  expect(statements).toEqual([['a', 'bad', 'c', 'lost'], ['a', 'bad'], ['a'], ['bad'], ['c', 'lost']]);
});

it('a statement has at most a million characters, unless it has one name', async () => {
  const sizes = [600_000, 400_000, 1, 5_000_000, 2];
  const { statements, ask } = stepOf({ sizeOf: (name) => sizes[Number(name)] as number });
  await ask(['0', '1', '2', '3', '4']);
  expect(statements).toEqual([['0', '1'], ['2'], ['3'], ['4']]);
});

it('any other error is one of all names of the statement', async () => {
  const { ask } = stepOf({ kindOf: (name) => (name === 'c' ? 'other' : '') });
  const gone = new Error('ECONNRESET');
  expect(await ask(['a', 'gone', 'c'])).toEqual([gone, gone, 'C']);
  await expect(ask(['a', 'gone'])).rejects.toThrow('ECONNRESET');
});
