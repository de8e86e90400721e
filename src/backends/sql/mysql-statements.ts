import type { Given } from './mysql-given-rows.ts';
import { COLUMNS, type Column, PRESENT, recordSql, type SqlClock } from './record-sql.ts';
import { PURGED_NAMES } from './sql-table.ts';

// `records/edited.ts` as statements of MySQL and MariaDB. An assignment sees the results of those before it, but for MariaDB's
// mode SIMULTANEOUS_ASSIGNMENT: the conditions hold in both.

const NOW = 'UTC_TIMESTAMP(6)'; // one instant per statement

const CLOCK: SqlClock = {
  now: NOW,
  micros: `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${NOW})`,
  plus: (instant, ms) => `(${instant} + INTERVAL ROUND(${ms} * 1000) MICROSECOND)`,
  between: (from, to) => `(TIMESTAMPDIFF(MICROSECOND, ${from}, ${to}) / 1000)`,
  isFinite: () => 'TRUE',
};

/** Milliseconds that the statement has waited by now for a row that another session holds: SYSDATE advances within a statement. */
const WAITED = '(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)) / 1000)';

/** In the mode EMPTY_STRING_IS_NULL `''` means NULL. */
const EMPTY = `X''`;

/** After an INSERT: -1 if it has failed. */
const IS_KEPT = 'ROW_COUNT() >= 0';

const columns = COLUMNS.join(', ');

/** The columns that a put replaces, in this order, before the token. */
const REPLACED = [
  'ends_at',
  ...COLUMNS.filter((column) => column !== 'ends_at' && column !== 'token'),
] as const;

/** Else a text would have the charset of the connection. */
const inBytes = (column: string): string => `CAST(${column} AS BINARY)`;

/** Of the row that a statement changes, and of one that it reads as `r`. */
const own = recordSql(CLOCK, (column) => column);
const read = recordSql(CLOCK, (column) => `r.${column}`, inBytes);

/** The statements on one table. */
export interface MysqlStatements {
  /** The present record of each name. @param text of it, @default none */
  readonly answer: (given: Given, text?: string) => string;
  readonly read: (given: Given) => string;
  readonly claim: (given: Given) => string;
  readonly amend: (given: Given) => string;
  /** @param isAfterKeep it changes nothing if the statement before it on the connection has failed, which is `keep`. */
  readonly put: (given: Given, isByToken: boolean, isAfterKeep: boolean) => string;
  /** Before a put: keeps the record that it will replace, as an edition. */
  readonly keep: (given: Given, isByToken: boolean) => string;
  /** After a put: deletes the editions that are too many. */
  readonly drop: (given: Given) => string;
  readonly delete: string;
  readonly list: string;
  readonly editions: string;
  readonly expired: string;
  readonly purge: readonly string[];
}

