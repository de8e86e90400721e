import { expect, it } from 'vitest';
import { isOptionError } from '../../../src/errors.ts';
import { mysqlLock } from '../../../src/lock/mysql.ts';
import { postgresLock } from '../../../src/lock/postgres.ts';
import { mysqlStore } from '../../../src/store/mysql.ts';

// The steps for several names without a server; test/system/integration has those with one.

const REQUEST = { owner: 'me', requestId: 'r', leaseFor: 1000, host: '', force: false };
const LEASES = ['a', 'b', 'c'].map((name) => ({ name, requestId: 'r', token: 5 }));
const ENDS = LEASES.map((lease) => ({ lease, outcome: { as: 'abandoned' } as const }));

/** A client of MySQL whose replies are given, and the beginnings of its statements. */
function mysqlOf(...replies: unknown[]) {
  const statements: string[] = [];
  const query = async ({ sql }: { readonly sql: string }) => {
    statements.push(sql.trim().split(/\s/)[0] as string);
    return [replies[statements.length - 1]];
  };
  return { client: { query } as never, statements };
}

const named = (...names: string[]) => names.map((name) => ({ name }));

it.each([
  ['all', [{ affectedRows: 3 }], [true, true, true], 1],
  ['some', [{ affectedRows: 2 }, named('a', 'c')], [true, false, true], 2],
  ['none', [{ affectedRows: 0 }, []], [false, false, false], 2],
])('MySQL is asked which leases have ended, unless all have: %s', async (_, replies, expected, commands) => {
  const { client, statements } = mysqlOf(...replies);
  expect(await mysqlLock({ client, retention: Infinity }).releaseMany?.(ENDS)).toEqual(expected);
  expect(statements).toHaveLength(commands);
});

it('a lease of MySQL that was released and acquired again before that has an unknown end', async () => {
  const { client } = mysqlOf({ affectedRows: 2 }, named('a'));
  const answers = (await mysqlLock({ client, retention: Infinity }).releaseMany?.(ENDS)) ?? [];
  expect(answers.map((answer) => (answer instanceof Error ? answer.message : answer))).toEqual([
    true,
    expect.stringMatching(/acquired again at once/),
    expect.stringMatching(/acquired again at once/),
  ]);
});

it('in MySQL a text that the column would cut is an error of its name alone', async () => {
  const row = { name: 'a', token: 1, state: 'running', request_id: 'r', lease_left: 5, server_micros: 1 };
  const times = { hold_left: 0, acquired_ago: 0, finished_ago: null, last_error: null, took_over: 0 };
  const { client } = mysqlOf([{ version: '8.4.0' }], {}, [{ ...row, ...times, owner: 'me', host: '' }]);
  const answers = await mysqlLock({ client }).acquireMany?.([
    { ...REQUEST, name: 'b', owner: 'x'.repeat(1025) },
    { ...REQUEST, name: 'a' },
  ]);
  expect(answers?.map((answer) => isOptionError(answer) || (answer as { kind?: string }).kind)).toEqual([
    true,
    'acquired',
  ]);
});

it('without RETURNING and without tokens each write is a statement of its own, whose version is known', async () => {
  const { client, statements } = mysqlOf([{ version: '8.4.0' }], { insertId: 7 }, { insertId: 8 });
  const writes = ['a', 'b'].map((name) => ({ name, payload: 'p' }));
  const answers = await mysqlStore({ client, retention: Infinity }).writeMany?.(writes);
  expect(answers).toEqual([7, 8].map((version) => ({ kind: 'written', version })));
  expect(statements).toEqual(['SELECT', 'INSERT', 'INSERT']);
});

it('an error of a name is one that a single step would reject with', async () => {
  const query = async () => ({ rows: [], rowCount: 0 });
  const answers = await postgresLock({ client: { query } as never }).acquireMany?.([
    { ...REQUEST, name: 'a' },
  ]);
  expect(answers).toEqual([
    expect.objectContaining({
      code: 'ERR_TICKLESS_LOCK_UNAVAILABLE',
      message: expect.stringMatching(/deleted/),
    }),
  ]);
});
