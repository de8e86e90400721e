import { edited, type Instant, rowOf, type StoredRecord } from '../../records/edited.ts';
import type { Answer, Edit, ListedEdition, Phase, Read, Records } from '../../records/records.ts';
import { systemClock } from '../../time/clock.ts';
import type { SqlParameters, SqlRow, SqlValue } from './client.ts';
import { inStatements, MOST_NAMES } from './in-statements.ts';
import { COLUMNS, endOf, PRESENT } from './record-sql.ts';
import { PURGED_NAMES, type SqlTable, type SqlTableOptions } from './sql-table.ts';
import type { SqliteRun, SqliteSql } from './sqlite.ts';

type Change = Exclude<Edit, Read>;

/** How long reads wait for the changes of the same call where another process is writing. */
const BEHIND_READ_MS = 50;

/**
 * Records in a table of SQLite: the database is a part of this process, so that an edit is `edited` in a transaction, by the
 * machine's clock. Instants are milliseconds since 1970.
 */
export class SqliteRecords implements Records {
  readonly mostEdits: number = MOST_NAMES;
  /** A read must not wait for the lock that a report needs. */
  readonly sharesCommands: boolean = false;
  readonly #client: SqliteSql;
  readonly #table: SqlTable;
  readonly #name: string;

  /** @param name the quoted name of the table. */
  constructor(client: SqliteSql, table: SqlTable, name: string) {
    this.#client = client;
    this.#table = table;
    this.#name = name;
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const isBehind = edits.some(isRead) && !edits.every(isRead);
    const answers = await inStatements(edits, {
      kindOf: (edit) => String(isRead(edit)),
      isOfValues: (error) => this.#client.isOfValues(error),
      send: (some) =>
        this.#table.run(
          async () => this.#send(some),
          isBehind ? systemClock.monotonic() + BEHIND_READ_MS : undefined,
        ),
    });
    this.#table.changed(edits);
    return { now: systemClock.now(), answers };
  }

  #send(edits: readonly Edit[]): readonly Answer[] {
    if (edits.every(isRead)) return edits.map((read) => this.#read(read));
    // A transaction that begins with a read would fail where another process has written before its first write.
    return this.#client.transaction(`UPDATE ${this.#name} SET name = name WHERE FALSE`, (run) => {
      const now = thisInstant();
      return (edits as readonly Change[]).map((edit) => this.#change(edit, now, run));
    });
  }

  #read({ name, newerThan = -1, token, isBrief }: Read): Answer {
    const columns = isBrief === true ? BRIEF : READ;
    const which = token === undefined ? `edition = ${PRESENT}` : 'token = :token';
    const [found] = this.#client.all(
      `SELECT ${columns} FROM ${this.#name} WHERE name = :name AND ${which} AND token > :newerThan`,
      { name, newerThan, ...(token !== undefined && { token }) },
    );
    const row = found && rowOf(recordIn(found), thisInstant(), (text) => text);
    return { isDone: row !== undefined, row };
  }

  #change(edit: Change, now: Instant, run: SqliteRun): Answer {
    const { name } = edit;
    const isPut = edit.op === 'put';
    const text = isPut ? 'text = :text AS is_same' : edit.op === 'claim' ? 'text' : 'NULL AS text';
    const [found] = run(
      `SELECT ${BRIEF}, ${text} FROM ${this.#name} WHERE name = :name AND edition = ${PRESENT}`,
      { name, ...(isPut && { text: edit.text }) },
    );
    const older = isPut
      ? run(
          `SELECT ${BRIEF} FROM ${this.#name} WHERE name = :name AND edition <> ${PRESENT} ORDER BY token DESC`,
          { name },
        )
      : [];
    const record = found && {
      ...recordIn(found, isPut && Number(found.is_same) === 1 ? edit.text : undefined),
      older: older.map((one) => recordIn(one)),
    };
    const { next, isDone } = edited(record, edit, now);
    if (next !== record) this.#store(edit, record, next, run);
    const isWhole = edit.op === 'claim';
    return { isDone, row: next && rowOf(next, now, (one) => (isWhole ? one : '')) };
  }

  #store(
    { name, op }: Change,
    before: StoredRecord | undefined,
    after: StoredRecord | undefined,
    run: SqliteRun,
  ): void {
    const table = this.#name;
    if (after === undefined) {
      run(`DELETE FROM ${table} WHERE name = :name`, { name });
      return;
    }
    if (op === 'amend') {
      const assigned = COLUMNS.filter((column) => column !== 'text').map(
        (column) => `${column} = :${column}`,
      );
      run(
        `UPDATE ${table} SET ${assigned.join(', ')} WHERE name = :name AND edition = ${PRESENT}`,
        valuesOf(name, after),
      );
      return;
    }
    const kept = new Set(after.older.map(({ token }) => token));
    for (const { token } of before?.older ?? []) {
      if (!kept.has(token))
        run(`DELETE FROM ${table} WHERE name = :name AND edition = :token`, { name, token });
    }
    if (before !== undefined && kept.has(before.token)) {
      run(`UPDATE ${table} SET edition = token, note = '' WHERE name = :name AND edition = ${PRESENT}`, {
        name,
      });
    }
    const parameters = { ...valuesOf(name, after), text: after.text };
    run(
      `INSERT OR REPLACE INTO ${table} (name, edition, ${COLUMNS.join(', ')})
        VALUES (:name, ${PRESENT}, ${COLUMNS.map((column) => `:${column}`).join(', ')})`,
      parameters,
    );
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const now = thisInstant();
    const found = await this.#table.query(
      `SELECT name, ${READ} FROM ${this.#name} WHERE name >= :prefix AND name < :end AND edition = ${PRESENT}
        AND NOT ${IS_EXPIRED} ORDER BY name LIMIT :limit`,
      { prefix, end: endOf(prefix), now: now.at, limit },
    );
    const rows = found.map((row) => [String(row.name), rowOf(recordIn(row), now, (text) => text)] as const);
    return { now: now.wall, rows };
  }

  async editions(name: string, beginning: number): Promise<ListedEdition[]> {
    const now = thisInstant();
    const found = await this.#table.query(
      `SELECT ${BRIEF}, substr(text, 1, :beginning) AS text, length(CAST(text AS BLOB)) AS bytes FROM ${this.#name}
        WHERE name = :name ORDER BY edition <> ${PRESENT}, token DESC`,
      { name, beginning },
    );
    return found.map((row) => ({
      row: rowOf(recordIn(row), now, (text) => text),
      bytes: Number(row.bytes),
    }));
  }
}

