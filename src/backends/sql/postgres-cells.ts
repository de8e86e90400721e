import { digestOf } from '../../cluster/digest.ts';
import { randomId } from '../../cluster/identity.ts';
import type { Change } from '../../records/cells/cells.ts';
import { systemClock } from '../../time/clock.ts';
import { durationParameter, type SqlParameters } from './client.ts';
import type { PostgresSql } from './postgres.ts';
import { type CellStatements, keptFor } from './sql-cells.ts';
import { PURGED_NAMES, type SqlTableOptions } from './sql-table.ts';

// Each statement runs outside of a transaction block, so it is a transaction of its own.

/** Read once per statement: clock_timestamp() advances within a statement, and now() is fixed within a transaction. */
const CLOCK = 'clock AS (SELECT clock_timestamp() AS now)';
const NOW = 'extract(epoch FROM now) * 1000';

/**
 * The changes as rows: some clients would encode a parameter of type json once more. The texts after them, and the longest long text, are
 * parameters of their own, which neither side escapes or parses.
 */
const GIVEN = `given AS (SELECT * FROM ROWS FROM (json_to_recordset(:changes::text::json) AS (i int, name text, look boolean, whole boolean,
  known text, before text, gone boolean, main text, id text, long text, keep float8, drops json),
  unnest(string_to_array(:texts::text, :separator::text))) AS g(i, name, look, whole, known, before, gone, main, id, long, keep, drops, given_text))`;

const LOOKED = `given AS (SELECT * FROM json_to_recordset(:changes::text::json) AS g(i int, name text, look boolean, whole boolean, known text))`;

/** A swap that has waited for its rows for longer than its caller did changes nothing: its lease would have no holder. */
const IS_IN_TIME = `extract(epoch FROM (now - statement_timestamp())) * 1000 <= :patience::float8`;

/** Answers are texts: each client reads those alike, whatever its parsers of numbers and booleans are. */
const asText = (value: string): string => `(${value})::text`;

/** As `digestOf`. */
const digestIn = (column: string): string => `encode(sha256(convert_to(${column}, 'UTF8')), 'hex')`;

/** The kinds of changes in a statement. */
interface Kinds {
  readonly looks: boolean;
  readonly inserts: boolean;
  readonly updates: boolean;
  readonly deletes: boolean;
  readonly adds: boolean;
  readonly drops: boolean;
  /** Swaps that return the main text where they are not done. */
  readonly wholes: boolean;
}

/** @param table a result of `tableName`. */
export function postgresCells(client: PostgresSql, table: string): CellStatements {
  return {
    sharesCommands: true,
    isDenied: (error) => client.isDenied(error),
    swap(changes, endAt) {
      const kinds = kindsOf(changes);
      const given = parametersOf(changes);
      const patience = durationParameter(Math.max(0, endAt - systemClock.monotonic()));
      return kinds === undefined
        ? client.query(`WITH ${CLOCK}, ${LOOKED} ${looks(table)}`, given, endAt)
        : client.query(swaps(table, kinds), { ...given, patience }, endAt);
    },
    long: (name, ids, most, endAt) =>
      client.query(
        `WITH ${CLOCK} SELECT r.part, left(r.body, :most::int) AS body, ${asText(NOW)} AS now FROM clock
          CROSS JOIN json_array_elements_text(:ids::text::json) AS given(id)
          LEFT JOIN ${table} AS r ON r.name = :name AND r.part = given.id`,
        { name, ids: JSON.stringify(ids), most },
        endAt,
      ),
    list: (range, endAt) =>
      client.query(
        `WITH ${CLOCK} SELECT r.name, r.body, ${asText(NOW)} AS now FROM clock LEFT JOIN LATERAL (SELECT name, body FROM ${table}
          WHERE name >= :prefix AND name < :end AND part = '' AND (expires_at IS NULL OR expires_at > clock.now)
          ORDER BY name LIMIT :limit) AS r ON TRUE`,
        range,
        endAt,
      ),
  };
}

function looks(table: string): string {
  return `SELECT ${asText('g.i')} AS i, 'false' AS is_done, r.body, p.body AS main, ${asText(NOW)} AS now FROM given AS g CROSS JOIN clock
    LEFT JOIN ${table} AS r ON r.name = g.name AND r.part = ''
    LEFT JOIN ${table} AS p ON g.whole AND p.name = r.name AND p.part = r.main AND p.part IS DISTINCT FROM g.known
    WHERE g.look`;
}

