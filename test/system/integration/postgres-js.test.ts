import { setTimeout as sleep } from 'node:timers/promises';
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import pg from 'pg';
import postgres from 'postgres';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { lockOf, storeOf } from '../../support/parts.ts';

const { url } = inject('postgres');
const table = `clients_${process.pid}`;
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

function client(options: postgres.Options<Record<string, never>> = {}): postgres.Sql {
  const sql = postgres(url, { onnotice: () => {}, ...options });
  // Not at once: a connection that is being opened, for a purge, first asks for types, and nothing handles the rejection
  // of that query.
  ended.push(() => sql.end({ timeout: 5 }));
  return sql;
}

describe('postgres.js', () => {
  it('a client whose connections are all reserved: what nobody waits for any more is not run', async () => {
    const sql = client({ max: 1 });
    const lock = lockOf(postgresBackend({ client: sql, table, timeout: 200 }));
    const other = lockOf(postgresBackend({ client: client(), table }));
    await other.inspect('table');
    const reserved = await sql.reserve();
    await expect(lock.acquire({ name: 'late' })).rejects.toMatchObject({
      code: 'BACKEND_DOWN',
    });
    await sleep(500); // commands of members may wait longer than the caller
    reserved.release();
    await sleep(100);
    expect(await other.inspect('late')).toBeUndefined();
    expect(await lock.acquire({ name: 'in time' })).toMatchObject({ kind: 'acquired' });
  });

  it('refuses a client that renames columns', () => {
    const renaming = client({ transform: postgres.camel });
    const expected = expect.objectContaining({ code: 'OPTION' });
    expect(() => lockOf(postgresBackend({ client: renaming }))).toThrow(expected);
    expect(() => storeOf(postgresBackend({ client: renaming }))).toThrow(expected);
    expect(() => lockOf(postgresBackend({ client: (() => {}) as never }))).toThrow(expected);
  });
});

describe('Drizzle', () => {
  it.each([
    ['pg', () => drizzleOnPg(new pg.Pool({ connectionString: url }))],
    ['postgres.js', () => drizzleOnPostgresJs(client())],
  ])('its client of %s is one of the lock and of the store', async (name, connect) => {
    const { $client } = connect();
    if ('totalCount' in $client) ended.push(() => $client.end());
    const lock = lockOf(postgresBackend({ client: $client, table }));
    expect(await lock.acquire({ name })).toMatchObject({ kind: 'acquired' });
    const store = storeOf(postgresBackend({ client: $client, table: `${table}_store` }));
    const { version } = await store.write(name, 'payload');
    expect(await store.read(name)).toMatchObject({ version, payload: 'payload' });
  });
});
