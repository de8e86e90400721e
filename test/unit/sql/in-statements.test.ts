import { expect, it } from 'vitest';
import { inStatements, type Sending } from '../../../src/backends/sql/in-statements.ts';
import type { Change } from '../../../src/records/cells/cells.ts';

const lookAt = (name: string): Change => ({ name });
/** Each of its texts has a third of the length. */
const swapOf = (name: string, length: number): Change => {
  const text = 'x'.repeat(Math.ceil(length / 3));
  const adds = { id: 'one', text };
  return { name, swap: { before: text, after: text, main: 'one', adds, drops: [], keepForMs: 1 } };
};

/** Answers each change with its name, and keeps the names of the statements; `bad` is a value that fails a statement. */
function stepOf(own: Partial<Sending<string>> = {}) {
  const statements: string[][] = [];
  const sending: Sending<string> = {
    send: async (changes) => {
      const names = changes.map(({ name }) => name);
      statements.push(names);
      if (names.includes('bad')) throw new Error('value');
      if (names.includes('gone')) throw new Error('ECONNRESET');
      return names;
    },
    isOfValues: (error) => (error as Error).message === 'value',
    ...own,
  };
  const apply = (changes: readonly Change[]) => inStatements(changes, sending);
  return { statements, apply, ask: (names: readonly string[]) => apply(names.map(lookAt)) };
}

it('answers are in the order of the changes, the names of a statement in that of UTF-8', async () => {
  const { statements, ask } = stepOf();
  const names = ['b', '\u{1f680}', 'a', '\uffee', 'ab', '\ud7ff', 'B'];
  expect(await ask(names)).toEqual(names);
  const inBytes = names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  expect(statements).toEqual([inBytes]);
});

it('a statement has at most 500 names, all of one kind', async () => {
  const { statements, ask } = stepOf({ kindOf: ({ name }) => name.slice(0, 1) });
  await ask(Array.from({ length: 1002 }, (_, i) => `${i % 2}-${i}`));
  expect(statements.map(({ length }) => length)).toEqual([500, 1, 500, 1]);
  expect(statements.flatMap((names) => [...new Set(names.map((name) => name[0]))])).toEqual([
    ...['0', '0', '1', '1'],
  ]);
});

it('a name whose value is refused is alone with that', async () => {
  const { statements, ask } = stepOf();
  expect(await ask(['a', 'bad', 'c', 'd'])).toEqual(['a', new Error('value'), 'c', 'd']);
  expect(statements).toEqual([['a', 'bad', 'c', 'd'], ['a', 'bad'], ['a'], ['bad'], ['c', 'd']]);
});

it('a statement has at most a million characters of texts, unless it has one name', async () => {
  const { statements, apply } = stepOf();
  await apply([600_000, 399_999, 3, 5_000_001, 3].map((size, i) => swapOf(String(i), size)));
  expect(statements).toEqual([['0', '1'], ['2'], ['3'], ['4']]);
});

it('any other error is one of all names of the statement', async () => {
  const { ask } = stepOf({ kindOf: ({ name }) => (name === 'c' ? 'other' : '') });
  const gone = new Error('ECONNRESET');
  expect(await ask(['a', 'gone', 'c'])).toEqual([gone, gone, 'c']);
  await expect(ask(['a', 'gone'])).rejects.toThrow('ECONNRESET');
});