/** @param table a result of `tableName`. */
export function mysqlStatements(table: string): MysqlStatements {
  /** MySQL deprecates the function VALUES(), and MariaDB does not know its replacement. Both accept a named row. */
  const upsert = (
    { rows }: Given,
    beside: readonly string[],
    inserted: Readonly<Record<Column, string>>,
    assigned: readonly (readonly [column: Column, value: string, where: string])[],
    condition: string = 'TRUE',
  ): string => {
    const values = Object.entries({ name: 'g_name', edition: String(PRESENT), ...inserted });
    const incoming = values.map(([column, value]) => `${value} AS new_${column}`);
    const names = values.map(([column]) => column);
    const assignments = assigned.map(
      ([column, value, where]) => `${column} = CASE WHEN ${where} THEN ${value} ELSE ${column} END`,
    );
    return `INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.map((column) => `new_${column}`).join(', ')}
      FROM (SELECT ${[...incoming, ...beside].join(', ')} FROM ${rows} WHERE ${condition}) AS incoming ON DUPLICATE KEY UPDATE ${assignments.join(', ')}`;
  };
  const present = `JOIN ${table} AS r ON r.name = g_name AND r.edition = ${PRESENT}`;
  const answer: MysqlStatements['answer'] = ({ brief }, text = EMPTY) =>
    `SELECT g_i AS i, ${read.row}, ${text} AS text, EXISTS (SELECT 1 FROM ${table} AS o WHERE o.name = r.name AND o.edition <> ${PRESENT}) AS has_older
      FROM ${brief} ${present}`;
  const isGone = `(${read.isExpired} OR ${CLOCK.plus('greatest(r.ends_at, r.changed_at)', ':retention')} < ${NOW})`;
  // The present record was kept for a put that has failed.
  const isNotTwice = `NOT EXISTS (SELECT 1 FROM ${table} AS p
    WHERE p.name = r.name AND p.edition = ${PRESENT} AND r.edition <> ${PRESENT} AND p.token = r.edition)`;
  return {
    answer,
    read: ({ rows }) =>
      `SELECT g_i AS i, ${read.row}, CASE WHEN g_is_brief THEN ${EMPTY} ELSE ${inBytes('r.text')} END AS text FROM ${rows} JOIN ${table} AS r
        ON r.name = g_name AND CASE WHEN g_token IS NULL THEN r.edition = ${PRESENT} ELSE r.token = g_token END WHERE r.token > g_newer`,
    claim: (given) => {
      // A statement that has waited for the row for longer than its caller did changes nothing: the lease would have no holder.
      const isFree = `(NOT (${own.isLive} AND ${own.damage} IS NULL AND NOT (phase = 'held' AND g_is_forced)) AND ${WAITED} <= g_patience)`;
      // By the first assignments the row itself shows whether this claim has taken it. Of one claim that is sent twice within a
      // microsecond, the second gets the lease.
      const isTaken = `((id = new_id AND begun_at = ${NOW}) OR ${isFree})`;
      return upsert(
        given,
        ['g_is_forced', 'g_patience'],
        {
          token: CLOCK.micros,
          id: 'g_id',
          phase: `'leased'`,
          begun_at: NOW,
          changed_at: NOW,
          ends_at: CLOCK.plus(NOW, 'g_for_ms'),
          text: 'g_text',
          note: EMPTY,
          replaced: 'NULL',
          keep_ms: 'NULL',
        },
        [
          ['replaced', own.damage, isFree],
          ['text', 'new_text', isFree],
          ['note', EMPTY, isFree],
          ['keep_ms', 'NULL', isFree],
          ['id', 'new_id', isFree],
          ['begun_at', NOW, isFree],
          ['token', own.nextToken, isTaken],
          ['phase', `(CASE WHEN phase IN ('leased', 'seized') THEN 'seized' ELSE 'leased' END)`, isTaken],
          ['changed_at', NOW, isTaken],
          ['ends_at', 'new_ends_at', isTaken],
        ],
      );
    },
    amend: ({ rows }) => {
      const isEnded = `(g_id IS NOT NULL AND phase = 'held')`;
      const isOwn = `(id = g_id AND ((phase <> 'held' AND ${own.isLive}) OR (g_phase = 'held' AND phase = 'held' AND note = g_note)))`;
      // Finds the rows by their names one after the other, in the order of the given ones.
      return `UPDATE ${rows} JOIN ${table} ON name = g_name AND edition = ${PRESENT} SET
        ends_at = CASE WHEN ${isEnded} THEN ends_at ELSE ${CLOCK.plus(NOW, 'g_for_ms')} END,
        keep_ms = CASE WHEN ${isEnded} THEN keep_ms ELSE g_keep_ms END,
        note = CASE WHEN ${isEnded} OR g_phase IS NULL THEN note ELSE g_note END,
        changed_at = CASE WHEN ${isEnded} OR g_phase IS NULL THEN changed_at ELSE ${NOW} END,
        phase = coalesce(g_phase, phase)
        WHERE token = g_token AND ${own.damage} IS NULL AND (g_id IS NULL OR ${isOwn})`;
    },
    put: (given, isByToken, isAfterKeep) => {
      const held = `(CASE WHEN ${own.isToken} THEN token ELSE 0 END)`;
      const isRefused = `(new_token < ${held} AND NOT (${held} <=> g_over))`;
      const isRepeated = `(new_token = token AND ${own.damage} IS NULL AND keep_ms <=> new_keep_ms AND text = new_text)`;
      // The end of the record is assigned first: by it the row itself shows that it is written.
      const isNew = isByToken ? `(NOT ${isRefused} AND (ends_at = ${NOW} OR NOT ${isRepeated}))` : 'TRUE';
      return upsert(
        given,
        ['g_over'],
        {
          ends_at: NOW,
          token: isByToken ? 'g_token' : CLOCK.micros,
          id: EMPTY,
          phase: `'held'`,
          begun_at: NOW,
          changed_at: NOW,
          text: 'g_text',
          note: EMPTY,
          replaced: 'NULL',
          keep_ms: 'g_keep_ms',
        },
        [
          ...REPLACED.map((column) => [column, `new_${column}`, isNew] as const),
          ['token', isByToken ? 'new_token' : own.nextToken, isNew],
        ],
        isAfterKeep ? IS_KEPT : undefined,
      );
    },
    keep: ({ brief }, isByToken) => `INSERT IGNORE INTO ${table} (name, edition, ${columns})
        SELECT r.name, r.token, ${COLUMNS.map((column) => (column === 'note' ? EMPTY : `r.${column}`)).join(', ')} FROM ${brief} ${present}
        WHERE g_older > 0 AND g_keep_ms IS NULL AND r.keep_ms IS NULL
        AND ${isByToken ? 'r.token < g_token' : read.isToken} FOR UPDATE`,
    drop: ({ brief }) => {
      const newer = `(SELECT count(*) FROM ${table} AS n WHERE n.name = o.name AND n.edition > o.edition AND n.edition < r.token)`;
      // DISTINCT has the rows looked up before any is deleted.
      return `DELETE v FROM ${table} AS v JOIN (SELECT DISTINCT o.name AS gone_name, o.edition AS gone_edition FROM ${brief} ${present}
        JOIN ${table} AS o ON o.name = r.name AND o.edition <> ${PRESENT}
        WHERE coalesce(r.token = g_token, TRUE) AND (r.keep_ms IS NOT NULL OR o.edition >= r.token OR ${newer} >= g_older)) AS gone
        ON v.name = gone_name AND v.edition = gone_edition`;
    },
    delete: `DELETE FROM ${table} WHERE name = :name`,
    list: `SELECT ${inBytes('r.name')} AS name, ${read.row}, ${inBytes('r.text')} AS text FROM ${table} AS r
      WHERE r.name >= :prefix AND r.name < :end AND r.edition = ${PRESENT} AND NOT ${read.isExpired} ORDER BY r.name LIMIT :limit`,
    editions: `SELECT ${read.row}, ${inBytes('LEFT(r.text, :beginning)')} AS text, LENGTH(r.text) AS bytes
      FROM ${table} AS r WHERE r.name = :name AND ${isNotTwice} ORDER BY r.edition <> ${PRESENT}, r.token DESC`,
    expired: `SELECT ${inBytes('r.name')} AS name FROM ${table} AS r
      WHERE r.name > :after AND r.name < :before AND r.edition = ${PRESENT} AND ${isGone} ORDER BY r.name LIMIT :limit`,
    purge: [
      `DELETE r FROM ${table} AS r WHERE r.name IN (${PURGED_NAMES}) AND r.edition = ${PRESENT} AND ${isGone}`,
      `DELETE r FROM ${table} AS r LEFT JOIN ${table} AS p ON p.name = r.name AND p.edition = ${PRESENT}
        WHERE r.name IN (${PURGED_NAMES}) AND r.edition <> ${PRESENT} AND p.name IS NULL AND :retention IS NOT NULL`,
    ],
  };
}
