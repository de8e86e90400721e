import { isDoneIn } from '../../records/edited.ts';
import type { Answer, Edit, ListedEdition, Put, Records } from '../../records/records.ts';
import { systemClock } from '../../time/clock.ts';
import type { SqlRow } from './client.ts';
import { inStatements, MOST_NAMES } from './in-statements.ts';
import { type Clock, editionsBy, listBy } from './lists.ts';
import type { MysqlBatch, MysqlSql } from './mysql.ts';
import { type Given, givenRows } from './mysql-given-rows.ts';
import { type MysqlStatements, mysqlStatements } from './mysql-statements.ts';
import { clockIn, rowOf } from './record-sql.ts';
import type { SqlTable } from './sql-table.ts';

/** Records in a table of MySQL or MariaDB: one statement for each kind of edit. */
export class MysqlRecords implements Records {
  readonly mostEdits: number = MOST_NAMES;
  readonly sharesCommands: boolean = false;
  readonly #client: MysqlSql;
  readonly #table: SqlTable;
  readonly #timeoutMs: number;
  readonly #statements: MysqlStatements;

  /** @param name the quoted name of the table. @param timeoutMs how long the caller of a step waits. */
  constructor(client: MysqlSql, table: SqlTable, name: string, timeoutMs: number) {
    this.#client = client;
    this.#table = table;
    this.#timeoutMs = timeoutMs;
    this.#statements = mysqlStatements(name);
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const clock: Clock = { now: systemClock.now() };
    const answers = await inStatements(edits, {
      kindOf,
      isOfValues: (error) => this.#client.isOfValues(error),
      send: (some) => this.#send(some, clock),
    });
    this.#table.changed(edits);
    return { now: clock.now, answers };
  }

  async #send(edits: readonly Edit[], clock: Clock): Promise<(Answer | Error)[]> {
    const [{ op, name }] = edits as [Edit];
    if (op === 'delete') {
      const deleted = await this.#table.run((endAt) =>
        this.#client.change(this.#statements.delete, { name }, endAt),
      );
      return [{ isDone: deleted > 0, row: undefined }];
    }
    const { rows, matched } = await this.#rows(edits);
    clock.now = clockIn(rows);
    const found = new Map(rows.map((row) => [Number(row.i), row]));
    // Others may have claimed the names before the rows were read.
    const areDone = op === 'amend' && matched === edits.length;
    return edits.map((edit, i): Answer | Error => {
      const row = found.get(i);
      if (row !== undefined) {
        const answer = rowOf(row);
        return { isDone: areDone || isDoneIn(answer, edit), row: answer };
      }
      if (edit.op === 'read' || edit.op === 'amend') return { isDone: areDone, row: undefined };
      return new Error('the row was deleted right after the write');
    });
  }

  async #rows(edits: readonly Edit[]): ReturnType<MysqlSql['batch']> {
    const [{ op }] = edits as [Edit];
    const statements = this.#statements;
    const given = givenRows(edits, this.#timeoutMs);
    if (op === 'read')
      return this.#batch({ changes: [], answer: statements.read(given), isWhole: false }, given);
    if (op === 'put') return { rows: await this.#put(edits as readonly Put[], given) };
    const change = op === 'claim' ? statements.claim(given) : statements.amend(given);
    const answer = statements.answer(given, op === 'claim' ? 'CAST(r.text AS BINARY)' : undefined);
    return this.#batch({ changes: [change], answer, isWhole: false }, given);
  }

  #batch(batch: MysqlBatch, { parameters }: Given): ReturnType<MysqlSql['batch']> {
    return this.#table.run((endAt) => this.#client.batch(batch, parameters, endAt));
  }

  async #put(puts: readonly Put[], given: Given): Promise<readonly SqlRow[]> {
    const { put, keep, drop, answer } = this.#statements;
    const isByToken = puts[0]?.token !== undefined;
    const keepsOlder = puts.some(({ older }) => older > 0);
    const change = put(given, isByToken, keepsOlder);
    const changes = keepsOlder ? [keep(given, isByToken), change, drop(given)] : [change];
    const isWhole = keepsOlder || !isByToken; // without tokens the next put could be read as this one
    const { rows } = await this.#batch({ changes, answer: answer(given), isWhole }, given);
    if (!keepsOlder && rows.some(({ has_older }) => Number(has_older) === 1)) {
      await this.#table.run((endAt) => this.#client.change(drop(given), given.parameters, endAt));
    }
    return rows;
  }

  list(prefix: string, limit: number): ReturnType<Records['list']> {
    return listBy(this.#table, this.#statements.list, prefix, limit);
  }

  editions(name: string, beginning: number): Promise<ListedEdition[]> {
    return editionsBy(this.#table, this.#statements.editions, name, beginning);
  }
}

/** Edits of one kind have one statement; a deletion has one of its own. */
function kindOf(edit: Edit): string {
  if (edit.op === 'delete') return `delete ${edit.name}`;
  return edit.op === 'put' ? `put ${edit.token === undefined} ${edit.older > 0}` : edit.op;
}
