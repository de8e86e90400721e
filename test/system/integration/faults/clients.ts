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
import type { SnapshotStore } from '../../../../src/cluster/store-contract.ts';
import { lockOf, storeOf } from '../../../support/parts.ts';

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
        lock: lockOf(redisBackend({ ...lockOptions, client })),
        store: storeOf(redisBackend({ ...storeOptions, client })),
        close: async () => client.disconnect(),
      };
    }
    case 'postgres': {
      const client = new pg.Pool({ connectionString: url, connectionTimeoutMillis: stepTimeout });
      client.on('error', () => {}); // an idle connection broke
      return {
        lock: lockOf(postgresBackend({ ...lockOptions, client })),
        store: storeOf(postgresBackend({ ...storeOptions, client })),
        close: () => client.end(),
      };
    }
    case 'mysql': {
      const client = createPool({ uri: url, connectTimeout: stepTimeout });
      return {
        lock: lockOf(mysqlBackend({ ...lockOptions, client })),
        store: storeOf(mysqlBackend({ ...storeOptions, client })),
        close: () => client.end(),
      };
    }
    case 'sqlite': {
      // While it waits for others, the whole process does.
      const client = new Database(url, { timeout: 50 });
      return {
        lock: lockOf(sqliteBackend({ ...lockOptions, client })),
        store: storeOf(sqliteBackend({ ...storeOptions, client })),
        close: async () => client.close(),
      };
    }
    case 'file':
      return {
        lock: lockOf(fileBackend({ ...lockOptions, directory: url })),
        store: storeOf(fileBackend({ ...storeOptions, directory: url })),
        close: async () => {},
      };
  }
}
