import type { AcquireRequest, LeaseExtension, LeaseId, LockState } from '../cluster/lock-contract.ts';
import { OptionChecks } from '../option-checks.ts';
import type { SqlParameters, SqlRow, SqlValue } from '../sql/client.ts';
import { eachName } from '../sql/each-name.ts';
import { givenParameters } from '../sql/given.ts';
import { openTable, type SqlKind } from '../sql/sql-kind.ts';
import { durationParameter, type SqlTable } from '../sql/sql-table.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import type { Ending, LeaseEnd, LockBackend, LockRow } from './lock-backend.ts';
import { releasedLeases } from './released-leases.ts';
import { type LockStatements, lockStatements } from './sql-statements.ts';

/** Options of all SQL locks. */
export interface SqlLockOptions extends LockOptions {
  /**
   * The table, optionally with its schema: `'tickless_lock'`, `'ops.tickless_lock'`. Letters, digits, `_` and `$`. It is
   * quoted in statements, so case matters. Created on first use if it is missing. @default 'tickless_lock'
   */
  readonly table?: string | undefined;
  /**
   * How long the record of a name is kept after its lease and its hold. Older records are deleted after a release, at
   * most once an hour (once in ten minutes while there are absent keys); errors of that deletion are ignored. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/** Default name of the table. */
export const LOCK_TABLE = 'tickless_lock';

/** Longer error texts are cut. In UTF-16 code units; a TEXT of MySQL takes 64 kB. */
const MAX_ERROR_LENGTH = 16_000;

/** @throws {OptionError} when an option breaks a rule. */
export function sqlLock(options: SqlLockOptions, kind: SqlKind): Lock {
  const { table, statements } = openTable('lock', options, kind, LOCK_TABLE, lockStatements);
  return createLock(new SqlLock(table, statements, kind.longestText ?? Infinity), options, {
    longestName: kind.longestName,
    options: ['client', 'table', 'retention'],
  });
}

/**
 * A lock in a table: one row per name, one statement per step.
 *
 * 1. `acquire` inserts the row, or updates it if it is free, and returns the result. It writes unchanged columns with
 *    their present values, so that one statement covers both cases. Without RETURNING a SELECT of the row follows.
 * 2. `extend`, `release` and `forceRelease` are an UPDATE with all conditions in its WHERE.
 * 3. The statements for several names are the same, with a row of values for each name. Without RETURNING a SELECT follows
 *    an acquire, and a release that has not ended all leases.
 *
 * Row locks last as long as a statement. All instants of a statement are those of its start, even if it had to wait. An
 * `acquire` that had to wait for longer than its caller does leaves the row as it is.
 */
class SqlLock implements LockBackend {
  readonly #table: SqlTable;
  readonly #statements: LockStatements;
  readonly #longestText: number;

  constructor(table: SqlTable, statements: LockStatements, longestText: number) {
    this.#table = table;
    this.#statements = statements;
    this.#longestText = longestText;
  }

  async acquire(request: AcquireRequest): Promise<LockRow> {
    const problem = this.#problemOf(request);
    if (problem !== undefined) throw problem;
    const parameters = { ...acquireValues(request), ...this.#acquireOptions(request) };
    const [row] = await this.#acquire(this.#statements.acquire, parameters);
    const found = row === undefined ? await this.find(request.name) : rowOf(row);
    if (found === undefined) throw deletedRow();
    return found;
  }

  async acquireMany(requests: readonly AcquireRequest[]): Promise<(LockRow | Error)[]> {
    const problems = new Map(requests.map((request) => [request.name, this.#problemOf(request)]));
    const sound = requests.filter(({ name }) => problems.get(name) === undefined);
    const rows = await eachName<AcquireRequest, LockRow>(sound, {
      nameOf: ({ name }) => name,
      kindOf: ({ force }) => String(force),
      send: (some) => this.#acquireEach(some),
      missing: deletedRow,
      isOfValues: (error) => this.#table.isOfValues(error),
    });
    return requests.map(({ name }) => problems.get(name) ?? (rows.shift() as LockRow | Error));
  }

  async #acquireEach(requests: readonly AcquireRequest[]): Promise<ReadonlyMap<string, LockRow>> {
    const [first] = requests as [AcquireRequest];
    const { acquireEach, findEach } = this.#statements;
    const { length } = requests;
    const parameters = { ...givenParameters(requests.map(acquireValues)), ...this.#acquireOptions(first) };
    const returned = await this.#acquire(acquireEach(length), parameters);
    const names = givenParameters(requests.map(({ name }) => ({ name })));
    const rows = returned.length > 0 ? returned : await this.#table.query(findEach(length), names);
    return new Map(rows.map(rowOf).map((row) => [row.name, row]));
  }

  /** @returns no rows where the server has no RETURNING. */
  async #acquire(sql: string, parameters: SqlParameters): Promise<readonly SqlRow[]> {
    const endAt = this.#table.endAt();
    const hasReturning = await this.#table.hasReturning(endAt);
    const { returning } = this.#statements;
    return this.#table.query(hasReturning ? `${sql} ${returning}` : sql, parameters, endAt);
  }

  /** The parameters of an acquire that are the same for all of its names. */
  #acquireOptions({ force }: AcquireRequest): SqlParameters {
    return { force: force ? 1 : 0, patience: durationParameter(this.#table.timeoutMs) };
  }

  async extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    return this.#finds(this.#statements.extend, extendValues({ lease, leaseFor }));
  }

  extendMany(extensions: readonly LeaseExtension[]): Promise<(boolean | Error)[]> {
    const { extendEach, liveOfEach } = this.#statements;
    return eachName<LeaseExtension, boolean>(extensions, {
      nameOf: ({ lease }) => lease.name,
      // A lease that could not be extended is over, and never live again.
      send: (some) =>
        this.#updateEach(some, extendValues, extendEach, async (parameters) => {
          const live = await this.#table.query(liveOfEach(some.length), parameters);
          return new Map(live.map(yes));
        }),
      missing: () => false,
      isOfValues: (error) => this.#table.isOfValues(error),
    });
  }

  async release(lease: LeaseId, ending: Ending): Promise<boolean> {
    const isReleased = await this.#finds(this.#statements.release, releaseValues({ lease, ending }));
    this.#table.purgeSoon(briefFor(ending));
    return isReleased;
  }

  async releaseMany(ends: readonly LeaseEnd[]): Promise<(boolean | Error)[]> {
    const { releaseEach, endedOfEach } = this.#statements;
    const areReleased = await eachName<LeaseEnd, boolean>(ends, {
      nameOf: ({ lease }) => lease.name,
      send: (some) =>
        this.#updateEach(some, releaseValues, releaseEach, async (parameters, matched) => {
          const ended = await this.#table.query(endedOfEach(some.length), parameters);
          return releasedLeases(some, matched, new Set(ended.map(({ name }) => String(name))));
        }),
      missing: () => false,
      isOfValues: (error) => this.#table.isOfValues(error),
    });
    this.#table.purgeSoon(Math.max(0, ...ends.map(({ ending }) => briefFor(ending))));
    return areReleased;
  }

