import type { Swap } from '../../records/cells/cells.ts';
import { NAME, REPORT } from '../../records/names.ts';
import { systemClock } from '../../time/clock.ts';
import type { SqlClient, SqlParameters } from './client.ts';
import { endOf } from './end-of.ts';

/** Parameters of {@link SqlTable}. */
export interface SqlTableOptions {
  readonly client: SqlClient;
  /** CREATE TABLE IF NOT EXISTS. */
  readonly definition: string;
  /** Selects the `name` of a table that the database takes for this one, though it is spelled otherwise. @default none can be */
  readonly misspelled?: { readonly sql: string; readonly parameters: SqlParameters } | undefined;
  /** The function that returns it, for error messages: `postgresTable()`. */
  readonly definedBy: string;
  /** How long a statement is retried during contention, in milliseconds. */
  readonly timeoutMs: number;
  /** `Infinity`: only rows that are to be kept for less are ever purged. */
  readonly retentionMs: number;
  /**
   * Selects the names from `:after` to `:before` whose text is kept no longer, or is gone from beside long ones, in order, at most
   * `:limit`. Takes no row locks.
   */
  readonly expired: string;
  /** Of {@link PURGED_NAMES}, one after the other: deletes the texts that are kept no longer, then the long ones without any. */
  readonly purge: readonly string[];
}

/** The shortest time between two passes through all names. */
const PURGE_INTERVAL_MS = 3_600_000;
/** The same while there are rows that are kept for less than the retention. */
const BRIEF_INTERVAL_MS = 600_000;
/** The same through the names of reports only: with each deployment there are others. */
const REPORTS_INTERVAL_MS = 60_000;
const PURGE_LIMIT = 1000;

/** Names per DELETE: one statement for each would delete more slowly than many instances write. */
const PURGE_CHUNK = 100;

/** The parameters of a DELETE: `:name0, :name1, …`. */
export const PURGED_NAMES: string = Array.from({ length: PURGE_CHUNK }, (_, i) => `:name${i}`).join(', ');
const LONGEST_PAUSE_MS = 50;

/** Of all names. */
const BEGINNINGS = [NAME, REPORT];

/**
 * Runs statements on one table: one command per statement in the steady state. A statement that fails because the table
 * is missing creates it, then runs again. A statement that fails by contention is retried.
 */
export class SqlTable {
  readonly #options: SqlTableOptions;
  /** It is there, and spelled so. */
  #isKnown = false;
  #purgedAt: number = -Infinity;
  #reportsPurgedAt: number = -Infinity;
  #isPurging = false;
  /** One creation is under way at a time: a crowd would wait for that of each, one after the other. */
  #creating: Promise<void> | undefined;
  /** The last of the rows that this process has written to be kept for less than the retention. */
  #briefUntil: number = -Infinity;

  constructor(options: SqlTableOptions) {
    this.#options = options;
  }

