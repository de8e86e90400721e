import type { ElementOf } from '../data/id-of.ts';
import { keep, loaded } from '../index.ts';
import { ownMessageOf } from '../observe/logger.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { unlessAborted } from '../time/on-abort.ts';
import { optionTypes, typeShown } from './option-types.ts';
import type { QueryClient } from './queries/client-types.ts';
import { driverOf, openSession } from './queries/open-session.ts';
import { answerText, statementName } from './queries/row-text.ts';
import { checkSourceName, fittingNotes, namedSource, ownNotes, type Source } from './source.ts';

/** The options of {@link querySource}. */
export interface QuerySourceOptions<T, Row = Record<string, unknown>> {
  /**
   * A pool or a connection of `pg`, of `mysql2` (with promises or with callbacks), what `postgres(url)` returns, a `Database` of
   * `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. Prefer a pool. You keep ownership.
   */
  readonly client: QueryClient;
  /** One statement that returns rows: a `SELECT`. */
  readonly sql: string;
  /** The values of `sql`, by position, in the syntax of the driver: `$1` or `?`. @default none */
  readonly params?: readonly unknown[] | undefined;
  /**
   * A cheap query, without values, whose answer changes with the rows: `SELECT max(updated_at), count(*) FROM prices`. It is asked before
   * `sql`; while its answer is that of the value in place, that is kept, and `sql` is not asked. @default `sql` is asked each time
   */
  readonly changed?: string | undefined;
  /** Makes the value of the rows. An error that it throws fails the load. @default the rows, as an array of plain objects */
  readonly map?: ((rows: Row[]) => T | PromiseLike<T>) | undefined;
  /**
   * The identity of a record of a list, such as its code: a refused list and versions are compared by it.
   * @default a field `id`, `code`, `key` or `name` that tells those of both lists apart, else the content
   */
  readonly idOf?: ((element: ElementOf<T>) => unknown) | undefined;
  /** The most rows; with more the load fails. Pools and SQLite read no further than that. A whole number from 1; `Infinity`: no limit. @default 1_000_000 */
  readonly maxRows?: number | undefined;
  /**
   * How long the database works on a statement. Choose no more than the `timeout` of the value. Of a single connection: how long the
   * driver waits for its answer. Without meaning for SQLite, and for postgres.js: there give the client
   * `connection: { statement_timeout: 30_000 }`. Over 0; `Infinity`: no limit. @default 30 s
   */
  readonly timeout?: DurationLike | undefined;
  /**
   * The name of the source in `meta` and in errors. Give one where two databases are asked the same. At most 500 characters.
   * @default the statement, cut to 200 characters; with a hash of its values, which are not shown
   */
  readonly source?: string | undefined;
}

const NAMES: readonly (keyof QuerySourceOptions<unknown>)[] = [
  'client',
  'sql',
  'params',
  'changed',
  'map',
  'idOf',
  'maxRows',
  'timeout',
  'source',
];

/**
 * A source that reads the rows of a query.
 *
 * On a pool of `pg` or `mysql2` each load is a read-only transaction on a connection of its own: `changed` and `sql` see one
 * snapshot, and `timeout` and `maxRows` are bounds at the server. A statement that would change something is refused there, and by SQLite. A single connection, which others use too, postgres.js and SQLite
 * get the statements as they are, `changed` first: an edit between the two is seen by the next load.
 *
 * The load fails, and the value in place stays, when the database is down, refuses or ends a statement, or has more rows than
 * `maxRows`, and when `map` throws. When its signal is aborted, the connection of a pool is closed; the database works on the
 * statement until `timeout` at most.
 *
 * ```ts no-run
 * import pg from 'pg';
 * import { RefreshingValue } from 'tickless';
 * import { querySource } from 'tickless/sources';
 *
 * const client = new pg.Pool({ max: 5 });
 * client.on('error', () => {}); // else the process ends when a connection that rests breaks
 * const countries = new RefreshingValue({
 *   name: 'countries',
 *   load: querySource({
 *     client,
 *     sql: 'SELECT code, name FROM countries',
 *     changed: 'SELECT max(updated_at), count(*) FROM countries',
 *     map: (rows) => new Map(rows.map(({ code, name }) => [code, name])),
 *   }),
 *   schedule: '1m',
 * });
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function querySource<Row = Record<string, unknown>, T = Row[]>(
  options: QuerySourceOptions<T, Row>,
): Source<T> {
  const checks = new OptionChecks('querySource');
  const isObject = typeof options === 'object' && options !== null && driverOf(options) === undefined;
  checks.that(isObject, 'options', 'must be an object: { client, sql }', typeShown(options));
  const given = ownOptions(isObject ? options : {}) as QuerySourceOptions<T, Row>;
  const { client, sql, params = [], changed, maxRows = 1_000_000, timeout = 30_000, source } = given;
  const { map = (rows) => rows as T, idOf } = given;
  checks.names('', optionTypes(given), NAMES);
  const isKnown = driverOf(client) !== undefined;
  const clients = 'must be a client of pg, postgres.js, mysql2, better-sqlite3 or node:sqlite';
  checks.that(isKnown, 'client', clients, typeShown(client)); // it may hold a password
  checks.name('sql', sql);
  checks.that(Array.isArray(params), 'params', 'must be an array', typeShown(params));
  if (changed !== undefined) checks.name('changed', changed);
  checks.function('map', map);
  if (idOf !== undefined) checks.function('idOf', idOf);
  checks.count('maxRows', maxRows, Infinity);
  const timeoutMs = checks.duration('timeout', timeout);
  checkSourceName(checks, source);
  checks.done();
  const session = openSession(client, { timeoutMs, maxRows });
  const statement = { sql, params };

  return namedSource({ name: source ?? 'the query', idOf }, async (context) => {
    const { signal } = context;
    signal.throwIfAborted();
    const name = source ?? (await statementName(statement));
    const answerBefore = ownNotes(context, name)?.changed;
    let asked = 'query';
    const load = session(signal, async (query) => {
      if (changed !== undefined) asked = 'changed';
      const answer =
        changed === undefined
          ? undefined
          : await answerText(await query({ sql: changed, params: [], isRaw: true }));
      if (answer !== undefined && answer === answerBefore) return undefined;
      asked = 'query';
      const rows = await query(statement);
      if (rows.length > maxRows) throw new Error(`it has more than maxRows (${maxRows}) rows`);
      return { rows, answer };
    });
    const read = await unlessAborted(load, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new Error(`${asked} failed: ${ownMessageOf(error)} (${name})`, { cause: error });
    });
    if (read === undefined) return keep();
    const notes = { source: name, ...(read.answer !== undefined && { changed: read.answer }) };
    try {
      return loaded(await map(read.rows.map(plain) as Row[]), { meta: fittingNotes(notes) });
    } catch (error) {
      throw new Error(`map failed: ${ownMessageOf(error)} (${name})`, { cause: error });
    }
  });
}

/** Rows of some drivers are of classes, or have no prototype. A store keeps plain objects. */
function plain(row: unknown): unknown {
  return typeof row === 'object' && row !== null && !Array.isArray(row) ? { ...row } : row;
}
