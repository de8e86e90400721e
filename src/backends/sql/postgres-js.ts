import { warnWithoutErrorListener } from '../../drivers/error-listener.ts';
import {
  isPgPool,
  type PostgresClient,
  type PostgresCommand,
  type PostgresResult,
} from '../../drivers/pg.ts';
import { ALONE, cancelIfQueued, isPostgresJs, type PostgresJsClient } from '../../drivers/postgres-js.ts';
import { warnOnce } from '../../drivers/warn-once.ts';
import { OptionChecks } from '../../option-checks.ts';
import { systemClock } from '../../time/clock.ts';
import { LONGEST_KEPT } from './client.ts';

/**
 * A client of `pg` as it is, or one of postgres.js in the place of it.
 *
 * @throws {TicklessError} `OPTION` when it is neither, or has a transform.
 */
export function postgresClient(client: PostgresClient | PostgresJsClient | undefined): PostgresClient {
  const checks = new OptionChecks('backend');
  const isJs = isPostgresJs(client);
  if (isJs)
    checks.that(
      !hasTransform(client),
      'client',
      'must be without a transform of columns, values or rows',
      'one with it',
    );
  else checks.methods('client', client, ['query']);
  checks.done();
  if (!isJs) warnWithoutErrorListener(client as PostgresClient, "pool.on('error', () => {})");
  if (!isJs && isOneConnection(client as PostgresClient))
    warnOnce(
      'the client of pg is one connection, which is not replaced when it breaks or its server becomes read-only. Give it a pool: new Pool()',
    );
  return isJs ? { query: (command) => send(client, command) } : (client as PostgresClient);
}

/** A `Client` or a `PoolClient` of pg. */
function isOneConnection(client: PostgresClient): boolean {
  return !isPgPool(client) && 'connectionParameters' in client;
}

/** It would rename the columns of the rows, or change their values. */
function hasTransform(client: PostgresJsClient): boolean {
  const { transform = {} } =
    (client as { readonly options?: { readonly transform?: Transform } }).options ?? {};
  return [transform.column, transform.value, transform.row].some((one) => one?.from !== undefined);
}

type Transform = Readonly<Partial<Record<'column' | 'value' | 'row', { readonly from?: unknown }>>>;

/** A query that is still in the queue at its timeout is never sent. One that was sent is answered late, or not at all. */
async function send(
  client: PostgresJsClient,
  { text, values, query_timeout: timeoutMs = Infinity }: PostgresCommand,
): Promise<PostgresResult> {
  // A statement that is prepared needs one round trip, any other one two. A client with `prepare: false` prepares none.
  const options = { prepare: text.length <= LONGEST_KEPT, ...(values.length === 0 && ALONE) };
  const query = client.unsafe(text, values as never[], options);
  const timer = systemClock.setTimeout(() => cancelIfQueued(query), timeoutMs);
  try {
    const result = await query;
    return { rows: result as unknown as unknown[], rowCount: result.count };
  } finally {
    timer.cancel();
  }
}