  /** @param which asks which leases were changed, where an UPDATE only counts them. */
  async #updateEach<Q extends { readonly lease: LeaseId }>(
    requests: readonly Q[],
    valuesOf: (request: Q) => Record<string, SqlValue>,
    statementOf: (count: number) => string,
    which: (parameters: SqlParameters, matched: number) => Promise<ReadonlyMap<string, boolean | Error>>,
  ): Promise<ReadonlyMap<string, boolean | Error>> {
    const statement = statementOf(requests.length);
    const parameters = givenParameters(requests.map(valuesOf));
    if (this.#statements.updateReturnsNames)
      return new Map((await this.#table.query(statement, parameters)).map(yes));
    const { matched } = await this.#table.change(statement, parameters);
    return matched === requests.length
      ? new Map(requests.map(({ lease }) => yes(lease)))
      : which(parameters, matched);
  }

  async find(name: string): Promise<LockRow | undefined> {
    const [row] = await this.#table.query(this.#statements.find, { name });
    return row === undefined || isDamaged(row) ? undefined : rowOf(row);
  }

  async list(prefix: string, limit: number): Promise<LockRow[]> {
    const rows = await this.#table.query(this.#statements.list, { prefix, limit });
    return rows.filter((row) => !isDamaged(row)).map(rowOf);
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    return this.#finds(this.#statements.forceRelease, { name, token });
  }

  /** A server that is not strict cuts longer texts, and would not recognize the request again. */
  #problemOf({ name, owner, requestId, host }: AcquireRequest): Error | undefined {
    const most = this.#longestText;
    const checks = new OptionChecks(name);
    for (const [option, text] of Object.entries({ owner, requestId, host })) {
      checks.that(text.length <= most, option, `must be at most ${most} characters long`, text);
    }
    try {
      checks.done();
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  async #finds(sql: string, parameters: SqlParameters): Promise<boolean> {
    return (await this.#table.change(sql, parameters)).matched > 0;
  }
}

function acquireValues({ name, owner, requestId, host, leaseFor }: AcquireRequest): Record<string, SqlValue> {
  return { name, owner, requestId, host, leaseFor: durationParameter(leaseFor) };
}

function extendValues({ lease, leaseFor }: LeaseExtension): Record<string, SqlValue> {
  const { name, token, requestId } = lease;
  return { name, token, requestId, leaseFor: durationParameter(leaseFor) };
}

function releaseValues({ lease, ending }: LeaseEnd): Record<string, SqlValue> {
  const { name, token, requestId } = lease;
  const { state, holdFor, keepFor = 0, error } = ending;
  return {
    ...{ name, token, requestId, state },
    holdFor: durationParameter(holdFor),
    keptBefore: -durationParameter(keepFor),
    error: error === undefined ? null : storable(error),
  };
}

function yes({ name }: { readonly name?: unknown }): [string, boolean] {
  return [String(name), true];
}

/** How long the record is kept, if that is less than the retention. */
function briefFor({ holdFor, keepFor }: Ending): number {
  return keepFor === undefined ? 0 : holdFor + keepFor;
}

function deletedRow(): Error {
  return new Error('the row of the lock was deleted right after the write');
}

/** Cuts an error text to the limit, and replaces U+0000, which PostgreSQL does not store. */
function storable(error: string): string {
  return error.slice(0, MAX_ERROR_LENGTH).replaceAll('\0', '\ufffd');
}

function isDamaged({ damage }: SqlRow): boolean {
  return damage !== null && damage !== undefined;
}

/** Clients return numbers as numbers, strings or bigints. */
function rowOf(row: SqlRow): LockRow {
  const { name, token, owner, request_id, host, state, last_error, finished_ago } = row;
  return {
    name: String(name),
    token: Number(token),
    owner: String(owner),
    requestId: String(request_id),
    host: String(host),
    state: String(state) as LockState,
    tookOver: Number(row.took_over) === 1,
    leaseLeft: Number(row.lease_left),
    holdLeft: Number(row.hold_left),
    acquiredAgo: Number(row.acquired_ago),
    finishedAgo: finished_ago === null ? undefined : Number(finished_ago),
    lastError: last_error === null ? undefined : String(last_error),
    now: Number(row.server_micros) / 1000,
  };
}
