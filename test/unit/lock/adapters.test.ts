import { describe, expect, it } from 'vitest';
import { isOptionError } from '../../../src/errors.ts';
import type { Lock } from '../../../src/lock/create-lock.ts';
import { mysqlLock, mysqlLockTable } from '../../../src/lock/mysql.ts';
import { postgresLock, postgresLockTable } from '../../../src/lock/postgres.ts';
import { redisLock } from '../../../src/lock/redis.ts';
import { sqliteLock, sqliteLockTable } from '../../../src/lock/sqlite.ts';

// What the adapters do by themselves. What servers make of it is tested with real ones, in test/system/integration.

const nothing = (): never => {
  throw new Error('not asked here');
};
const query = async (): Promise<never> => nothing();
const redis = { call: async () => 'no record', on: () => {}, status: 'ready' };

interface Adapter {
  readonly name: string;
  readonly lock: (options: never) => Lock;
  readonly client: object;
  readonly longestName: number | undefined;
  /** Where its records are. */
  readonly place: object;
}

const adapters: readonly Adapter[] = [
  { name: 'redisLock', lock: redisLock, client: redis, longestName: undefined, place: { prefix: 'p' } },
  { name: 'postgresLock', lock: postgresLock, client: { query }, longestName: 1024, place: { table: 't' } },
  { name: 'mysqlLock', lock: mysqlLock, client: { query }, longestName: 512, place: { table: 't' } },
  {
    name: 'sqliteLock',
    lock: sqliteLock,
    client: { prepare: nothing },
    longestName: 1024,
    place: { table: 't' },
  },
];

function problemOf(act: () => unknown): { message: string; option: string } {
  try {
    act();
  } catch (error) {
    expect(isOptionError(error)).toBe(true);
    return error as never;
  }
  throw new Error('nothing was thrown');
}

describe.each(adapters)('$name', ({ lock, client, longestName, place }) => {
  const make = (options: unknown): Lock => lock(options as never);

  it('takes its options, and no others', () => {
    const options = { client, retention: { days: 1 }, leaseFor: 5000, timeout: 1000, ...place };
    expect(make(options)).toMatchObject({ leaseFor: 5000, longestName });
    expect(problemOf(() => make({ ...options, directory: '/tmp' }))).toMatchObject({ option: 'directory' });
    expect(problemOf(() => make({ ...options, retention: 0 }))).toMatchObject({ option: 'retention' });
  });

  it.each([undefined, {}, { client: undefined }, { client: {} }, { client: 'redis://localhost' }])(
    'names the client where there is none: %o',
    (options) => {
      expect(problemOf(() => make(options))).toMatchObject({
        option: 'client',
        message: expect.stringMatching(/^lock: client must /),
      });
    },
  );
});

describe.each([
  { lock: postgresLock, definition: postgresLockTable, client: { query }, quote: '"' },
  { lock: mysqlLock, definition: mysqlLockTable, client: { query }, quote: '`' },
  { lock: sqliteLock, definition: sqliteLockTable, client: { prepare: nothing }, quote: '"' },
])('$definition.name', ({ lock, definition, client, quote }) => {
  it('defines the usual table, or the one that is named', () => {
    expect(definition()).toContain(`${quote}tickless_lock${quote}`);
    expect(definition('ops.Locks')).toContain(`${quote}ops${quote}.${quote}Locks${quote}`);
  });

  it('takes nothing for a name that would be more', () => {
    const table = 'locks; DROP TABLE locks';
    for (const act of [() => definition(table), () => lock({ client, table } as never)]) {
      expect(problemOf(act)).toMatchObject({
        option: 'table',
        message: expect.stringMatching(/^lock: table must /),
      });
    }
  });
});

describe('a lock in a table', () => {
  /** A client of PostgreSQL whose server finds nothing. */
  function clientOf(commands: { text: string; values: unknown[] }[]) {
    return {
      query: async (command: { text: string; values: unknown[] }) => {
        commands.push(command);
        return { rows: [], rowCount: 0 };
      },
    };
  }

  it('says so when somebody deletes its row at once', async () => {
    const lock = postgresLock({ client: clientOf([]) as never });
    await expect(lock.acquire({ name: 'n' })).rejects.toThrow(/unavailable: the row of the lock was deleted/);
  });

  it('keeps as much of an error as people read, without what a text may not hold', async () => {
    const commands: { text: string; values: unknown[] }[] = [];
    const lock = postgresLock({ client: clientOf(commands) as never, retention: Infinity });
    const error = `a\0b\0${'x'.repeat(16_000)}`;
    await lock.release({ name: 'n', requestId: 'r', token: 1 }, { as: 'failed', holdFor: 0, error });
    expect(commands.map(({ values }) => values)).toEqual([
      expect.arrayContaining([`a\ufffdb\ufffd${'x'.repeat(15_996)}`]),
    ]);
  });

  it('in MySQL takes no text that the column would cut', async () => {
    const lock = mysqlLock({ client: { query: nothing } as never });
    const tooLong = 'x'.repeat(1025);
    for (const option of ['owner', 'requestId', 'host']) {
      const asked = lock.acquire({ name: 'n', [option]: tooLong });
      await expect(asked).rejects.toMatchObject({
        option,
        message: expect.stringMatching(/^n: .*at most 1024 characters/),
      });
      const fits = lock.acquire({ name: 'n', [option]: tooLong.slice(1) });
      await expect(fits).rejects.toMatchObject({ code: 'ERR_TICKLESS_LOCK_UNAVAILABLE' });
    }
  });
});

describe('redisLock', () => {
  it('says so when the server answers with something else than a record', async () => {
    await expect(redisLock({ client: redis as never }).acquire({ name: 'n' })).rejects.toThrow(
      /unavailable: unexpected reply of the lock script: no record/,
    );
  });
});
