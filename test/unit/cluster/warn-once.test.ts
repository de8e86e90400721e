import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const query = async () => ({ rows: [], rowCount: 0 });
const heard = (methods: object) =>
  Object.assign(
    new EventEmitter().on('error', () => {}),
    methods,
  ) as never;

const ioredis = (options: object) => heard({ call: query, status: 'ready', options });
const pgClient = { query, connect: query, connectionParameters: {} };

let warn: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  vi.resetModules(); // each line is written once in a process
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => warn.mockRestore());

async function make(client: never, kind: 'pg' | 'mysql' | 'redis'): Promise<void> {
  const { postgresBackend } = await import('../../../src/backends/postgres.ts');
  const { mysqlBackend } = await import('../../../src/backends/mysql.ts');
  const { redisBackend } = await import('../../../src/backends/redis.ts');
  for (let i = 0; i < 2; i += 1)
    ({ pg: postgresBackend, mysql: mysqlBackend, redis: redisBackend })[kind]({ client });
}

it.each([
  ['a Client of pg', 'pg', heard(pgClient), /Give it a pool: new Pool\(\)/],
  ['a connection of mysql2', 'mysql', heard({ query }), /Give it a pool: createPool\(\)/],
  ['a client of ioredis', 'redis', ioredis({ reconnectOnError: null }), /has no reconnectOnError/],
] as const)('%s that stays with a server after a fail-over is named once', async (_, kind, client, line) => {
  await make(client, kind);
  expect(warn.mock.calls).toEqual([[expect.stringMatching(line)]]);
});

it.each([
  ['a Pool of pg', 'pg', heard({ ...pgClient, totalCount: 0 })],
  ['a pool of mysql2', 'mysql', heard({ query, getConnection: query })],
  ['a client of ioredis with reconnectOnError', 'redis', ioredis({ reconnectOnError: () => true })],
  ['a client of Sentinel', 'redis', ioredis({ reconnectOnError: null, sentinels: [{}] })],
  ['a cluster of ioredis', 'redis', ioredis({})],
] as const)('%s is not', async (_, kind, client) => {
  await make(client, kind);
  expect(warn).not.toHaveBeenCalled();
});
