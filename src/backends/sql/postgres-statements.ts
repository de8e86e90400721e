import type { Edit } from '../../records/records.ts';
import { COLUMNS, type Column, PRESENT, recordSql, type SqlClock } from './record-sql.ts';
import { PURGED_NAMES } from './sql-table.ts';

// `records/edited.ts` as statements of PostgreSQL. Each runs outside of a transaction block, so it is a transaction of its own.

/** The statements on one table. */
export interface PostgresStatements {
  /** Answers the reads in `:edits`. */
  readonly read: string;
  /** Makes all edits in `:edits`, of these kinds. */
  readonly change: (kinds: ReadonlySet<Edit['op']>) => string;
  readonly list: string;
  readonly editions: string;
  readonly expired: string;
  readonly purge: readonly string[];
}

const columns = COLUMNS.join(', ');

/** Read once per statement: clock_timestamp() advances within a statement, and now() is fixed within a transaction. */
const CLOCK = 'clock AS (SELECT clock_timestamp() AS now)';

/** The edits as rows: some clients would encode a parameter of type json once more. The longest text is a parameter of its own, which is not escaped. */
const GIVEN = `given AS (SELECT g.*, g.i AS nth FROM json_to_recordset(:edits::text::json) AS g(i int, op text, name text, token bigint,
  newer bigint, over bigint, id text, text text, phase text, note text, "forMs" float8, "keepMs" float8, older int,
  force boolean, brief boolean))`;

/** An edit that has waited for its rows for longer than its caller did takes no lease: it would have no holder. */
const HAS_WAITED = `extract(epoch FROM (now - statement_timestamp())) * 1000 > :patience::float8`;

/** Answers are texts: each client reads those alike, whatever its parsers of numbers and booleans are. */
const asText = (value: string): string => `(${value})::text`;

const answerOf = (now: string, of: (column: Column) => string): string =>
  recordSql(clockOf(now), of, (column) => column, asText).row;

/** @param table a result of `tableName`. */
export function postgresStatements(table: string): PostgresStatements {
  const stored = {
    isExpired: recordSql(clockOf('clock.now'), (column) => `r.${column}`).isExpired,
    row: answerOf('clock.now', (column) => `r.${column}`),
  };
  const reads = `SELECT ${asText('g.i')} AS i, 'true' AS is_done, 'false' AS is_lost, ${stored.row}, CASE WHEN g.brief THEN '' ELSE r.text END AS text
    FROM given AS g CROSS JOIN clock JOIN ${table} AS r ON r.name = g.name
      AND CASE WHEN g.token IS NULL THEN r.edition = ${PRESENT} ELSE r.token = g.token END
    WHERE g.op = 'read' AND r.token > coalesce(g.newer, -1)`;
  return {
    read: `WITH ${GIVEN}, ${CLOCK} ${reads}`,
    change: (kinds) => {
      const steps = [
        GIVEN,
        ...decisions(table),
        ...(kinds.has('claim') || kinds.has('put') ? [inserted(table)] : []),
        ...(kinds.size > 1 || !kinds.has('delete') ? [updated(table)] : []),
        ...(kinds.has('put') ? olderEditions(table) : []),
        ...(kinds.has('delete') ? [deleted(table)] : []),
      ];
      const isLost =
        kinds.has('claim') || kinds.has('put')
          ? `(is_new AND NOT EXISTS (SELECT FROM inserted AS o WHERE o.name = a.name))`
          : 'FALSE';
      const row = answerOf('a.now', (column) => `a.${column}`);
      const text = `CASE WHEN op = 'claim' THEN a.text ELSE '' END`;
      const answers = `SELECT ${asText('a.i')} AS i, ${asText('a.is_done')} AS is_done, ${asText(isLost)} AS is_lost, ${row}, ${text} AS text FROM after AS a`;
      return `WITH ${steps.join(',\n')} ${answers}${kinds.has('read') ? ` UNION ALL ${reads}` : ''}`;
    },
    list: `WITH ${CLOCK} SELECT r.name, ${stored.row}, r.text FROM ${table} AS r CROSS JOIN clock
      WHERE r.name >= :prefix AND r.name < :end AND r.edition = ${PRESENT} AND NOT ${stored.isExpired} ORDER BY r.name LIMIT :limit`,
    editions: `WITH ${CLOCK} SELECT ${stored.row}, left(r.text, :beginning::int) AS text, ${asText('octet_length(r.text)')} AS bytes
      FROM ${table} AS r CROSS JOIN clock WHERE r.name = :name ORDER BY r.edition <> ${PRESENT}, r.token DESC`,
    expired: `WITH ${CLOCK} SELECT r.name FROM ${table} AS r CROSS JOIN clock
      WHERE r.name > :after AND r.name < :before AND r.edition = ${PRESENT} AND ${isGone(stored.isExpired, 'clock.now')}
      ORDER BY r.name LIMIT :limit`,
    purge: [
      `DELETE FROM ${table} AS r WHERE r.name IN (${PURGED_NAMES}) AND r.edition = ${PRESENT}
        AND ${isGone(recordSql(clockOf('statement_timestamp()'), (column) => `r.${column}`).isExpired, 'statement_timestamp()')}`,
      `DELETE FROM ${table} AS r WHERE r.name IN (${PURGED_NAMES}) AND r.edition <> ${PRESENT} AND :retention IS NOT NULL
        AND NOT EXISTS (SELECT FROM ${table} AS p WHERE p.name = r.name AND p.edition = ${PRESENT})`,
    ],
  };
}

