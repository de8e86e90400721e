import { Redis } from 'ioredis';
import { createPool as createCallbackPool } from 'mysql2';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import postgresJs from 'postgres';
import { createClient } from 'redis';
import { type MysqlClient, mysqlBackend } from '../../../../src/backends/mysql.ts';
import {
  type PostgresClient,
  type PostgresJsClient,
  postgresBackend,
} from '../../../../src/backends/postgres.ts';
import type { RedisClient } from '../../../../src/backends/redis/client.ts';
import { redisBackend } from '../../../../src/backends/redis.ts';
import { MysqlSql } from '../../../../src/backends/sql/mysql.ts';
import { openMysql } from '../../../../src/backends/sql/open-mysql.ts';
import type { Store } from '../../../../src/cluster/store-contract.ts';
import type { BackendOptions } from '../../../../src/records/backend-options.ts';
import type { Lock } from '../../../../src/records/lock/create-lock.ts';
import { NAME, type Part } from '../../../../src/records/names.ts';
import { changedText, type FieldsChange } from '../../../support/cell-text.ts';
import type { DamagedField } from '../../../support/lock-conformance/index.ts';
import { lockOf, type Parts, partsOf, partsOn, storeOf } from '../../../support/parts.ts';
import { postdated, sqlDamage, sqlPostdated, textDamage } from './edits.ts';
import type { ServerKind } from './servers.ts';

/** A client of a server, as an application has it. */
export interface Connected {
  /** @param space what separates it from others on the server: its table or its prefix is named after it. */
  lock(space: string, options?: BackendOptions): Lock;
  store(space: string, options?: BackendOptions): Store;
  /** Both of one backend, at the place of the lock. */
  open(space: string, options?: BackendOptions): Parts;
  /** Forgets the record of a name, as if the engine had lost it. */
  forget(space: string, name: string): Promise<void>;
  /** Edits a field of the record of a name. */
  damage(space: string, name: string, field: DamagedField): Promise<void>;
  /** Makes the snapshot of a name look as if it was written later. */
  postdate(space: string, name: string, ms: number): Promise<void>;
  /** Closes the client as its documentation says. */
  close(): Promise<unknown>;
  /** Closes it also where the server does not answer. */
  destroy(): void;
}

/** A kind of client, with the adapters for it. */
export interface Backend {
  readonly name: string;
  readonly engine: ServerKind;
  /** Does the client connect again by itself? @default true */
  readonly reconnects?: boolean;
  /** Commands that an acquire takes, once all is warm. @default 1 */
  readonly acquireCommands?: number;
  /** Does not wait for the server, unless the client has to be connected by hand. */
  connect(url: string): Promise<Connected>;
}

/** The name of the table of a lock; that of a store has `_store`. */
export const lockTable = (space: string): string => `${space}_lock`;
export const storeTable = (space: string): string => `${space}_store`;
const lockPrefix = (space: string): string => `${space}:lock:`;
const storePrefix = (space: string): string => `${space}:store:`;
export const lockKey = (space: string, name: string): string => lockPrefix(space) + NAME + name;
export const snapshotKey = (space: string, name: string): string => storePrefix(space) + NAME + name;

// A client that can't be reached tells so by events, which its user listens to.
const ignore = (): void => {};

/** Waits for a connection for a while. */
async function soon(connected: Promise<unknown>): Promise<void> {
  await Promise.race([connected.catch(ignore), new Promise((resolve) => setTimeout(resolve, 300))]);
}

/** The adapters, and what is done to their records. */
type Adapters = Omit<Connected, 'close' | 'destroy'>;

/** The commands of a client that edit a hash: of ioredis, or of node-redis. */
type HashClient =
  | {
      del(key: string): Promise<unknown>;
      hget(key: string, field: string): Promise<unknown>;
      hset(key: string, field: string, value: string): Promise<unknown>;
    }
  | {
      del(key: string): Promise<unknown>;
      hGet(key: string, field: string): Promise<unknown>;
      hSet(key: string, field: string, value: string): Promise<unknown>;
    };

export function redis(client: RedisClient & HashClient): Adapters {
  return {
    open: (space, options) => partsOf(redisBackend({ client, prefix: lockPrefix(space), ...options })),
    lock: (space, options) => lockOf(redisBackend({ client, prefix: lockPrefix(space), ...options })),
    store: (space, options) => storeOf(redisBackend({ client, prefix: storePrefix(space), ...options })),
    async forget(space, name) {
      await client.del(lockKey(space, name));
    },
    damage: (space, name, field) => editRecord(client, lockKey(space, name), 'lock', () => textDamage(field)),
    postdate: (space, name, ms) =>
      editRecord(client, snapshotKey(space, name), 'snapshot', (record) => postdated(record, ms)),
  };
}

/** Changes fields of a part of the text of a key. */
export async function editRecord(
  client: HashClient,
  key: string,
  part: Part,
  change: FieldsChange,
): Promise<void> {
  const text = await ('hget' in client ? client.hget(key, 'record') : client.hGet(key, 'record'));
  const edited = changedText(String(text), part, change);
  await ('hset' in client ? client.hset(key, 'record', edited) : client.hSet(key, 'record', edited));
}

