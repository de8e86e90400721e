import { systemClock } from '../time/clock.ts';
import type { SqlBatch, SqlChange, SqlClient, SqlParameters, SqlRow } from './client.ts';

/** Parameters of {@link SqlTable}. */
export interface SqlTableOptions {
  readonly client: SqlClient;
  /** CREATE TABLE IF NOT EXISTS. */
  readonly definition: string;
  /** The function that returns it, for error messages: `postgresLockTable()`. */
  readonly definedBy: string;
  /** How long a statement is retried during contention, in milliseconds. */
  readonly timeoutMs: number;
  /** `Infinity`: no row is ever purged. */
  readonly retentionMs: number;
  /** The shortest time between two passes that purge. @default an hour; ten minutes while there are rows kept for less than the retention */
  readonly purgeEveryMs?: number;
  /** Selects the names after `:after` that are past `:retention`, in order, at most `:limit`. Takes no row locks. */
  readonly expired: string;
  /** Deletes those of {@link PURGED_NAMES} that are past `:retention`. */
  readonly purge: string;
  /** Both for a table without the columns of the present version. */
  readonly older?: Pick<SqlTableOptions, 'expired' | 'purge'> | undefined;
  /** A table of which statements use rows too: it is created with this one. */
  readonly beside?: SqlTable | undefined;
  /** A second table, created and purged after the first. */
  readonly further?: Pick<SqlTableOptions, 'definition' | 'expired' | 'purge'> | undefined;
}

const PURGE_INTERVAL_MS = 3_600_000;
/** While there are rows that are kept for less than the retention. */
const BRIEF_INTERVAL_MS = 600_000;
const PURGE_LIMIT = 1000;

/** Names per DELETE: one statement for each would delete more slowly than many instances write. */
const PURGE_CHUNK = 100;

/** The parameters of a DELETE: `:name0, :name1, …`. */
export const PURGED_NAMES: string = Array.from({ length: PURGE_CHUNK }, (_, i) => `:name${i}`).join(', ');
const LONGEST_PAUSE_MS = 50;

/** A thousand years: longer durations exceed the calendars of some databases. */
const LONGEST_MS = 365_250 * 86_400_000;

/** A duration as a parameter of a statement. */
export function durationParameter(ms: number): number {
  return Math.min(ms, LONGEST_MS);
}

/** A table is missing and can't be created. */
class MissingTableError extends Error {}

/**
 * Runs statements on one table: one command per statement in the steady state. A statement that fails because the table
 * is missing creates it, then runs again. A statement that fails by contention is retried.
 */
export class SqlTable {
  readonly #options: SqlTableOptions;
  #purgedAt: number = Number.NEGATIVE_INFINITY;
  #isPurging = false;
  /** The last of the rows that this process has written to be kept for less than the retention. */
  #briefUntil: number = Number.NEGATIVE_INFINITY;

  constructor(options: SqlTableOptions) {
    this.#options = options;
  }

  /** How long the caller of a step waits, in milliseconds. */
  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Deadline of a step that begins now, on the monotonic clock. */
  endAt(): number {
    return systemClock.monotonic() + this.#options.timeoutMs;
  }

  hasReturning(endAt: number): Promise<boolean> {
    return this.#options.client.hasReturning(endAt);
  }

  get isBatchOneCommand(): boolean | undefined {
    return this.#options.client.isBatchOneCommand;
  }

  isOfValues(error: unknown): boolean {
    return this.#options.client.isOfValues(error);
  }

  query(sql: string, parameters: SqlParameters, endAt: number = this.endAt()): Promise<readonly SqlRow[]> {
    return this.#run(endAt, () => this.#options.client.query(sql, parameters, endAt));
  }

  change(sql: string, parameters: SqlParameters, endAt: number = this.endAt()): Promise<SqlChange> {
    return this.#run(endAt, () => this.#options.client.change(sql, parameters, endAt));
  }

