import { expect, it } from 'vitest';
import { inStatements, type Sending } from '../../../src/backends/sql/in-statements.ts';
import type { Answer, Edit } from '../../../src/records/records.ts';

const DONE: Answer = { isDone: true, row: undefined };
const readOf = (name: string): Edit => ({ op: 'read', name });
const putOf = (name: string, length: number): Edit => ({
  op: 'put',
  name,
  text: 'x'.repeat(length),
  older: 0,
});

/** Answers each edit, and keeps the names of the statements; `bad` is a value that fails a statement. */
function stepOf(own: Partial<Sending<Edit>> = {}) {
  const statements: string[][] = [];
  const sending: Sending<Edit> = {
    send: async (edits) => {
      const names = edits.map(({ name }) => name);
      statements.push(names);
      if (names.includes('bad')) throw new Error('value');
      if (names.includes('gone')) throw new Error('ECONNRESET');
      return edits.map((edit) => ({ ...DONE, row: { id: edit.name } as never }));
    },
    isOfValues: (error) => (error as Error).message === 'value',
    ...own,
  };
  const apply = async (edits: readonly Edit[]) =>
    (await inStatements(edits, sending)).map((answer) => (answer instanceof Error ? answer : answer.row?.id));
  return { statements, apply, ask: (names: readonly string[]) => apply(names.map(readOf)) };
}

it('answers are in the order of the edits, the names of a statement in that of UTF-8', async () => {
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
  await apply([600_000, 400_000, 1, 5_000_000, 2].map((size, i) => putOf(String(i), size)));
  expect(statements).toEqual([['0', '1'], ['2'], ['3'], ['4']]);
});

it('any other error is one of all names of the statement', async () => {
  const { ask } = stepOf({ kindOf: ({ name }) => (name === 'c' ? 'other' : '') });
  const gone = new Error('ECONNRESET');
  expect(await ask(['a', 'gone', 'c'])).toEqual([gone, gone, 'c']);
  await expect(ask(['a', 'gone'])).rejects.toThrow('ECONNRESET');
});
