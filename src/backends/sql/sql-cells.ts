import { commandTimeoutMs } from '../../cluster/time-limits.ts';
import type { Cells, Change, Seen, Swap } from '../../records/cells/cells.ts';
import { isOfLease } from '../../records/cells/is-of-lease.ts';
import { systemClock } from '../../time/clock.ts';
import { durationParameter, type SqlRow } from './client.ts';
import { endOf } from './end-of.ts';
import { inStatements, MOST_NAMES } from './in-statements.ts';
import type { SqlTable } from './sql-table.ts';

/**
 * The statements on the table of one database. A row has the text of a name, and its `part` is empty; or it has a long text of it,
 * and `part` is its id. Each answer has a row at least, and each of its rows the server's clock as `now`, in epoch milliseconds.
 * A value of another type counts as an empty text.
 */
export interface CellStatements {
  /** Looks and swaps may be in one statement. */
  readonly sharesCommands: boolean;
  /** How long swaps are tried that are in one call with looks, in milliseconds. @default as long as others */
  readonly behindLooksMs?: number;
  /** The user may only look. @default no error says so */
  isDenied?(error: unknown): boolean;
  /**
   * Returns a row for each change, ordered by name as they are: its index `i`, the present `body`, its `main` text if it is asked for,
   * and of a swap `is_done`: also where the present text is the one after it.
   */
  swap(changes: readonly Change[], endAt: number): Promise<readonly SqlRow[]>;
  /** Rows of `part` and `body`, of which as many characters or more. */
  long(name: string, ids: readonly string[], most: number, endAt: number): Promise<readonly SqlRow[]>;
  /** Rows of `name` and `body` from a name to before another one; or one without a name. */
  list(range: NameRange, endAt: number): Promise<readonly SqlRow[]>;
}

/** The first names of a range: parameters. */
export interface NameRange {
  readonly prefix: string;
  readonly end: string;
  readonly limit: number;
  readonly [name: string]: string | number;
}

/** The most characters that statements can be asked for. */
const MOST_CHARACTERS = 2 ** 31 - 1;

/** Cells in a table of a SQL database. */
export class SqlCells implements Cells {
  readonly mostEdits: number = MOST_NAMES;
  readonly timeoutMs: number;
  readonly #table: SqlTable;
  readonly #statements: CellStatements;
  readonly #isOfValues: (error: unknown) => boolean;
  #isReadOnly = false;

  /** @param isOfValues as of `SqlClient`. @param timeoutMs how long the caller of a step waits. */
  constructor(
    table: SqlTable,
    statements: CellStatements,
    isOfValues: (error: unknown) => boolean,
    timeoutMs: number,
  ) {
    this.#table = table;
    this.#statements = statements;
    this.#isOfValues = isOfValues;
    this.timeoutMs = timeoutMs;
  }

  get sharesCommands(): boolean {
    return this.#statements.sharesCommands && !this.#isReadOnly;
  }

  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const isMixed = changes.some(isLook) && !changes.every(isLook);
    const seen = await this.#inStatements(changes, isMixed).catch((error) => {
      if (this.#isReadOnly || !isMixed || this.#statements.isDenied?.(error) !== true) throw error;
      this.#isReadOnly = true; // looks do not fail because a report can't be left
      return this.#inStatements(changes, isMixed);
    });
    this.#table.changed(changes.flatMap(({ name, swap }) => (swap === undefined ? [] : { name, ...swap })));
    return seen;
  }

  async #inStatements(changes: readonly Change[], isMixed: boolean): ReturnType<Cells['swap']> {
    const { behindLooksMs } = this.#statements;
    const mostMs = commandTimeoutMs(this.timeoutMs, isOfLease(changes.map(({ op }) => op)));
    const endAt = systemClock.monotonic() + (isMixed ? Math.min(behindLooksMs ?? mostMs, mostMs) : mostMs);
    let now = NaN;
    const answers = await inStatements(changes, {
      kindOf: (change) => (this.sharesCommands ? '' : kindOf(change)),
      isOfValues: this.#isOfValues,
      send: async (some) => {
        const rows = await this.#table.run((end) => this.#statements.swap(some, end), endAt);
        now = clockIn(rows);
        const found = new Map(rows.map((row) => [Number(row.i), row]));
        return some.map((change, i) => seenIn(change, found.get(i)));
      },
    });
    return { now, answers };
  }

  async long(name: string, ids: readonly string[], most: number): Promise<readonly (string | undefined)[]> {
    const characters = Math.min(most, MOST_CHARACTERS);
    const rows = await this.#table.run((endAt) => this.#statements.long(name, ids, characters, endAt));
    const found = new Map(rows.map(({ part, body }) => [textOf(part), textOf(body)]));
    return ids.map((id) => found.get(id));
  }

  async list(prefix: string, limit: number): ReturnType<Cells['list']> {
    const range = { prefix, end: endOf(prefix), limit };
    const rows = await this.#table.run((endAt) => this.#statements.list(range, endAt));
    const texts = rows.flatMap(({ name, body }) => {
      const known = textOf(name);
      return known === undefined ? [] : [[known, textOf(body) ?? ''] as const];
    });
    return { now: clockIn(rows), texts };
  }
}

function clockIn([first]: readonly SqlRow[]): number {
  return Number(first?.now);
}

/** A look, a swap, or one deletion: the rows after several would not tell which of them has found its own. */
function kindOf({ name, swap }: Change): string {
  if (swap === undefined) return 'look';
  return swap.after === undefined ? `delete ${name}` : 'swap';
}

function isLook({ swap }: Change): boolean {
  return swap === undefined;
}

function seenIn({ swap }: Change, { body, main, is_done }: SqlRow = {}): Seen {
  const text = textOf(body);
  if (swap === undefined) return { isDone: false, text, main: textOf(main) };
  const isDone = YES.has(String(is_done));
  return isDone ? { isDone } : { isDone, text, main: textOf(main) };
}

/** Clients return a boolean as a boolean, a number, a bigint or a text. */
const YES: ReadonlySet<string> = new Set(['true', '1']);

function textOf(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

/** How long a row is kept, in milliseconds; NULL: for ever. */
export function keptFor({ keepForMs }: Swap): number | null {
  return keepForMs === Infinity ? null : durationParameter(keepForMs);
}
