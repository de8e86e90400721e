import { describe, expect, it } from 'vitest';
import { mysqlBackend, mysqlTable } from '../../../src/backends/mysql.ts';
import { postgresBackend, postgresTable } from '../../../src/backends/postgres.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import { sqliteBackend, sqliteTable } from '../../../src/backends/sqlite.ts';
import type { Backend } from '../../../src/engine/backend.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf } from '../../support/parts.ts';
import { thrownBy } from '../../support/settle.ts';

// The adapters without their servers; test/system/integration tests them with real ones.

const unused = (): never => {
  throw new Error('not called here');
};

/** A client of ioredis that records its commands. */
function redisOf(reply: unknown, commands: string[][] = []) {
  const call = async (...command: string[]) => {
    commands.push(command);
    return reply;
  };
  return { call, on: () => {}, status: 'ready' } as never;
}

/** A client of PostgreSQL that records its parameters and finds no row. */
function postgresOf(parameters: unknown[][] = []) {
  const query = async ({ values }: { values: unknown[] }) => {
    parameters.push(values);
    return { rows: [], rowCount: 0 };
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
    client: redisOf(''),
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
    const lock = lockOf(postgresBackend({ client: postgresOf(parameters), retention: Infinity }));
    const error = `a\0b\0${'x'.repeat(16_000)}`;
    await lock.release(lease, { as: 'failed', holdFor: 0, error });
    const [{ note }] = JSON.parse(String(parameters[0]?.[0])) as [{ note: string }];
    expect(note).not.toContain('\0');
    expect(JSON.parse(note)).toEqual({ state: 'failed', error: error.slice(0, 16_000) });
  });

  it('is one command with the default prefix and retention in Redis', async () => {
    const commands: string[][] = [];
    const lock = lockOf(redisBackend({ client: redisOf([['1', '0']], commands) }));
    await lock.release(lease, { as: 'failed', holdFor: 10, error: 'x'.repeat(16_001) });
    await lock.release(lease, { as: 'failed', holdFor: 10, error: 'x' });
    const args = ['1', 'tickless:lock/rates', '604800000', '8', 'amend', '5', '1', 'r', 'held', '10', ''];
    const note = (length: number) => JSON.stringify({ state: 'failed', error: 'x'.repeat(length) });
    expect(commands.map(([command, _, ...others]) => [command, ...others])).toEqual([
      ['eval', ...args, note(16_000)], // the first time with the text of the script
      ['evalsha', ...args, note(1)],
    ]);
  });
});

describe('an acquire', () => {
  it.each<[string, Lock, RegExp]>([
    [
      'finds no row',
      lockOf(postgresBackend({ client: postgresOf() })),
      /unavailable: the claim has waited for too long/,
    ],
    [
      'gets an unexpected reply',
      lockOf(redisBackend({ client: redisOf(['no record']) })),
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