  batch(batch: SqlBatch, parameters: SqlParameters): Promise<readonly SqlRow[]> {
    const endAt = this.endAt();
    return this.#run(endAt, () => this.#options.client.batch(batch, parameters, endAt));
  }

  /** The table can't be used as it is: it is missing and can't be created, or the user has not the rights. */
  isUnusable(error: unknown): boolean {
    return error instanceof MissingTableError || this.#options.client.isDenied(error);
  }

  /** The table was made by an earlier version: it lacks a column of the statement. */
  isColumnMissing(error: unknown): boolean {
    return this.#options.client.isColumnMissing(error);
  }

  /**
   * Deletes all rows that are kept no longer in the background, in one pass, at most once in `purgeEveryMs`. Never throws.
   *
   * @param briefFor how long the row that was just written is kept, if that is less; 0: it is not.
   */
  purgeSoon(briefFor: number = 0): void {
    const { retentionMs } = this.#options;
    const now = systemClock.monotonic();
    if (briefFor > 0) this.#briefUntil = Math.max(this.#briefUntil, now + briefFor);
    const hasBrief = now - this.#briefUntil < BRIEF_INTERVAL_MS;
    const interval = this.#options.purgeEveryMs ?? (hasBrief ? BRIEF_INTERVAL_MS : PURGE_INTERVAL_MS);
    if ((retentionMs === Infinity && !hasBrief) || this.#isPurging || now - this.#purgedAt < interval) return;
    this.#purgedAt = now;
    this.#isPurging = true;
    systemClock.setTimeout(() => {
      this.#purgeAll(durationParameter(retentionMs))
        .catch(() => {}) // no right to delete, a closed client: retried in the next pass
        .finally(() => {
          this.#isPurging = false;
        });
    }, 0);
  }

  async #purgeAll(retention: number): Promise<void> {
    const { older, further } = this.#options;
    try {
      await this.#purge(retention, this.#options);
    } catch (error) {
      if (older === undefined || !this.isColumnMissing(error)) throw error;
      await this.#purge(retention, older);
    }
    if (further !== undefined) await this.#purge(retention, further);
  }

  /** Goes through the table once, in the order of names: rows that are kept are not looked at again. */
  async #purge(
    retention: number,
    { expired, purge }: Pick<SqlTableOptions, 'expired' | 'purge'>,
  ): Promise<void> {
    const { client } = this.#options;
    for (let after = ''; ; ) {
      const rows = await client.query(expired, { retention, limit: PURGE_LIMIT, after });
      const names = rows.map(({ name }) => String(name));
      for (let i = 0; i < names.length; i += PURGE_CHUNK) {
        await client
          .change(purge, { ...parametersOf(names.slice(i, i + PURGE_CHUNK)), retention })
          .catch((error) => {
            if (!client.isContention(error)) throw error; // else another instance is deleting them
          });
        await new Promise<void>((resolve) => systemClock.setTimeout(resolve, 0)); // some clients are synchronous
      }
      const last = names.at(-1);
      if (last === undefined || names.length < PURGE_LIMIT) return;
      after = last;
    }
  }

  async #run<R>(endAt: number, statement: () => Promise<R>): Promise<R> {
    const { client } = this.#options;
    let isCreated = false;
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await statement();
      } catch (error) {
        if (client.isTableMissing(error) && !isCreated) {
          isCreated = true;
          await this.create(endAt);
        } else if (client.isContention(error) && systemClock.monotonic() + pauseMs < endAt) {
          await pause(pauseMs * (0.5 + Math.random() / 2));
        } else throw error;
      }
    }
  }

  /** Creates what is missing. @throws {MissingTableError} without the right to do so. */
  async create(endAt: number): Promise<void> {
    const { definition, further, beside } = this.#options;
    await this.#createOne(definition, endAt);
    if (further !== undefined) await this.#createOne(further.definition, endAt);
    await beside?.create(endAt);
  }

  async #createOne(definition: string, endAt: number): Promise<void> {
    const { client, definedBy } = this.#options;
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
        throw new MissingTableError(message, { cause: error });
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
