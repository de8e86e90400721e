import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { fileBackend } from '../../../../src/backends/file.ts';
import { mysqlBackend } from '../../../../src/backends/mysql.ts';
import { postgresBackend } from '../../../../src/backends/postgres.ts';
import { redisBackend } from '../../../../src/backends/redis.ts';
import { sqliteBackend } from '../../../../src/backends/sqlite.ts';
import type { LockProvider } from '../../../../src/cluster/lock-contract.ts';
import type { Store } from '../../../../src/cluster/store-contract.ts';
import type { Backend } from '../../../../src/engine/backend.ts';
import type { BackendOptions } from '../../../../src/records/backend-options.ts';
import { lockOf, storeOf } from '../../../support/parts.ts';

export type Engine = 'redis' | 'postgres' | 'mysql' | 'sqlite' | 'file';

/** A lock and a store with a client of their own. */
export interface Shared {
  readonly lock: LockProvider;
  readonly store: Store;
  close(): Promise<unknown>;
}

interface SharedOptions {
  readonly leaseFor: number;
  /** Of one step; a client that waits for a connection longer than that is of no use. */
  readonly stepTimeout: number;
}

/** The lock and the store that services use, as they would make them, but that their clients try again soon. */
export function openShared(engine: Engine, url: string, { leaseFor, stepTimeout }: SharedOptions): Shared {
  const shared = (open: (options: BackendOptions) => Backend, close: Shared['close']): Shared => {
    const backend = open({ timeout: stepTimeout, leaseFor });
    return { lock: lockOf(backend), store: storeOf(backend), close };
  };
  switch (engine) {
    case 'redis': {
      // Without socketTimeout it would stay for minutes with a connection that hears nothing any more.
      const client = new Redis(url, {
        retryStrategy: () => 100,
        connectTimeout: stepTimeout,
        socketTimeout: 0.8 * stepTimeout,
      });
      client.on('error', () => {}); // it connects again by itself
      return shared(
        (own) => redisBackend({ ...own, client }),
        async () => client.disconnect(),
      );
    }
    case 'postgres': {
      const client = new pg.Pool({ connectionString: url, connectionTimeoutMillis: stepTimeout });
      client.on('error', () => {}); // an idle connection broke
      return shared(
        (own) => postgresBackend({ ...own, client }),
        () => client.end(),
      );
    }
    case 'mysql': {
      const client = createPool({ uri: url, connectTimeout: stepTimeout });
      return shared(
        (own) => mysqlBackend({ ...own, client }),
        () => client.end(),
      );
    }
    case 'sqlite': {
      // While it waits for others, the whole process does.
      const client = new Database(url, { timeout: 50 });
      return shared(
        (own) => sqliteBackend({ ...own, client }),
        async () => client.close(),
      );
    }
    case 'file':
      return shared(
        (own) => fileBackend({ ...own, directory: url }),
        async () => {},
      );
  }
}
