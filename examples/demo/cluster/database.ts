import { createRequire } from 'node:module';
import { type Backend, type PostgresClient, postgresBackend } from 'tickless/postgres';
import type { RealServer } from '../../../test/system/integration/support/servers/server.ts';
import { codec } from './codec.ts';

/** The little that the demo uses of `pg`. */
interface Pool extends PostgresClient {
  on(type: 'error', listener: () => void): void;
}

type PoolClass = new (options: { readonly connectionString: string; readonly max: number }) => Pool;

// PostgreSQL and its driver are packages apart, which everybody's `npm ci` does not bring. So nothing here may depend on
// their types.
const { href: packages } = new URL('packages/package.json', import.meta.url);
const servers = new URL('../../../test/system/integration/support/servers/', import.meta.url);

/** Starts a PostgreSQL of our own, with an empty database. */
export async function startDatabase(): Promise<RealServer> {
  const { href } = new URL('postgres.ts', servers);
  const { startPostgres } = (await import(href)) as {
    startPostgres(options: undefined, from: string): Promise<RealServer>;
  };
  return startPostgres(undefined, packages);
}

/** A pool of connections to the database. */
export function connect(connectionString: string): PostgresClient {
  const { Pool } = createRequire(packages)('pg') as { Pool: PoolClass };
  const pool = new Pool({ connectionString, max: 3 });
  pool.on('error', () => {}); // an idle connection broke; the pool replaces it
  return pool;
}

/** The backend that all instances share. */
export function backendIn(client: PostgresClient, leaseFor: number): Backend {
  return postgresBackend({ client, leaseFor, codec, keepVersions: 5 });
}
