import { systemClock } from '../time/clock.ts';
import type { SqlChange, SqlClient, SqlParameters, SqlRow } from './client.ts';

/** What the table of a lock or a store is made of. */
export interface SqlTableOptions {
  readonly client: SqlClient;
  /** CREATE TABLE IF NOT EXISTS. */
  readonly definition: string;
  /** Whose text a person can take: `postgresLockTable()`. */
  readonly definedBy: string;
  /** How long a statement is tried again while others are in its way, in milliseconds. */
  readonly timeoutMs: number;
  /** `Infinity`: nothing is purged. */
  readonly retentionMs: number;
  /** The names that are past `:retention`, at most `:most`. Takes no locks. */
  readonly expired: string;
  /** Deletes `:name` if it is past `:retention`. */
  readonly purge: string;
}

/** Not sooner than this after the last time. */
const PURGE_EVERY_MS = 3_600_000;
const PURGE_AT_MOST = 1000;
const LONGEST_PAUSE_MS = 50;

/** Longer durations would leave the calendars of some databases: a thousand years. */
const LONGEST_MS = 365_250 * 86_400_000;

/** A duration as statements take it. */
export function durationParameter(ms: number): number {
  return Math.min(ms, LONGEST_MS);
}

/**
 * Runs statements on one table. In the steady state a statement is one command. The table is created when a statement
 * has failed because there is none. A statement that others were in the way of is tried again.
 */
export class SqlTable {
  readonly #options: SqlTableOptions;
  #purgedAt: number = Number.NEGATIVE_INFINITY;

  constructor(options: SqlTableOptions) {
    this.#options = options;
  }

  /** When nobody waits any more for the answer to a step that begins now. */
  endAt(): number {
    return systemClock.monotonic() + this.#options.timeoutMs;
  }

  hasReturning(endAt: number): Promise<boolean> {
    return this.#options.client.hasReturning(endAt);
  }

  query(sql: string, parameters: SqlParameters, endAt: number = this.endAt()): Promise<readonly SqlRow[]> {
    return this.#run(endAt, () => this.#options.client.query(sql, parameters, endAt));
  }

  change(sql: string, parameters: SqlParameters): Promise<SqlChange> {
    const endAt = this.endAt();
    return this.#run(endAt, () => this.#options.client.change(sql, parameters, endAt));
  }

  /** Deletes what is past its retention, if that was not done in the last hour. Later, and without an error. */
  purgeSoon(): void {
    const { retentionMs } = this.#options;
    const now = systemClock.monotonic();
    if (retentionMs === Infinity || now - this.#purgedAt < PURGE_EVERY_MS) return;
    this.#purgedAt = now;
    systemClock.setTimeout(() => {
      this.#purge(durationParameter(retentionMs)).catch(() => {}); // no right to delete, a closed client: next time
    }, 0);
  }

  async #purge(retention: number): Promise<void> {
    const { client, expired, purge } = this.#options;
    const rows = await client.query(expired, { retention, most: PURGE_AT_MOST });
    for (const { name } of rows) await client.change(purge, { name: String(name), retention });
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
          await this.#create(endAt);
        } else if (client.isContention(error) && systemClock.monotonic() + pauseMs < endAt) {
          await pause(pauseMs * (0.5 + Math.random() / 2));
        } else throw error;
      }
    }
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
        const message = `its table is missing and can't be created (${definedBy} tells how to): ${reason}`;
        throw new Error(message, { cause: error });
      }
    }
  }
}

function pause(ms: number): Promise<void> {
  // It holds the process: where the database is in the process, nothing else would.
  return new Promise((resolve) => systemClock.setTimeout(resolve, ms).ref());
}
