import type { Answer, Claim, Edit, ListedEdition, Put, Records } from '../../records/records.ts';
import { systemClock } from '../../time/clock.ts';
import { durationParameter, type SqlRow } from './client.ts';
import { inStatements, MOST_NAMES } from './in-statements.ts';
import { type Clock, editionsBy, listBy } from './lists.ts';
import type { PostgresSql } from './postgres.ts';
import { type PostgresStatements, postgresStatements } from './postgres-statements.ts';
import { rowOf } from './record-sql.ts';
import type { SqlTable } from './sql-table.ts';

/** Times that edits are sent for names which other sessions insert and delete meanwhile. */
const MOST_TIMES = 5;

/** Records in a table of PostgreSQL: one statement for all edits of a call. */
export class PostgresRecords implements Records {
  readonly mostEdits: number = MOST_NAMES;
  readonly #client: PostgresSql;
  readonly #table: SqlTable;
  readonly #timeoutMs: number;
  readonly #statements: PostgresStatements;
  #isReadOnly = false;

  /** @param name the quoted name of the table. @param timeoutMs how long the caller of a step waits. */
  constructor(client: PostgresSql, table: SqlTable, name: string, timeoutMs: number) {
    this.#client = client;
    this.#table = table;
    this.#timeoutMs = timeoutMs;
    this.#statements = postgresStatements(name);
  }

  get sharesCommands(): boolean {
    return !this.#isReadOnly;
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const clock: Clock = { now: systemClock.now() };
    const isMixed = new Set(edits.map(({ op }) => op === 'read')).size > 1;
    const answers = await this.#inStatements(edits, clock).catch((error) => {
      if (this.#isReadOnly || !isMixed || !this.#client.isDenied(error)) throw error;
      this.#isReadOnly = true; // reads do not fail because a report can't be left
      return this.#inStatements(edits, clock);
    });
    return { now: clock.now, answers };
  }

  async #inStatements(edits: readonly Edit[], clock: Clock): Promise<(Answer | Error)[]> {
    const answers = await inStatements(edits, {
      kindOf: ({ op }) => (this.#isReadOnly ? String(op === 'read') : ''),
      isOfValues: (error) => this.#client.isOfValues(error),
      send: (some) => this.#send(some, clock),
    });
    this.#table.changed(edits);
    return answers;
  }

  async #send(edits: readonly Edit[], clock: Clock, time: number = 1): Promise<(Answer | Error)[]> {
    const rows = new Map((await this.#rows(edits)).map((row) => [Number(row.i), row]));
    for (const { micros } of rows.values()) clock.now = Number(micros) / 1000;
    const answers = edits.map((edit, i): Answer | Error => {
      const row = rows.get(i);
      if (row === undefined && edit.op === 'claim') return new Error('the claim has waited for too long');
      return { isDone: row?.is_done === 'true', row: row && edit.op !== 'delete' ? rowOf(row) : undefined };
    });
    const lost = edits.flatMap((_, i) => (rows.get(i)?.is_lost === 'true' ? [i] : []));
    if (lost.length === 0) return answers;
    const again =
      time < MOST_TIMES
        ? await this.#send(
            lost.map((i) => edits[i] as Edit),
            clock,
            time + 1,
          )
        : [];
    for (const [k, i] of lost.entries()) {
      answers[i] = again[k] ?? new Error('others insert and delete the record meanwhile');
    }
    return answers;
  }

  #rows(edits: readonly Edit[]): Promise<readonly SqlRow[]> {
    const parameters = parametersOf(edits);
    const kinds = new Set(edits.map(({ op }) => op));
    if (kinds.size === 1 && kinds.has('read')) {
      return this.#table.query(this.#statements.read, { edits: parameters.edits });
    }
    const patience = durationParameter(this.#timeoutMs);
    return this.#table.query(this.#statements.change(kinds), { ...parameters, patience });
  }

  list(prefix: string, limit: number): ReturnType<Records['list']> {
    return listBy(this.#table, this.#statements.list, prefix, limit);
  }

  editions(name: string, beginning: number): Promise<ListedEdition[]> {
    return editionsBy(this.#table, this.#statements.editions, name, beginning);
  }
}

/** The edits as JSON, without the longest text, which is a parameter of its own. */
function parametersOf(edits: readonly Edit[]): { readonly edits: string; readonly text: string | null } {
  const texts = edits.map((edit) => (edit.op === 'put' ? edit.text : ''));
  const longest = texts.reduce(
    (most, text, i) => (text.length > (texts[most] as string).length ? i : most),
    0,
  );
  const given = edits.map((edit, i) => {
    const { forMs, keepMs } = edit as Partial<Claim & Put>;
    return {
      ...edit,
      i,
      text: 'text' in edit && i !== longest ? edit.text : undefined,
      ...(edit.op === 'amend' && { note: edit.note ?? '' }),
      ...(edit.op === 'read' && { newer: edit.newerThan, brief: edit.isBrief === true }),
      forMs: forMs === undefined ? undefined : durationParameter(forMs),
      keepMs: keepMs === undefined ? undefined : durationParameter(keepMs),
    };
  });
  const first = edits[longest];
  return { edits: JSON.stringify(given), text: first !== undefined && 'text' in first ? first.text : null };
}
