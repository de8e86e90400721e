import type { Change, Swap } from '../../records/cells/cells.ts';
import { systemClock } from '../../time/clock.ts';
import type { SqlRow } from './client.ts';
import { type CellStatements, keptFor } from './sql-cells.ts';
import { PURGED_NAMES, type SqlTableOptions } from './sql-table.ts';
import type { SqliteRun, SqliteSql } from './sqlite.ts';

/** How long looks wait for the swaps of the same call where another process is writing. */
const BEHIND_LOOKS_MS = 50;

/** A value that was edited by hand may have any type. */
const BODY = `CASE typeof(r.body) WHEN 'text' THEN r.body ELSE '' END AS body`;

/** The clock is that of the machine. @param table a result of `tableName`. */
export function sqliteCells(client: SqliteSql, table: string): CellStatements {
  const now = (): number => systemClock.now();
  const present = `SELECT ${BODY} FROM ${table} AS r WHERE r.name = :name AND r.part = ''`;
  const put = `INSERT OR REPLACE INTO ${table} (name, part, body, main, expires_at) VALUES (:name, :part, :body, :main, :expires_at)`;

  function look({ name, isWhole = false, known }: Change): SqlRow | undefined {
    const [found] = client.all(
      `SELECT ${BODY}, p.body AS main FROM ${table} AS r
        LEFT JOIN ${table} AS p ON :whole = 1 AND p.name = r.name AND p.part = r.main AND p.part IS NOT :known AND typeof(p.body) = 'text'
        WHERE r.name = :name AND r.part = ''`,
      { name, whole: Number(isWhole), known: known ?? null },
    );
    return found;
  }

  function swapped(change: Change, swap: Swap, run: SqliteRun): SqlRow {
    const { name } = change;
    const { before, after, main = null, adds, drops } = swap;
    const [found] = run(present, { name });
    const text = found?.body as string | undefined;
    if (text !== before)
      return text !== undefined && text === after ? { is_done: true } : { ...look(change), is_done: false };
    if (after === undefined) {
      run(`DELETE FROM ${table} WHERE name = :name`, { name });
      return { is_done: true };
    }
    const keep = keptFor(swap);
    const expires_at = keep === null ? null : now() + keep;
    run(put, { name, part: '', body: after, main, expires_at });
    if (adds !== undefined) run(put, { name, part: adds.id, body: adds.text, main: null, expires_at: null });
    for (const part of drops) run(`DELETE FROM ${table} WHERE name = :name AND part = :part`, { name, part });
    return { is_done: true };
  }

  return {
    /** A look must not wait for the lock that a report needs. */
    sharesCommands: false,
    behindLooksMs: BEHIND_LOOKS_MS,
    swap: async (changes) => {
      const looks = changes.filter(({ swap }) => swap === undefined);
      if (looks.length > 0) return changes.map((change, i) => ({ ...look(change), i, now: now() }));
      // A transaction that begins with a read would fail where another process has written before its first write.
      return client.transaction(`UPDATE ${table} SET name = name WHERE FALSE`, (run) =>
        changes.map((change, i) => ({ ...swapped(change, change.swap as Swap, run), i, now: now() })),
      );
    },
    long: async (name, ids, most) =>
      ids.map((part) => {
        const [found] = client.all(
          `SELECT substr(body, 1, :most) AS body FROM ${table} WHERE name = :name AND part = :part AND typeof(body) = 'text'`,
          { name, part, most },
        );
        return { part, body: found?.body, now: now() };
      }),
    list: async (range) => {
      const at = now();
      const rows = client.all(
        `SELECT r.name, ${BODY} FROM ${table} AS r WHERE r.name >= :prefix AND r.name < :end AND r.part = ''
          AND (r.expires_at IS NULL OR r.expires_at > :at) ORDER BY r.name LIMIT :limit`,
        { ...range, at },
      );
      return [{ now: at }, ...rows];
    },
  };
}

/** @param table quoted. */
export function sqlitePurge(table: string): Pick<SqlTableOptions, 'expired' | 'purge'> {
  const now = `((julianday('now') - 2440587.5) * 86400000.0)`;
  const isLost = `NOT EXISTS (SELECT 1 FROM ${table} AS p WHERE p.name = r.name AND p.part = '')`;
  return {
    expired: `SELECT DISTINCT r.name FROM ${table} AS r WHERE r.name > :after AND r.name < :before
      AND CASE WHEN r.part = '' THEN r.expires_at < ${now} ELSE ${isLost} END ORDER BY r.name LIMIT :limit`,
    purge: [
      `DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND part = '' AND expires_at < ${now}`,
      // Also those of a record that another process has written again in between.
      `DELETE FROM ${table} AS r WHERE r.name IN (${PURGED_NAMES}) AND r.part <> ''
        AND NOT EXISTS (SELECT 1 FROM ${table} AS p WHERE p.name = r.name AND p.part = '' AND instr(p.body, r.part) > 0)`,
    ],
  };
}