/**
 * From the edits to the records after them: `after` has a row for each edit but reads. With OFFSET 0 the server computes
 * one step after the other; else it would put each expression into all that use it, and plan for 30 ms.
 */
function decisions(table: string): string[] {
  const state = recordSql(clockOf('now'), (column) => `s_${column}`);
  const before = COLUMNS.map((column) => `s.${column} AS s_${column}`).join(', ');
  return [
    `locked AS (SELECT r.* FROM given AS g JOIN ${table} AS r ON r.name = g.name AND r.edition = ${PRESENT}
      WHERE g.op <> 'read' ORDER BY r.name FOR UPDATE OF r)`,
    // After the locks: it has waited for them.
    'clock AS (SELECT clock_timestamp() AS now FROM (SELECT count(*) FROM locked) AS all_of_them)',
    `before AS (SELECT g.i, g.op, g.name, g.token AS g_token, g.over, g.id AS g_id, coalesce(g.text, :text::text) AS g_text,
      g.phase AS g_phase, g.note AS g_note, "forMs", "keepMs", g.older, g.force, now, s.name IS NOT NULL AS is_there, ${before}
      FROM given AS g CROSS JOIN clock LEFT JOIN locked AS s ON s.name = g.name WHERE g.op <> 'read' OFFSET 0)`,
    `judged AS (SELECT *, ${state.damage} AS s_damage FROM before OFFSET 0)`,
    `state AS (SELECT *, is_there AND ${state.isToken} AS s_has_token, is_there AND s_damage IS NULL AND ${state.isLive} AS s_is_live, s_id = g_id AND s_phase <> 'held' AS s_is_own,
      s_id = g_id AND s_phase = 'held' AND s_note = g_note AND g_phase = 'held' AS s_is_ended,
      ${state.nextToken} AS next
      FROM judged OFFSET 0)`,
    `verdict AS (SELECT *, ${verdict()} FROM state OFFSET 0)`,
    `after AS (SELECT i, op, name, now, older, is_there, s_token, s_id, s_phase, s_begun_at, s_changed_at, s_ends_at, s_text, s_note,
      s_replaced, s_keep_ms, changes, is_done, changes AND NOT is_there AS is_new, ${Object.entries(AFTER)
        .map(([column, value]) => `CASE WHEN changes THEN ${value} ELSE s_${column} END AS ${column}`)
        .join(', ')} FROM verdict WHERE is_there OR changes OFFSET 0)`,
  ];
}

function inserted(table: string): string {
  // Of a name that another session has inserted meanwhile it returns nothing: it is asked again, and finds that row.
  return `inserted AS (INSERT INTO ${table} (name, edition, ${columns}) SELECT name, ${PRESENT}, ${columns} FROM after
    WHERE is_new ORDER BY name ON CONFLICT DO NOTHING RETURNING name)`;
}

function updated(table: string): string {
  const assignments = COLUMNS.map((column) => `${column} = a.${column}`).join(', ');
  return `updated AS (UPDATE ${table} AS r SET ${assignments} FROM after AS a
    WHERE r.name = a.name AND r.edition = ${PRESENT} AND a.changes AND a.is_there AND a.op <> 'delete')`;
}