/** Numbers as REAL, exact up to 2^53: an INTEGER beyond that, of a damaged row, would fail the statement in `node:sqlite`. */
const BRIEF = COLUMNS.filter((column) => column !== 'text')
  .map((column) => (/^(token|keep_ms)$|_at$/.test(column) ? `(${column} + 0.0) AS ${column}` : column))
  .join(', ');
const READ = `${BRIEF}, text`;

const LAST = 'max(ends_at, changed_at)';
const IS_EXPIRED = `(keep_ms IS NOT NULL AND ${LAST} + coalesce(keep_ms, 0) <= :now)`;

/** @param table quoted. */
export function sqlitePurge(table: string): Pick<SqlTableOptions, 'expired' | 'purge'> {
  const now = `(CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER))`;
  const isGone = `(${IS_EXPIRED.replaceAll(':now', now)} OR ${LAST} + :retention < ${now})`;
  return {
    expired: `SELECT name FROM ${table} WHERE name > :after AND name < :before AND edition = ${PRESENT} AND ${isGone} ORDER BY name LIMIT :limit`,
    purge: [
      `DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND edition = ${PRESENT} AND ${isGone}`,
      `DELETE FROM ${table} AS r WHERE name IN (${PURGED_NAMES}) AND edition <> ${PRESENT} AND :retention IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ${table} AS p WHERE p.name = r.name AND p.edition = ${PRESENT})`,
    ],
  };
}

function isRead(edit: Edit): edit is Read {
  return edit.op === 'read';
}

function thisInstant(): Instant {
  const now = systemClock.now();
  return { at: now, wall: now };
}

/** The record in a row. A value that was edited by hand may have any type. */
function recordIn(row: SqlRow, text: string = String(row.text ?? '')): StoredRecord {
  const { token, id, phase, begun_at, changed_at, ends_at, note, replaced, keep_ms } = row;
  return {
    token: numberOf(token),
    id: id as string,
    phase: phase as Phase,
    at: numberOf(begun_at),
    changedAt: numberOf(changed_at),
    until: numberOf(ends_at),
    text,
    note: typeof note === 'string' ? note : '',
    replaced: typeof replaced === 'string' ? replaced : undefined,
    keepMs: keep_ms === null ? undefined : numberOf(keep_ms),
    older: [],
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : NaN;
}

function valuesOf(name: string, record: StoredRecord): SqlParameters {
  const { token, id, phase, at, changedAt, until, note, replaced = null, keepMs = null } = record;
  const values: Readonly<Record<string, SqlValue>> = { token, id, phase, note, replaced, keep_ms: keepMs };
  return { name, ...values, begun_at: at, changed_at: changedAt, ends_at: until };
}