  /** These swaps were made, or tried: deletes all rows that are kept no longer in the background, if it is time. Never throws. */
  changed(swaps: readonly (Pick<Swap, 'keepForMs'> & { readonly name: string })[]): void {
    const now = systemClock.monotonic();
    const hasReport = swaps.some(({ name }) => name.startsWith(REPORT));
    const others = swaps.filter(({ name }) => !name.startsWith(REPORT));
    for (const { keepForMs } of others) {
      if (keepForMs < this.#options.retentionMs)
        this.#briefUntil = Math.max(this.#briefUntil, now + keepForMs);
    }
    if (this.#isPurging) return;
    const hasBrief = now - this.#briefUntil < BRIEF_INTERVAL_MS;
    const isTime = now - this.#purgedAt >= (hasBrief ? BRIEF_INTERVAL_MS : PURGE_INTERVAL_MS);
    if (others.length > 0 && isTime && (hasBrief || this.#options.retentionMs < Infinity)) {
      this.#purgedAt = now;
      this.#purgeSoon(BEGINNINGS);
    } else if (hasReport && now - this.#reportsPurgedAt >= REPORTS_INTERVAL_MS) {
      this.#reportsPurgedAt = now;
      this.#purgeSoon([REPORT]);
    }
  }

  #purgeSoon(beginnings: readonly string[]): void {
    this.#isPurging = true;
    systemClock.setTimeout(() => {
      this.#purgeAll(beginnings)
        .catch(() => {}) // no right to delete, a closed client: retried in the next pass
        .finally(() => {
          this.#isPurging = false;
        });
    }, 0);
  }

  async #purgeAll(beginnings: readonly string[]): Promise<void> {
    for (const beginning of beginnings) await this.#purge(beginning);
  }

  /** Goes through names once, in their order: records that are kept are not looked at again. */
  async #purge(beginning: string): Promise<void> {
    const { client, expired, purge } = this.#options;
    const before = endOf(beginning);
    for (let after = beginning; ; ) {
      const rows = await client.query(expired, { limit: PURGE_LIMIT, after, before });
      const names = rows.map(({ name }) => String(name));
      for (let i = 0; i < names.length; i += PURGE_CHUNK) {
        const parameters = parametersOf(names.slice(i, i + PURGE_CHUNK));
        for (const statement of purge) {
          await client.change(statement, parameters).catch((error) => {
            if (!client.isContention(error)) throw error; // else another instance is deleting them
          });
        }
        await new Promise<void>((resolve) => systemClock.setTimeout(resolve, 0)); // some clients are synchronous
      }
      const last = names.at(-1);
      if (last === undefined || names.length < PURGE_LIMIT) return;
      after = last;
    }
  }

  /** Runs a statement until its end, on the monotonic clock: creates the table if it is missing, and retries during contention. */
  async run<R>(
    statement: (endAt: number) => Promise<R>,
    endAt: number = systemClock.monotonic() + this.#options.timeoutMs,
  ): Promise<R> {
    const { client } = this.#options;
    let isCreated = false;
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        if (!this.#isKnown) await this.#checkSpelling(endAt);
        const result = await statement(endAt);
        this.#isKnown = true;
        return result;
      } catch (error) {
        if (client.isTableMissing(error) && !isCreated) {
          isCreated = true;
          this.#creating ??= this.#create(endAt).finally(() => {
            this.#creating = undefined;
          });
          await this.#creating;
        } else if (client.isContention(error) && systemClock.monotonic() + pauseMs < endAt) {
          await pause(pauseMs * (0.5 + Math.random() / 2));
        } else throw error;
      }
    }
  }

  /** @throws {Error} where there is another one: its records are those of other members. */
  async #checkSpelling(endAt: number): Promise<void> {
    const { client, misspelled } = this.#options;
    if (misspelled === undefined) return;
    const { sql, parameters } = misspelled;
    const [other] = await client.query(sql, parameters, endAt);
    if (other === undefined) return;
    throw new Error(
      `the database takes the table ${parameters.table} for ${other.name}, which is another one: spell it so, or choose another name`,
    );
  }

  async #create(endAt: number): Promise<void> {
    const { client, definition, definedBy } = this.#options;
    for (;;) {
      try {
        await client.change(definition, {}, endAt);
        return;
      } catch (error) {
        if (client.isTablePresent(error)) return;
        if (client.isContention(error) && systemClock.monotonic() < endAt) {
          await pause(LONGEST_PAUSE_MS * Math.random());
          continue;
        }
        const reason = error instanceof Error ? error.message : String(error);
        const message = `the table is missing and can't be created (${definedBy} returns its definition): ${reason}`;
        throw new Error(message, { cause: error });
      }
    }
  }
}

/** The last name fills up the list, so that all statements have the same text. */
function parametersOf(names: readonly string[]): SqlParameters {
  const filled = Array.from({ length: PURGE_CHUNK }, (_, i) => [
    `name${i}`,
    names[i] ?? (names.at(-1) as string),
  ]);
  return Object.fromEntries(filled);
}

function pause(ms: number): Promise<void> {
  // Keeps the process alive: with an in-process database no socket does.
  return new Promise((resolve) => systemClock.setTimeout(resolve, ms).ref());
}