/** @param query of the same server, where the client itself is not one of `pg`. */
function postgres(
  client: PostgresClient | PostgresJsClient,
  query: (text: string, name: string) => PromiseLike<unknown> = (text, name) =>
    (client as PostgresClient).query({ text, values: [name] }),
): Adapters {
  return {
    open: (space, options) => partsOf(postgresBackend({ client, table: lockTable(space), ...options })),
    lock: (space, options) => lockOf(postgresBackend({ client, table: lockTable(space), ...options })),
    store: (space, options) => storeOf(postgresBackend({ client, table: storeTable(space), ...options })),
    async forget(space, name) {
      await query(`DELETE FROM "${lockTable(space)}" WHERE name = '${NAME}' || $1`, name);
    },
    async damage(space, name, field) {
      await query(
        `UPDATE "${lockTable(space)}" SET ${sqlDamage('postgres', field)} WHERE name = '${NAME}' || $1`,
        name,
      );
    },
    async postdate(space, name, ms) {
      await query(
        `UPDATE "${storeTable(space)}" SET ${sqlPostdated('postgres', 'snapshot', ms)} WHERE name = '${NAME}' || $1`,
        name,
      );
    },
  };
}

function mysql(client: MysqlClient): Adapters {
  const edit = (sql: string, name: string) =>
    new MysqlSql(client, 3000).change(`${sql} WHERE name = :name`, { name });
  return {
    open: (space, options) => partsOf(mysqlBackend({ client, table: lockTable(space), ...options })),
    lock: (space, options) => lockOf(mysqlBackend({ client, table: lockTable(space), ...options })),
    store: (space, options) => storeOf(mysqlBackend({ client, table: storeTable(space), ...options })),
    async forget(space, name) {
      await edit(`DELETE FROM ${lockTable(space)}`, NAME + name);
    },
    async damage(space, name, field) {
      await edit(`UPDATE ${lockTable(space)} SET ${sqlDamage('mysql', field)}`, NAME + name);
    },
    async postdate(space, name, ms) {
      await edit(`UPDATE ${storeTable(space)} SET ${sqlPostdated('mysql', 'snapshot', ms)}`, NAME + name);
    },
  };
}

/** A lock of MariaDB as one of MySQL: without blocks each change and its answer are two commands. */
export function lockWithoutBlocks(client: MysqlClient, table: string, options: BackendOptions = {}): Lock {
  return partsWithoutBlocks(client, table, options).lock;
}

/** A store of MariaDB as one of MySQL: the statements of a write are queued one after the other. */
export function storeWithoutBlocks(client: MysqlClient, table: string, options: BackendOptions = {}): Store {
  return partsWithoutBlocks(client, table, options).store;
}

function partsWithoutBlocks(client: MysqlClient, table: string, options: BackendOptions = {}): Parts {
  const { records, ...kind } = openMysql({ client, table, ...options }, false);
  return partsOn(records, { ...options }, kind);
}

export const postgresPool: Backend = {
  name: 'PostgreSQL with a pool',
  engine: 'postgres',
  async connect(url) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', ignore);
    return { ...postgres(pool), close: () => pool.end(), destroy: () => void pool.end().catch(ignore) };
  },
};

/** @param options further ones of the client. */
export function postgresJsBackend(options: postgresJs.Options<Record<string, never>> = {}): Backend {
  return {
    name: 'PostgreSQL with postgres.js',
    engine: 'postgres',
    async connect(url) {
      const sql = postgresJs(url, { onnotice: ignore, fetch_types: false, ...options });
      return {
        ...postgres(sql, (text, name) => sql.unsafe(text, [name])),
        close: () => sql.end(),
        destroy: () => void sql.end({ timeout: 0 }).catch(ignore),
      };
    },
  };
}

/** All of them. */
export const backends: readonly Backend[] = [
  {
    name: 'Redis with ioredis',
    engine: 'redis',
    async connect(url) {
      const client = new Redis(url);
      client.on('error', ignore);
      return {
        ...redis(client),
        close: () => client.quit(),
        destroy: () => client.disconnect(),
      };
    },
  },
  {
    name: 'Redis with node-redis',
    engine: 'redis',
    async connect(url) {
      const client = createClient({ url });
      client.on('error', ignore);
      await soon(client.connect()); // it goes on trying by itself
      return {
        ...redis(client),
        close: () => client.close(),
        destroy: () => {
          if (client.isOpen) client.destroy();
        },
      };
    },
  },
  postgresPool,
  {
    name: 'PostgreSQL with a single client',
    engine: 'postgres',
    reconnects: false,
    async connect(url) {
      const client = new pg.Client(url);
      client.on('error', ignore);
      await soon(client.connect());
      return {
        ...postgres(client),
        close: () => client.end(),
        destroy: () => void client.end().catch(ignore),
      };
    },
  },
  postgresJsBackend(),
  {
    name: 'MariaDB with a pool of promises',
    engine: 'mariadb',
    async connect(url) {
      const pool = createPool(url);
      return { ...mysql(pool), close: () => pool.end(), destroy: () => void pool.end().catch(ignore) };
    },
  },
  {
    name: 'MariaDB with a pool of callbacks',
    engine: 'mariadb',
    async connect(url) {
      const pool = createCallbackPool(url);
      return {
        ...mysql(pool),
        close: () => pool.promise().end(),
        destroy: () => pool.end(ignore),
      };
    },
  },
  {
    name: 'MariaDB as MySQL, without blocks',
    engine: 'mariadb',
    acquireCommands: 2,
    async connect(url) {
      const pool = createPool(url);
      return {
        ...mysql(pool),
        open: (space, options) => partsWithoutBlocks(pool, lockTable(space), options),
        lock: (space, options) => lockWithoutBlocks(pool, lockTable(space), options),
        store: (space, options) => storeWithoutBlocks(pool, storeTable(space), options),
        close: () => pool.end(),
        destroy: () => void pool.end().catch(ignore),
      };
    },
  },
];
