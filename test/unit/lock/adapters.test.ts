import { describe, expect, it } from 'vitest';
import { mysqlBackend, mysqlTable } from '../../../src/backends/mysql.ts';
import { postgresBackend, postgresTable } from '../../../src/backends/postgres.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import { sqliteBackend, sqliteTable } from '../../../src/backends/sqlite.ts';
import type { Backend } from '../../../src/engine/backend.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { partIn, withFields } from '../../support/cell-text.ts';
import { leaseOf } from '../../support/lease.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf } from '../../support/parts.ts';
import { thrownBy } from '../../support/settle.ts';

// The adapters without their servers; test/system/integration tests them with real ones.

const unused = (): never => {
  throw new Error('not called here');
};

/** A client of ioredis that records its commands. */
function redisOf(reply: (command: readonly string[]) => unknown, commands: string[][] = []) {
  const call = async (...command: string[]) => {
    commands.push(command);
    return reply(command);
  };
  return { call, on: () => {}, status: 'ready' } as never;
}

/** A client of PostgreSQL that records its parameters and finds the record of a lease. */
function postgresOf({ requestId, token }: { requestId: string; token: number }, parameters: unknown[][]) {
  const now = Date.now();
  const ends = { at: now, changedAt: now, until: now + 60_000 };
  const record = { token, id: requestId, phase: 'leased', ...ends, text: '', note: '', older: [] };
  const query = async ({ values }: { values: unknown[] }) => {
    parameters.push(values);
    const isDone = parameters.length > 1; // the first is a look
    return {
      rows: [
        { i: '0', is_done: String(isDone), body: withFields(undefined, 'lock', record), now: String(now) },
      ],
    };
  };
  return { query } as never;
}

const query = async () => unused();
const sql = { client: { query }, place: { table: 't' } };
interface Adapter {
  readonly open: (options: never) => Backend;
  readonly client: object;
  readonly longestName: number | undefined;
  readonly place: object;
  readonly definition?: (table?: string) => string;
  readonly quote?: string;
}

const adapters: readonly Adapter[] = [
  {
    open: redisBackend,
    client: redisOf(unused),
    longestName: undefined,
    place: { prefix: 'p' },
  },
  { open: postgresBackend, longestName: 1024, definition: postgresTable, quote: '"', ...sql },
  { open: mysqlBackend, longestName: 512, definition: mysqlTable, quote: '`', ...sql },
  {
    open: sqliteBackend,
    longestName: 1024,
    definition: sqliteTable,
    quote: '"',
    ...sql,
    client: { prepare: unused },
  },
];

describe.each(adapters)('$open.name', ({ open, client, longestName, place, definition, quote }) => {
  const make = (options: unknown): Lock => lockOf(open(options as never));

  it('accepts its options, and no others', () => {
    const options = { client, retention: { days: 1 }, leaseFor: 5000, timeout: 1000, ...place };
    expect(make(options)).toMatchObject({ leaseFor: 5000, longestName });
    expect(thrownBy(() => make({ ...options, directory: '/tmp' }))).toMatchObject(ofOption('directory'));
    expect(thrownBy(() => make({ ...options, retention: 0 }))).toMatchObject(ofOption('retention'));
  });

  it.each([undefined, {}, { client: {} }, { client: 'redis://localhost' }])(
    'names the invalid client: %o',
    (options) => {
      expect(thrownBy(() => make(options))).toMatchObject(ofOption('client', 'must '));
    },
  );

  if (definition === undefined) return; // has no table
  it('defines a table with a safe name', () => {
    expect(definition()).toContain(`${quote}tickless${quote}`);
    expect(definition('ops.Locks')).toContain(`${quote}ops${quote}.${quote}Locks${quote}`);
    const table = 'locks; DROP TABLE locks';
    for (const act of [() => definition(table), () => make({ client, table })]) {
      expect(thrownBy(act)).toMatchObject(ofOption('table', 'must '));
    }
  });
});

describe('a release as failed', () => {
  const lease = { name: 'rates', requestId: 'r', token: 5 };

  it('stores at most 16,000 characters of the error, with U+0000 escaped, which PostgreSQL does not store', async () => {
    const parameters: unknown[][] = [];
    const lock = lockOf(postgresBackend({ client: postgresOf(lease, parameters), retention: Infinity }));
    const error = `a\0b\0${'x'.repeat(16_000)}`;
    await lock.release(lease, { as: 'failed', holdFor: 0, error });
    const after = parameters[1]?.flat().find((one) => String(one).startsWith('{"lock"')) as string;
    const { note } = partIn(after, 'lock') as { note: string };
    expect(note).not.toContain('\0');
    expect(JSON.parse(note)).toEqual({ state: 'failed', error: error.slice(0, 16_000) });
  });

  it('is one command with the default prefix and retention in Redis', async () => {
    const commands: string[][] = [];
    const now = `${Date.now()}000`;
    const reply = (command: readonly string[]) => (command.includes('look') ? [[now]] : [[now, '1'], [now]]); // the index has a key too
    const lock = lockOf(redisBackend({ client: redisOf(reply, commands) }));
    const taken = await leaseOf(lock, { name: 'rates' });
    commands.length = 0;
    await lock.release(taken, { as: 'failed', holdFor: 0, error: 'x'.repeat(16_001) });
    const [command, , ...args] = commands[0] as string[];
    const [before, after] = [args[9], args[11]] as [string, string];
    expect(partIn(before, 'lock')).toMatchObject({ phase: 'leased', token: taken.token });
    const note = JSON.stringify({ state: 'failed', error: 'x'.repeat(16_000) });
    expect(partIn(after, 'lock')).toMatchObject({ phase: 'held', token: taken.token, note });
    const keys = ['2', 'tickless:name/rates', 'tickless:{name}'];
    const swap = ['13', 'swap', '0', '', '604800000', '1', before, '1', after, '', '604800000', '', '', ''];
    const index = ['5', 'index', '{name}', 'name/', 'rates', '604800000'];
    expect([commands.length, command, ...args]).toEqual([1, 'evalsha', ...keys, ...swap, ...index]);
  });
});

describe('an acquire', () => {
  it.each<[string, Lock, RegExp]>([
    [
      'gets an unexpected reply',
      lockOf(redisBackend({ client: redisOf(() => ['no record']) })),
      /unavailable: unexpected reply of a script: no record/,
    ],
    [
      'may not create the table',
      lockOf(
        sqliteBackend({
          client: {
            prepare: (text: string) => {
              throw new Error(
                /^CREATE/.test(text) ? 'attempt to write a readonly database' : 'no such table: t',
              );
            },
          } as never,
        }),
      ),
      /\(sqliteTable\(\) returns its definition\): attempt to write a readonly database/,
    ],
  ])('that %s rejects with the reason', async (_, lock, message) => {
    await expect(lock.acquire({ name: 'n' })).rejects.toThrow(message);
  });
});
