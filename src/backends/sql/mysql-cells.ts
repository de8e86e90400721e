import { digestOf } from '../../cluster/digest.ts';
import type { Change, Swap } from '../../records/cells/cells.ts';
import { systemClock } from '../../time/clock.ts';
import { durationParameter, type SqlRow } from './client.ts';
import type { MysqlSql } from './mysql.ts';
import { type MysqlValue, rowsOf } from './mysql-rows.ts';
import { type CellStatements, keptFor, type NameRange } from './sql-cells.ts';
import { PURGED_NAMES, type SqlTableOptions } from './sql-table.ts';

const NOW = 'UTC_TIMESTAMP(6)'; // one instant per statement

const EPOCH_MS = `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${NOW}) / 1000)`;

/** Milliseconds that the statement has waited by now for a row that another session holds: SYSDATE advances within a statement. */
const WAITED = '(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)) / 1000)';

const after = (ms: string): string => `${NOW} + INTERVAL ROUND((${ms}) * 1000) MICROSECOND`;

/** In the mode EMPTY_STRING_IS_NULL `''` means NULL. */
const EMPTY = `X''`;

/** In the mode ORACLE a word of the language. */
const BODY = '`body`';

/** Else a text would have the charset of the connection. */
const inBytes = (column: string): string => `CAST(${column} AS BINARY)`;

/** As `digestOf`. */
const digestIn = (column: string): string => `UNHEX(SHA2(${column}, 256))`;

/** A swap of a name. */
type Named = Swap & { readonly name: string };

/** Swaps in a table of MySQL and MariaDB. A row that a statement finds is locked before its conditions are looked at. */
export class MysqlCells implements CellStatements {
  readonly sharesCommands: boolean = false;
  readonly #client: MysqlSql;
  readonly #table: string;