/** Keeps the text that was replaced, and deletes those that are too many. */
function olderEditions(table: string): string[] {
  const isKept = 'a.is_there AND a.keep_ms IS NULL AND a.s_keep_ms IS NULL AND a.s_token < a.token';
  const before = COLUMNS.map((column) => (column === 'note' ? `''` : `a.s_${column}`)).join(', ');
  const newer = `(SELECT count(*) FROM ${table} AS n WHERE n.name = r.name AND n.edition > r.edition AND n.edition < a.token)`;
  return [
    `kept AS (INSERT INTO ${table} (name, edition, ${columns}) SELECT a.name, a.s_token, ${before} FROM after AS a
      WHERE a.op = 'put' AND a.changes AND a.older > 0 AND ${isKept} ON CONFLICT DO NOTHING)`,
    `dropped AS (DELETE FROM ${table} AS r USING after AS a WHERE r.name = a.name AND r.edition > ${PRESENT}
      AND a.op = 'put' AND a.changes
      AND (a.keep_ms IS NOT NULL OR r.edition >= a.token OR ${newer} >= a.older - CASE WHEN ${isKept} THEN 1 ELSE 0 END))`,
  ];
}

function deleted(table: string): string {
  return `deleted AS (DELETE FROM ${table} AS r USING after AS a WHERE r.name = a.name AND a.op = 'delete')`;
}

/** Whether an edit changes the record, and whether it is done. */
function verdict(): string {
  const isKnown = '(is_there AND s_damage IS NULL)';
  const isTaken = `(s_is_live AND NOT (s_phase = 'held' AND force))`;
  const isOf = `(${isKnown} AND s_token = g_token)`;
  const amends = `(${isOf} AND (g_id IS NULL OR (s_is_own AND s_is_live)))`;
  const held = '(CASE WHEN s_has_token THEN s_token ELSE 0 END)';
  const isRefused = `(g_token IS NOT NULL AND g_token < ${held} AND ${held} IS DISTINCT FROM over)`;
  const isRepeated = `(${isOf} AND s_text = g_text AND s_keep_ms IS NOT DISTINCT FROM "keepMs")`;
  const yes = (condition: string): string => `coalesce(${condition}, FALSE)`;
  return `CASE op WHEN 'claim' THEN ${yes(`NOT ${isTaken} AND NOT (${HAS_WAITED})`)}
      WHEN 'amend' THEN ${yes(amends)}
      WHEN 'put' THEN ${yes(`NOT ${isRefused} AND NOT ${yes(isRepeated)}`)}
      ELSE is_there END AS changes,
    CASE op WHEN 'claim' THEN ${yes(`(NOT ${isTaken} AND NOT (${HAS_WAITED})) OR (s_is_live AND s_is_own)`)}
      WHEN 'amend' THEN ${yes(`${amends} OR (${isOf} AND s_is_ended)`)}
      WHEN 'put' THEN ${yes(`NOT ${isRefused}`)}
      ELSE is_there END AS is_done`;
}

/** The columns of a record after an edit that changes it. */
const AFTER: Readonly<Record<Column, string>> = {
  token: `CASE op WHEN 'claim' THEN next WHEN 'put' THEN coalesce(g_token, next) ELSE s_token END`,
  id: `CASE op WHEN 'claim' THEN g_id WHEN 'put' THEN '' ELSE s_id END`,
  phase: `CASE WHEN op = 'put' THEN 'held' WHEN op = 'amend' THEN coalesce(g_phase, s_phase)
    WHEN s_phase IN ('leased', 'seized') THEN 'seized' ELSE 'leased' END`,
  begun_at: `CASE op WHEN 'amend' THEN s_begun_at ELSE now END`,
  changed_at: `CASE WHEN op = 'amend' AND g_phase IS NULL THEN s_changed_at ELSE now END`,
  ends_at: `now + coalesce("forMs", 0) * interval '1 millisecond'`,
  text: `CASE op WHEN 'amend' THEN s_text ELSE g_text END`,
  note: `CASE WHEN op <> 'amend' THEN '' WHEN g_phase IS NULL THEN s_note ELSE g_note END`,
  replaced: `CASE op WHEN 'claim' THEN s_damage WHEN 'amend' THEN s_replaced END`,
  keep_ms: `CASE op WHEN 'claim' THEN NULL ELSE "keepMs" END`,
};

/** Past its own time, or past `:retention`. */
function isGone(isExpired: string, now: string): string {
  return `(${isExpired} OR greatest(r.ends_at, r.changed_at) + :retention::float8 * interval '1 millisecond' < ${now})`;
}

function clockOf(now: string): SqlClock {
  return {
    now,
    micros: `floor(extract(epoch FROM ${now}) * 1000000)::bigint`,
    plus: (instant, ms) => `(${instant} + ${ms} * interval '1 millisecond')`,
    between: (from, to) => `(extract(epoch FROM (${to} - ${from})) * 1000)`,
    isFinite: (instant) => `isfinite(${instant})`,
  };
}