/** With OFFSET 0 the server decides on all swaps before it makes any. */
function swaps(table: string, kinds: Kinds): string {
  const steps = [
    GIVEN,
    `locked AS (SELECT r.name, r.body, r.main FROM given AS g JOIN ${table} AS r ON r.name = g.name AND r.part = ''
      WHERE NOT g.look ORDER BY r.name FOR UPDATE OF r)`,
    // After the locks: it has waited for them.
    'clock AS (SELECT clock_timestamp() AS now FROM (SELECT count(*) FROM locked) AS all_of_them)',
    `judged AS (SELECT g.*, CASE WHEN NOT g.gone THEN coalesce(g.given_text, '') END AS after, l.body, l.main AS present_main, now, now + g.keep * interval '1 millisecond' AS expires_at,
      ${digestIn('l.body')} IS NOT DISTINCT FROM g.before AND ${IS_IN_TIME} AS is_same
      FROM given AS g CROSS JOIN clock LEFT JOIN locked AS l ON l.name = g.name WHERE NOT g.look OFFSET 0)`,
    ...(kinds.inserts
      ? [
          // Of a name that another session has inserted meanwhile it returns nothing: that text is looked at next.
          `inserted AS (INSERT INTO ${table} (name, part, body, main, expires_at) SELECT name, '', after, main, expires_at FROM judged
            WHERE is_same AND before IS NULL ORDER BY name ON CONFLICT DO NOTHING RETURNING name)`,
        ]
      : []),
    ...(kinds.updates
      ? [
          `updated AS (UPDATE ${table} AS r SET body = j.after, main = j.main, expires_at = j.expires_at FROM judged AS j
            WHERE r.name = j.name AND r.part = '' AND j.is_same AND j.before IS NOT NULL AND j.after IS NOT NULL RETURNING r.name)`,
        ]
      : []),
    ...(kinds.deletes
      ? [
          `deleted AS (DELETE FROM ${table} AS r USING judged AS j WHERE r.name = j.name AND j.is_same AND j.after IS NULL RETURNING r.name)`,
        ]
      : []),
    `done AS (${doneBy(kinds)})`,
    ...(kinds.adds
      ? [
          `added AS (INSERT INTO ${table} (name, part, body) SELECT name, id, coalesce(long, :long::text) FROM judged
            WHERE id IS NOT NULL AND name IN (SELECT name FROM done) ON CONFLICT DO NOTHING)`,
        ]
      : []),
    ...(kinds.drops
      ? [
          `dropped AS (DELETE FROM ${table} AS r USING judged AS j WHERE r.name = j.name AND r.part <> '' AND j.after IS NOT NULL
            AND r.part IN (SELECT json_array_elements_text(j.drops)) AND j.name IN (SELECT name FROM done))`,
        ]
      : []),
  ];
  const isDone = 'j.name IN (SELECT name FROM done) OR coalesce(j.body = j.after, FALSE)';
  // The text of a swap that is done is known.
  const main = `LEFT JOIN ${table} AS p ON NOT is_done AND whole AND p.name = j.name AND p.part = present_main AND p.part IS DISTINCT FROM known`;
  const answers = `SELECT ${asText('i')} AS i, ${asText('is_done')} AS is_done, CASE WHEN NOT is_done THEN j.body END AS body,
    ${kinds.wholes ? 'p.body' : 'NULL'} AS main, ${asText(NOW)} AS now FROM (SELECT j.*, ${isDone} AS is_done FROM judged AS j) AS j ${kinds.wholes ? main : ''}`;
  return `WITH ${steps.join(',\n')} ${answers}${kinds.looks ? ` UNION ALL ${looks(table)}` : ''}`;
}

function doneBy({ inserts, updates, deletes }: Kinds): string {
  const sources = [
    ...(inserts ? ['inserted'] : []),
    ...(updates ? ['updated'] : []),
    ...(deletes ? ['deleted'] : []),
  ];
  return sources.map((source) => `SELECT name FROM ${source}`).join(' UNION ALL ');
}

/** `undefined`: all are looks. */
function kindsOf(changes: readonly Change[]): Kinds | undefined {
  const all = changes.flatMap(({ swap }) => swap ?? []);
  if (all.length === 0) return undefined;
  return {
    looks: all.length < changes.length,
    inserts: all.some(({ before }) => before === undefined),
    updates: all.some(({ before, after }) => before !== undefined && after !== undefined),
    deletes: all.some(({ after }) => after === undefined),
    adds: all.some(({ adds }) => adds !== undefined),
    drops: all.some(({ drops }) => drops.length > 0),
    wholes: changes.some(({ swap, isWhole }) => swap !== undefined && isWhole === true),
  };
}

/** The changes as JSON, without the longest of the long texts. */
function parametersOf(changes: readonly Change[]): SqlParameters {
  const lengths = changes.map(({ swap }) => swap?.adds?.text.length ?? -1);
  const longest = lengths.indexOf(Math.max(...lengths));
  const given = changes.map(({ name, swap, isWhole, known }, i) => {
    const shown = { i, name, whole: isWhole === true, known };
    if (swap === undefined) return { ...shown, look: true };
    const { before, after, main, adds, drops } = swap;
    const long = i === longest ? undefined : adds?.text;
    const expected = before === undefined ? undefined : digestOf(before);
    const gone = after === undefined;
    return {
      ...shown,
      look: false,
      before: expected,
      gone,
      main,
      id: adds?.id,
      long,
      keep: keptFor(swap),
      drops,
    };
  });
  const separator = randomId(); // in none of the texts
  const texts = changes.map(({ swap }) => swap?.after ?? '').join(separator);
  const long = changes[longest]?.swap?.adds?.text ?? null;
  return { changes: JSON.stringify(given), texts, separator, long };
}

/** @param table quoted. */
export function postgresPurge(table: string): Pick<SqlTableOptions, 'expired' | 'purge'> {
  const isLost = `NOT EXISTS (SELECT FROM ${table} AS p WHERE p.name = r.name AND p.part = '')`;
  return {
    expired: `SELECT DISTINCT r.name FROM ${table} AS r WHERE r.name > :after AND r.name < :before
      AND CASE WHEN r.part = '' THEN r.expires_at < statement_timestamp() ELSE ${isLost} END ORDER BY r.name LIMIT :limit`,
    purge: [
      // At once, as is a long text written with the text that names it: none is lost, and none is left.
      `WITH gone AS (DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND part = '' AND expires_at < statement_timestamp() RETURNING name)
        DELETE FROM ${table} AS r WHERE r.name IN (${PURGED_NAMES}) AND r.part <> '' AND (r.name IN (SELECT name FROM gone) OR ${isLost})`,
    ],
  };
}
