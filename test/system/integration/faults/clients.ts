import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { fileLock, fileStore } from '../../../../src/backends/file.ts';
import { mysqlLock, mysqlStore } from '../../../../src/backends/mysql.ts';
import { postgresLock, postgresStore } from '../../../../src/backends/postgres.ts';
import { redisLock, redisStore } from '../../../../src/backends/redis.ts';
import { sqliteLock, sqliteStore } from '../../../../src/backends/sqlite.ts';
import type { LockProvider } from '../../../../src/cluster/lock-contract.ts';
import type { SnapshotStore } from '../../../../src/cluster/store-contract.ts';

export type Engine = 'redis' | 'postgres' | 'mysql' | 'sqlite' | 'file';

/** A lock and a store with a client of their own. */
export interface Shared {
  readonly lock: LockProvider;
  readonly store: SnapshotStore;
  close(): Promise<unknown>;
}

interface SharedOptions {
  readonly leaseFor: number;
  /** Of one step; a client that waits for a connection longer than that is of no use. */
  readonly stepTimeout: number;
}

/** The lock and the store that services use, as they would make them, but that their clients try again soon. */
export function openShared(engine: Engine, url: string, { leaseFor, stepTimeout }: SharedOptions): Shared {
  const lockOptions = { leaseFor, timeout: stepTimeout };
  const storeOptions = { timeout: stepTimeout };
  switch (engine) {
    case 'redis': {
      // Without socketTimeout it would stay for minutes with a connection that hears nothing any more.
      const client = new Redis(url, {
        retryStrategy: () => 100,
        connectTimeout: stepTimeout,
        socketTimeout: 0.8 * stepTimeout,
      });
      client.on('error', () => {}); // it connects again by itself
      return {
        lock: redisLock({ ...lockOptions, client }),
        store: redisStore({ ...storeOptions, client }),
        close: async () => client.disconnect(),
      };
    }
    case 'postgres': {
      const client = new pg.Pool({ connectionString: url, connectionTimeoutMillis: stepTimeout });
      client.on('error', () => {}); // an idle connection broke
      return {
        lock: postgresLock({ ...lockOptions, client }),
        store: postgresStore({ ...storeOptions, client }),
        close: () => client.end(),
      };
    }
    case 'mysql': {
      const client = createPool({ uri: url, connectTimeout: stepTimeout });
      return {
        lock: mysqlLock({ ...lockOptions, client }),
        store: mysqlStore({ ...storeOptions, client }),
        close: () => client.end(),
      };
    }
    case 'sqlite': {
      // While it waits for others, the whole process does.
      const client = new Database(url, { timeout: 50 });
      return {
        lock: sqliteLock({ ...lockOptions, client }),
        store: sqliteStore({ ...storeOptions, client }),
        close: async () => client.close(),
      };
    }
    case 'file':
      return {
        lock: fileLock({ ...lockOptions, directory: url }),
        store: fileStore({ ...storeOptions, directory: url }),
        close: async () => {},
      };
  }
}
