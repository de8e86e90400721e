import type { Signals } from '../cluster/signal-contract.ts';
import type { PostgresClient } from '../drivers/pg.ts';
import type { PostgresJsClient } from '../drivers/postgres-js.ts';
import type { Backend } from '../engine/backend.ts';
import { ownOptions } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { isSignals } from '../signals/create-signals.ts';
import { backendOn } from './backend.ts';
import { openPostgres } from './sql/open-postgres.ts';
import type { SqlOptions } from './sql/open-records.ts';
import { type PostgresListening, postgresSignals } from './sql/postgres-signals.ts';
import { TABLE } from './sql/table-name.ts';

export type { PostgresClient } from '../drivers/pg.ts';
export type { PostgresJsClient } from '../drivers/postgres-js.ts';
export type { Backend } from '../engine/backend.ts';
export { postgresTable } from './sql/open-postgres.ts';
export type { SqlOptions } from './sql/open-records.ts';
export type { PostgresListener } from './sql/postgres-signals.ts';

/** The options of {@link postgresBackend}. */
export interface PostgresBackendOptions extends Omit<BackendOptions, 'signals'>, SqlOptions {
  /**
   * A `Pool` of `pg`; or a connected `Client` without an open transaction; or the client of the package `postgres`
   * (postgres.js), without a `transform` of columns. You keep ownership: add an `error` listener to a pool of `pg`, as it
   * requires, and end it yourself. Kysely, Drizzle and Prisma are given such a client: pass the same one.
   */
  readonly client: PostgresClient | PostgresJsClient;
  /**
   * Notifies other instances of each change that a person or the code makes, by `NOTIFY`. An instance then queries the backend at its next
   * read, delayed by up to 5 ms per instance beyond ten. A connected `Client` of `pg` for signals alone, which sends and listens; or a
   * function that connects one and returns it, or a promise of it. A `Client` does not connect again when its connection is lost: the
   * function is called again then, at the next check or signal. You keep ownership: add an `error` listener, as `pg` requires, and end
   * it yourself. Give it `keepAlive: true`, so that it notices a connection that has gone silent, and a `connectionTimeoutMillis`: an
   * attempt to connect that never ends is waited for. Its connection does not keep the process alive (`unref`). Not a `Pool`: `LISTEN`
   * needs a connection of its own; nor through PgBouncer in transaction mode. The channel is `table` and `_signals`, the last 63
   * characters of it. Or signals over a channel of your own, of `createSignals`. @default none: instances query within `propagateWithin`
   */
  readonly signals?: PostgresListening | Signals | undefined;
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
 * With `signals` the other instances learn of `set`, `refresh` and `invalidate` in milliseconds:
 *
 * ```ts no-run
 * import pg from 'pg';
 * import { postgresBackend } from 'tickless/postgres';
 *
 * async function connect() {
 *   const client = new pg.Client({ keepAlive: true, connectionTimeoutMillis: 1000 });
 *   client.on('error', () => {}); // tickless logs it, and connects again
 *   await client.connect();
 *   return client;
 * }
 * const backend = postgresBackend({ client: new pg.Pool(), signals: connect });
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function postgresBackend(given: PostgresBackendOptions): Backend {
  const options = ownOptions(given ?? ({} as PostgresBackendOptions));
  const { table = TABLE, signals } = options;
  const channel = `${table}_signals`.slice(-LONGEST_CHANNEL);
  return backendOn(openPostgres, {
    ...options,
    signals: signals && (isSignals(signals) ? signals : postgresSignals(signals, channel)),
  });
}

/** Longer identifiers are cut. */
const LONGEST_CHANNEL = 63;
