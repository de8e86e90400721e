import type { PostgresClient } from '../drivers/pg.ts';
import type { PostgresJsClient } from '../drivers/postgres-js.ts';
import type { Backend } from '../engine/backend.ts';
import { ownOptions } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { backendOn } from './backend.ts';
import { openPostgres } from './sql/open-postgres.ts';
import type { SqlOptions } from './sql/open-records.ts';
import { type PostgresHintsOptions, postgresHints } from './sql/postgres-hints.ts';

export type { Hints } from '../cluster/hint-contract.ts';
export type { PostgresClient, PostgresCommand, PostgresResult } from '../drivers/pg.ts';
export type { PostgresJsClient, PostgresJsQuery, PostgresJsResult } from '../drivers/postgres-js.ts';
export type { Backend } from '../engine/backend.ts';
export { postgresTable } from './sql/open-postgres.ts';
export type { SqlOptions } from './sql/open-records.ts';
export type { PostgresListener, PostgresNotification } from './sql/postgres-hints.ts';
export { type PostgresHintsOptions, postgresHints };

/** The options of {@link postgresBackend}. */
export interface PostgresBackendOptions extends BackendOptions, SqlOptions {
  /**
   * A `Pool` of `pg`; or a connected `Client` without an open transaction; or the client of the package `postgres`
   * (postgres.js), without a `transform` of columns. You keep ownership: add an `error` listener to a pool of `pg`, as it
   * requires, and end it yourself. Kysely, Drizzle and Prisma are given such a client: pass the same one.
   */
  readonly client: PostgresClient | PostgresJsClient;
  /**
   * A connected `Client` of `pg` for hints alone, or a function that connects one, as of {@link postgresHints}, on its channel. In place
   * of the option `hints`. @default none: no hints are sent
   */
  readonly listener?: PostgresHintsOptions['client'] | undefined;
}

/**
 * A backend in a table of PostgreSQL, version 9.5 or later. Each step is one command, which is a transaction of its own.
 * Only the server's clock decides. Instances that share the table share the backend.
 *
 * A command without a reply within `timeout` is abandoned, and a pool closes its connection. A command that waits
 * longer than that for a connection of an exhausted pool is never sent; nor is one in the queue of a single `Client`.
 * postgres.js sends commands on busy connections too: one that was sent may take effect later, and its lease is given back then.
 * Names are at most 1024 bytes long, and compared byte by byte. Names and payloads can't contain U+0000; JSON escapes it.
 *
 * The table is created on first use if it is missing. If the user has no right to do so, create it beforehand with
 * {@link postgresTable}; the user then needs SELECT, INSERT, UPDATE and DELETE. Earlier versions (`keepVersions`) and the
 * reports of instances are rows of the same table.
 *
 * ```ts no-run
 * import { Pool } from 'pg';
 * import { RefreshingValue } from 'tickless';
 * import { postgresBackend } from 'tickless/postgres';
 *
 * const backend = postgresBackend({ client: new Pool() });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * With a `listener` it has hints too: the other instances learn of `set`, `refresh` and `invalidate` in milliseconds.
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function postgresBackend(given: PostgresBackendOptions): Backend {
  const { listener, ...options } = ownOptions(given ?? ({} as PostgresBackendOptions));
  const { hints = listener && postgresHints({ client: listener }) } = options;
  return backendOn(openPostgres, { ...options, hints });
}
