import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { mysqlBackend } from '../../../src/backends/mysql.ts';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import { lockOf, storeOf } from '../../support/parts.ts';

const query = async () => ({ rows: [], rowCount: 0 });
const emitter = (methods: object) => Object.assign(new EventEmitter(), methods) as never;

let warn: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => warn.mockRestore());

it.each([
  ['a pool of pg', () => lockOf(postgresBackend({ client: emitter({ query }) })), 'pool.on'],
  ['a connection of mysql2', () => lockOf(mysqlBackend({ client: emitter({ query }) })), 'connection.on'],
  [
    'a client of node-redis',
    () => lockOf(redisBackend({ client: emitter({ sendCommand: query }) })),
    'client.on',
  ],
])('%s without an error listener is told of once, with the line to add', async (_, make, line) => {
  make();
  await Promise.resolve();
  const lines = warn.mock.calls.filter((call: unknown[]) => String(call[0]).includes('error event'));
  expect(lines).toEqual([[expect.stringContaining(`Add: ${line}('error', () => {})`)]]);
});

it('a lock and a store of one client are told of once', async () => {
  const client = emitter({ query });
  lockOf(postgresBackend({ client }));
  storeOf(postgresBackend({ client }));
  await Promise.resolve();
  expect(warn).toHaveBeenCalledTimes(1);
});

it.each([
  [
    'a pool of mysql2, which hears its connections',
    () => lockOf(mysqlBackend({ client: emitter({ query, getConnection: query }) })),
  ],
  ['a client that is no emitter', () => lockOf(postgresBackend({ client: { query } as never }))],
  [
    'a client whose listener is added right after',
    () => {
      const client: EventEmitter = emitter({ query });
      lockOf(postgresBackend({ client: client as never }));
      client.on('error', () => {});
    },
  ],
])('there is no warning of %s', async (_, make) => {
  make();
  await Promise.resolve();
  expect(warn).not.toHaveBeenCalled();
});
