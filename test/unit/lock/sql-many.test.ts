import { expect, it } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { lockOf, storeOf } from '../../support/parts.ts';

// Steps for several names at once without a server; test/system/integration has those with one.

/** A client of MySQL, which has no blocks of statements: its replies, and the beginnings of its statements. */
function mysqlOf(...replies: unknown[]) {
  const statements: string[] = [];
  const query = async ({ sql }: { readonly sql: string }) => {
    if (sql.includes('BEGIN NOT ATOMIC')) throw Object.assign(new Error('syntax'), { errno: 1064 });
    statements.push(
      sql
        .replace(/\/\*.*?\*\//g, '')
        .trim()
        .split(/\s/)[0] as string,
    );
    return [replies[statements.length - 1]];
  };
  return { client: { query } as never, statements };
}

/** The row of a record that is held. */
const held = (i: number, token: number, note: string) => ({
  ...{ i, token, id: 'r', phase: 'held', note, text: '', replaced: null, damage: null },
  ...{ age: 0, changed_ago: 0, remaining: 0, micros: 1, has_older: 0 },
});

it('by the records after it MySQL tells which leases have ended', async () => {
  const leases = ['a', 'b', 'c'].map((name) => ({ name, requestId: 'r', token: 5 }));
  const ends = leases.map((lease) => ({ lease, outcome: { as: 'abandoned' } as const }));
  const note = JSON.stringify({ state: 'abandoned' });
  const { client, statements } = mysqlOf({ affectedRows: 1 }, [held(0, 5, note), held(1, 6, note)]);
  const lock = lockOf(mysqlBackend({ client, retention: Infinity }));
  const answers = await Promise.all(ends.map(({ lease, outcome }) => lock.release(lease, outcome)));
  expect(answers).toEqual([true, false, false]);
  expect(statements).toEqual(['UPDATE', 'SELECT']);
});

it('writes without tokens are a transaction, so that their versions are known', async () => {
  const rows = [held(0, 7, ''), held(1, 8, '')];
  const { client, statements } = mysqlOf({}, {}, {}, rows, {});
  const writes = ['a', 'b'].map((name) => ({ name, payload: 'p' }));
  const store = storeOf(mysqlBackend({ client, retention: Infinity }));
  const answers = await Promise.all(writes.map(({ name, payload }) => store.write(name, payload)));
  expect(answers).toEqual([7, 8].map((version) => ({ kind: 'written', version })));
  expect(statements).toEqual(['SET', 'START', 'INSERT', 'SELECT', 'COMMIT']);
});