  /** @param table a result of `tableName`. */
  constructor(client: MysqlSql, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async swap(changes: readonly Change[], endAt: number): Promise<readonly SqlRow[]> {
    const [{ name, swap }] = changes as readonly [Change];
    if (swap !== undefined && swap.after === undefined) return this.#delete(name, swap, endAt);
    const swaps = changes.flatMap((one) => (one.swap === undefined ? [] : { ...one.swap, name: one.name }));
    const statements = this.#changesOf(swaps, endAt);
    const isWhole = swaps.some((one) => partsOf(one).length > 0);
    const batch = { changes: statements, answer: this.#answer(changes), isWhole };
    const { rows: found, matched } = await this.#client.batch(batch, endAt);
    // Others may have swapped before the rows were read. An INSERT also counts the rows that it has found.
    const areDone = matched === swaps.length && swaps.every(({ before }) => before !== undefined);
    return areDone && statements.length === 1 ? found.map((row) => ({ ...row, is_done: true })) : found;
  }

  /** It is alone: its statement counts the rows of one name. */
  async #delete(name: string, { before }: Swap, endAt: number): Promise<readonly SqlRow[]> {
    const given = rowsOf([{ ...keyOf(name), before: digestValue(before) }]);
    const statement = `DELETE v FROM ${given} JOIN ${this.#present} JOIN ${this.#table} AS v ON v.name = r.name WHERE ${digestIn(`r.${BODY}`)} = g_before`;
    if ((await this.#client.change(statement, {}, endAt)) > 0) return [{ i: 0, is_done: true }];
    return (await this.swap([{ name }], endAt)).map((row) => ({ ...row, is_done: false }));
  }

  /**
   * Each of the statements keeps the rules by itself, in any state of the table: where MySQL has no blocks, they are under way when
   * one before them fails. A long text is written before a record names it, and deleted after.
   */
  #changesOf(swaps: readonly Named[], endAt: number): string[] {
    const added = swaps.filter(({ adds }) => adds !== undefined);
    const made = swaps.filter(({ before }) => before === undefined);
    const changed = swaps.filter(({ before }) => before !== undefined);
    const parts = swaps.flatMap((swap) => partsOf(swap).map((id) => ({ name: swap.name, id })));
    return [
      ...(added.length > 0 ? [this.#add(added)] : []),
      ...(made.length > 0 ? [this.#insert(made)] : []),
      ...(changed.length > 0 ? [this.#update(changed, endAt)] : []),
      ...(parts.length > 0 ? [this.#drop(parts)] : []),
    ];
  }

  #add(swaps: readonly Named[]): string {
    const given = rowsOf(
      swaps.map(({ name, adds }) => ({ ...keyOf(name), id: [adds?.id, 'key'], long: [adds?.text, 'long'] })),
    );
    return `INSERT INTO ${this.#table} (name, part, ${BODY}) SELECT g_name, g_id, g_long FROM ${given} ${this.#keepsPresent}`;
  }

  #insert(swaps: readonly Named[]): string {
    const { from, where } = this.#withAdded(swaps);
    return `INSERT INTO ${this.#table} (name, part, ${BODY}, main, expires_at) SELECT g_name, ${EMPTY}, g_after, g_main, ${after('g_keep')}
      FROM ${rowsOf(swaps.map(afterOf))} ${from} WHERE ${where} ${this.#keepsPresent}`;
  }

  /** A swap that has waited for its row for longer than its caller did changes nothing: its lease would have no holder. */
  #update(swaps: readonly Named[], endAt: number): string {
    const patience = durationParameter(Math.max(0, endAt - systemClock.monotonic()));
    const given = rowsOf(
      swaps.map((swap) => ({ ...afterOf(swap), before: digestValue(swap.before), patience: [patience] })),
    );
    const { from, where } = this.#withAdded(swaps);
    return `UPDATE ${given} JOIN ${this.#present} ${from}
      SET r.${BODY} = g_after, r.main = g_main, r.expires_at = ${after(`${WAITED} + g_keep`)}
      WHERE CASE WHEN ${digestIn(`r.${BODY}`)} = g_before THEN ${WAITED} <= g_patience ELSE FALSE END AND ${where}`;
  }

  /** Of these long texts those that no record names. */
  #drop(parts: readonly { readonly name: string; readonly id: string }[]): string {
    const given = rowsOf(parts.map(({ name, id }) => ({ ...keyOf(name), id: [id, 'key'] })));
    return `DELETE v FROM ${given} JOIN ${this.#table} AS v ON v.name = g_name AND v.part = g_id LEFT JOIN ${this.#present}
      WHERE r.${BODY} IS NULL OR LOCATE(g_id, r.${BODY}) = 0`;
  }

  /** The long text that a swap adds is there. */
  #withAdded(swaps: readonly Named[]): { readonly from: string; readonly where: string } {
    if (swaps.every(({ adds }) => adds === undefined)) return { from: '', where: 'TRUE' };
    const from = `LEFT JOIN ${this.#table} AS p ON p.name = g_name AND p.part = g_id`;
    return { from, where: '(g_id IS NULL OR p.part IS NOT NULL)' };
  }

  #answer(changes: readonly Change[]): string {
    const isWhole = changes.some((change) => change.isWhole === true);
    const given = rowsOf(
      changes.map(({ name, swap, isWhole: whole = false, known }, i) => ({
        i: [i],
        ...keyOf(name),
        after: digestValue(swap?.after),
        ...(isWhole ? { whole: [Number(whole)], known: [known, 'key'] } : {}),
      })),
    );
    const present = `SELECT given.*, r.${BODY}, r.main, ${digestIn(`r.${BODY}`)} <=> g_after AS is_done FROM ${given} LEFT JOIN ${this.#present}`;
    const main = isWhole
      ? `LEFT JOIN ${this.#table} AS p ON p.name = g_name AND p.part = r.main AND g_whole = 1 AND is_done = 0 AND NOT p.part <=> g_known`
      : '';
    // The text of a swap that is done is known.
    return `SELECT g_i AS i, is_done, ${inBytes(`IF(is_done, NULL, r.${BODY})`)} AS ${BODY}, ${isWhole ? inBytes(`p.${BODY}`) : 'NULL'} AS main,
      ${EPOCH_MS} AS now FROM (${present}) AS r ${main}`;
  }

  long(name: string, ids: readonly string[], most: number, endAt: number): Promise<readonly SqlRow[]> {
    const given = rowsOf(ids.map((id) => ({ ...keyOf(name), id: [id, 'key'] })));
    const sql = `SELECT ${inBytes('g_id')} AS part, ${inBytes(`LEFT(p.${BODY}, :most)`)} AS ${BODY}, ${EPOCH_MS} AS now
      FROM ${given} LEFT JOIN ${this.#table} AS p ON p.name = g_name AND p.part = g_id`;
    return this.#client.query(sql, { most }, endAt);
  }

  list(range: NameRange, endAt: number): Promise<readonly SqlRow[]> {
    const found = `SELECT name, ${BODY} FROM ${this.#table}
      WHERE name >= :prefix AND name < :end AND part = ${EMPTY} AND coalesce(expires_at > ${NOW}, TRUE) ORDER BY name LIMIT :limit`;
    const sql = `SELECT ${inBytes('name')} AS name, ${inBytes(BODY)} AS ${BODY}, ${EPOCH_MS} AS now FROM (SELECT 1) AS one LEFT JOIN (${found}) AS found ON TRUE`;
    return this.#client.query(sql, range, endAt);
  }

  /** Of an INSERT. IGNORE would also cut off values instead of refusing them. */
  get #keepsPresent(): string {
    return `ON DUPLICATE KEY UPDATE ${this.#table}.${BODY} = ${this.#table}.${BODY}`;
  }

  get #present(): string {
    return `${this.#table} AS r ON r.name = g_name AND r.part = ${EMPTY}`;
  }
}

function keyOf(name: string): { readonly name: MysqlValue } {
  return { name: [name, 'key'] };
}

function afterOf(swap: Named): Readonly<Record<string, MysqlValue>> {
  const { name, after, main, adds } = swap;
  return {
    ...keyOf(name),
    after: [after, 'long'],
    main: [main, 'key'],
    id: [adds?.id, 'key'],
    keep: [keptFor(swap)],
  };
}

function digestValue(text: string | undefined): MysqlValue {
  return [text === undefined ? undefined : digestOf(text), 'digest'];
}

/** The long texts that a record may no longer name after a swap, or not yet. */
function partsOf({ adds, drops }: Swap): string[] {
  return adds === undefined ? [...drops] : [...drops, adds.id];
}

/** @param table a result of `tableName`. */
export function mysqlPurge(table: string): Pick<SqlTableOptions, 'expired' | 'purge'> {
  const present = `${table} AS r ON r.name = v.name AND r.part = ${EMPTY}`;
  return {
    expired: `SELECT DISTINCT ${inBytes('v.name')} AS name FROM ${table} AS v LEFT JOIN ${present}
      WHERE v.name > :after AND v.name < :before AND (r.name IS NULL OR r.expires_at < ${NOW}) ORDER BY name LIMIT :limit`,
    purge: [
      `DELETE v FROM ${table} AS v WHERE v.name IN (${PURGED_NAMES}) AND v.part = ${EMPTY} AND v.expires_at < ${NOW}`,
      // Also those of a record that another session has written again in between.
      `DELETE v FROM ${table} AS v LEFT JOIN ${present} WHERE v.name IN (${PURGED_NAMES}) AND v.part <> ${EMPTY}
        AND (r.name IS NULL OR LOCATE(v.part, r.${BODY}) = 0)`,
    ],
  };
}
