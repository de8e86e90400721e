import type { ClockSpan } from '../../records/cells/known-clock.ts';
import type { FoundText, SwappableTexts, Swapped, TextKey } from '../cas/texts.ts';
import type { ObjectSql } from './object-state.ts';
import { MOST_EDITS } from './steps.ts';

/** A row has at most 2 MB, with its key. */
const LONGEST_TEXT = 1_900_000;

/** No step waits for anything, so this is a limit for tries. */
const TIMEOUT_MS = 10_000;

/** `expires_at` is before the text, so that looking through the rows for it reads no texts. */
const TABLE = `CREATE TABLE IF NOT EXISTS tickless (
  partition TEXT NOT NULL,
  sort TEXT NOT NULL,
  expires_at REAL,
  body TEXT NOT NULL,
  PRIMARY KEY (partition, sort)
) WITHOUT ROWID`;

/** The alarm that deletes it may not have run yet. */
const IS_KEPT = '(expires_at IS NULL OR expires_at > ?)';

/** Whether a text begins with a parameter, by the bytes of UTF-8: none of them is 0xff. */
const begins = (column: string): string => `${column} >= ? AND ${column} < ? || CAST(x'ff' AS TEXT)`;

/**
 * Texts in the storage of a Durable Object, for one step: a row each. The clock is that of the object, which is known exactly,
 * at one instant for all of the step. Only this object has access to them, so a step is over before the next one begins.
 */
export class ObjectTexts implements SwappableTexts {
  readonly mostEdits: number = MOST_EDITS;
  readonly longestText: number = LONGEST_TEXT;
  readonly timeoutMs: number = TIMEOUT_MS;
  readonly #sql: ObjectSql;
  readonly #expires: (at: number) => void;
  readonly #now: number = Date.now();

  /** @param expires is called with each instant after which a text is not kept. */
  constructor(sql: ObjectSql, expires: (at: number) => void) {
    this.#sql = sql;
    this.#expires = expires;
    sql.exec(TABLE);
  }

  span(): ClockSpan {
    return { earliest: this.#now, latest: this.#now };
  }

  async read(keys: readonly TextKey[]): Promise<(string | undefined)[]> {
    return keys.map((key) => this.#textOf(key));
  }

  async swap(
    key: TextKey,
    before: string | undefined,
    after: string | undefined,
    keepForMs: number,
  ): Promise<Swapped> {
    const present = this.#textOf(key);
    const isRepeated = present !== undefined && present === after;
    if (present !== before && !isRepeated) return { isDone: false, present };
    if (after === undefined) await this.take(key);
    else this.#write(key, after, keepForMs);
    return { isDone: true };
  }

  async put(key: TextKey, text: string, keepForMs: number): Promise<void> {
    this.#write(key, text, keepForMs);
  }

  async take(key: TextKey): Promise<string | undefined> {
    const [row] = this.#rows(
      'DELETE FROM tickless WHERE partition = ? AND sort = ? RETURNING body',
      ...of(key),
    );
    return bodyOf(row);
  }

  async ofPartitions(prefix: string, sort: string, limit: number): Promise<FoundText[]> {
    const where = `${begins('partition')} AND sort = ? AND ${IS_KEPT} ORDER BY partition LIMIT ?`;
    return this.#rows(`${SELECT} WHERE ${where}`, prefix, prefix, sort, this.#now, limit).map(foundIn);
  }

  async ofPartition(partition: string, prefix: string, limit: number): Promise<FoundText[]> {
    const where = `partition = ? AND ${begins('sort')} AND ${IS_KEPT} ORDER BY sort LIMIT ?`;
    return this.#rows(`${SELECT} WHERE ${where}`, partition, prefix, prefix, this.#now, limit).map(foundIn);
  }

  /** Deletes the texts that have expired. @returns when the next one expires; `undefined`: none does. */
  deleteExpired(): number | undefined {
    this.#rows('DELETE FROM tickless WHERE expires_at <= ?', this.#now);
    const [row] = this.#rows('SELECT min(expires_at) AS next FROM tickless');
    return typeof row?.next === 'number' ? row.next : undefined;
  }

  #textOf(key: TextKey): string | undefined {
    return bodyOf(this.#rows('SELECT body FROM tickless WHERE partition = ? AND sort = ?', ...of(key))[0]);
  }

  #write(key: TextKey, text: string, keepForMs: number): void {
    const expiresAt = keepForMs === Infinity ? null : this.#now + keepForMs;
    const row = 'INSERT OR REPLACE INTO tickless (partition, sort, expires_at, body) VALUES (?, ?, ?, ?)';
    this.#rows(row, ...of(key), expiresAt, text);
    if (expiresAt !== null) this.#expires(expiresAt);
  }

  #rows(statement: string, ...values: (string | number | null)[]): Record<string, unknown>[] {
    return this.#sql.exec(statement, ...values).toArray();
  }
}

const SELECT = 'SELECT partition, sort, body FROM tickless';

function of({ partition, sort }: TextKey): [string, string] {
  return [partition, sort];
}

function bodyOf(row: Record<string, unknown> | undefined): string | undefined {
  return row && String(row.body);
}

function foundIn(row: Record<string, unknown>): FoundText {
  const key = { partition: String(row.partition), sort: String(row.sort) };
  return { key, text: String(row.body) };
}
