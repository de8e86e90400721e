import { expect, it } from 'vitest';
import { MysqlSql } from '../../../src/backends/sql/mysql.ts';
import { MysqlCells } from '../../../src/backends/sql/mysql-cells.ts';
import type { Change, Swap } from '../../../src/records/cells/cells.ts';

// Without a server, as MySQL, which has no blocks of statements; test/system/integration has those with one.

/** Cells over these replies, and the beginnings of their statements. */
function cellsOf(...replies: unknown[]) {
  const statements: string[] = [];
  const query = async ({ sql }: { readonly sql: string }) => {
    const [verb] = sql
      .replace(/\/\*.*?\*\//g, '')
      .trim()
      .split(/\s/);
    statements.push(verb as string);
    return [replies[statements.length - 1]];
  };
  const cells = new MysqlCells(new MysqlSql({ query }, 1000, false), '`tickless`');
  const swap = (...changes: readonly Change[]) => cells.swap(changes, Infinity);
  return { swap, statements };
}

const swapOf = (name: string, swap: Partial<Swap>): Change => {
  const rest = { main: undefined, adds: undefined, drops: [], keepForMs: Infinity };
  return { name, swap: { before: 'one', after: 'two', ...rest, ...swap } };
};

const rows = [
  { i: '0', is_done: '1', body: null, main: null, now: '1' },
  { i: '1', is_done: '0', body: 'of another one', main: null, now: '1' },
];
const header = (matched: number) => ({ affectedRows: matched, info: `Rows matched: ${matched}` });

it('where all have matched, others have swapped after them', async () => {
  const { swap, statements } = cellsOf(header(2), rows);
  const answers = await swap(swapOf('a', {}), swapOf('b', {}));
  expect(answers).toEqual(rows.map((row) => ({ ...row, is_done: true })));
  expect(statements).toEqual(['UPDATE', 'SELECT']);
});

it('where some have not, the rows tell which', async () => {
  const { swap } = cellsOf(header(1), rows);
  expect(await swap(swapOf('a', {}), swapOf('b', {}))).toEqual(rows);
});

it('new rows tell it by themselves: an INSERT also counts those that it has found', async () => {
  const { swap, statements } = cellsOf(header(2), rows);
  const given = ['a', 'b'].map((name) => swapOf(name, { before: undefined }));
  expect(await swap(...given)).toEqual(rows);
  expect(statements).toEqual(['INSERT', 'SELECT']);
});

it('new ones beside others are two statements', async () => {
  const { swap, statements } = cellsOf(header(1), header(1), rows);
  expect(await swap(swapOf('a', { before: undefined }), swapOf('b', {}))).toEqual(rows);
  expect(statements).toEqual(['INSERT', 'UPDATE', 'SELECT']);
});

it('with a long text it is a transaction: the long one before the text that names it', async () => {
  const { swap, statements } = cellsOf({}, {}, {}, header(1), {}, rows, {});
  expect(await swap(swapOf('a', { adds: { id: 'x', text: 'long' }, main: 'x' }))).toEqual(rows);
  expect(statements).toEqual(['SET', 'START', 'INSERT', 'UPDATE', 'DELETE', 'SELECT', 'COMMIT']);
});

it('a deletion is one command, and looks at what is there only if it finds another text', async () => {
  const deletion = swapOf('a', { after: undefined });
  const done = cellsOf(header(1));
  expect(await done.swap(deletion)).toEqual([{ i: 0, is_done: true }]);
  expect(done.statements).toEqual(['DELETE']);
  const other = cellsOf(header(0), rows.slice(1));
  expect(await other.swap(deletion)).toEqual([{ ...rows[1], is_done: false }]);
  expect(other.statements).toEqual(['DELETE', 'SELECT']);
});
