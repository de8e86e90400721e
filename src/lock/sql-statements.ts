import type { SqlDialect } from '../sql/dialect.ts';
import { type Given, insertedRow, ofEach, ofOne } from '../sql/given.ts';
import { isPlausible, successorOf } from '../sql/plausible.ts';
import { PURGED_NAMES } from '../sql/sql-table.ts';
import { CLOCK_BACK_MS, LONGEST_AHEAD_MS, REPLACED } from './lock-backend.ts';

/** SQL statements of a lock. `record.ts` defines the effect of each on a record. */
export interface LockStatements {
  /** Followed by `returning` if the server supports it; else `find` is sent next. */
  readonly acquire: string;
  readonly returning: string;
  /** `acquire` of several names; `givenParameters` has their values. */
  readonly acquireEach: (count: number) => string;
  readonly releaseEach: (count: number) => string;
  readonly extendEach: (count: number) => string;
  /** Where an UPDATE returns no names: those of the leases that have ended as given. */
  readonly endedOfEach: (count: number) => string;
  /** Where an UPDATE returns no names: those of the leases that are live. */
  readonly liveOfEach: (count: number) => string;
  readonly findEach: (count: number) => string;
  /** `releaseEach` and `extendEach` return the names of those that were released or extended. */
  readonly updateReturnsNames: boolean;
  readonly extend: string;
  readonly release: string;
  readonly forceRelease: string;
  readonly find: string;
  readonly list: string;
  readonly expired: string;
  readonly purge: string;
}

/** The values of each name. */
const ACQUIRED = { name: 'key', owner: 'text', requestId: 'key', host: 'text', leaseFor: 'number' } as const;
const EXTENDED = { name: 'key', token: 'whole', requestId: 'key', leaseFor: 'number' } as const;
const RELEASED = {
  name: 'key',
  token: 'whole',
  requestId: 'key',
  state: 'key',
  holdFor: 'number',
  keptBefore: 'number',
  error: 'text',
} as const;

/** @param table a result of `tableName`. */
export function lockStatements(dialect: SqlDialect, table: string): LockStatements {
  const { now, plus, between } = dialect;
  const stored = (column: string): string => dialect.stored(table, column);
  const own = (column: string): string => column;
  const soon = plus(now, String(CLOCK_BACK_MS));
  const latest = plus(now, String(LONGEST_AHEAD_MS));
  type Column = (name: string) => string;
  /** Rules for the columns of a sound record, beside their types. */
  const rules = (column: Column): readonly (readonly [field: string, rule: string])[] => [
    ['token', isPlausible(dialect, column('token'))],
    ['state', `${column('state')} IN ('running', 'done', 'failed', 'abandoned', 'released')`],
    ['leaseUntil', `${column('lease_until')} <= ${latest}`],
    ['notBefore', `${column('not_before')} <= ${latest}`],
    ['acquiredAt', `${column('acquired_at')} <= ${latest} AND ${dialect.isFinite(column('acquired_at'))}`],
  ];
  const damage = (column: Column, before: string): string =>
    `CASE ${rules(column)
      .map(([field, rule]) => `WHEN NOT (${rule}) THEN '${before}${field}'`)
      .join(' ')} ELSE NULL END`;
  /** The same rules in fewer comparisons; those of the state follow from its use. */
  const isSound = (column: Column): string => {
    const last = dialect.greater(
      dialect.greater(column('lease_until'), column('not_before')),
      column('acquired_at'),
    );
    return `${isPlausible(dialect, column('token'))} AND ${last} <= ${latest} AND ${dialect.isFinite(column('acquired_at'))}`;
  };
  const isRunning = (column: Column): string =>
    `(${column('state')} = 'running' AND ${column('lease_until')} > ${now} AND ${column('acquired_at')} <= ${soon})`;
  const isHolding = (column: Column): string =>
    `(${column('state')} IN ('done', 'failed', 'abandoned', 'released') AND ${column('finished_at')} IS NOT NULL AND ${dialect.isFinite(column('finished_at'))} AND ${column('not_before')} > ${now} AND ${column('finished_at')} <= ${soon})`;
  const isLive = `(${isSound(own)} AND ${isRunning(own)})`;
  const isHeldBack = `(${isSound(own)} AND ${isHolding(own)})`;
  const isHeld = `(${isSound(stored)} AND (${isRunning(stored)} OR (${isHolding(stored)} AND :force = 0)))`;
  // A statement that has waited for the row for longer than its caller did changes nothing: the lease would have no holder.
  const isFree = `(NOT ${isHeld} AND ${dialect.waited} <= :patience)`;
  // Where an assignment sees the earlier ones, the columns that isFree reads come last; by then the row itself shows
  // whether this request has taken it. Of one request that is sent twice within a microsecond, the second gets the lease.
  // isFree is tested as well: in MariaDB's mode SIMULTANEOUS_ASSIGNMENT no assignment sees another.
  const isTakenBy = (requestId: string): string =>
    dialect.assignsInTurn ? `((request_id = ${requestId} AND acquired_at = ${now}) OR ${isFree})` : isFree;
  const assign = (column: string, value: string, where = isFree): string =>
    `${column} = CASE WHEN ${where} THEN ${value} ELSE ${stored(column)} END`;
  /** The row of a new lease. */
  const lease = (given: Given): Readonly<Record<string, string>> => ({
    name: given('name'),
    token: dialect.micros,
    owner: given('owner'),
    request_id: given('requestId'),
    lease_until: plus(now, given('leaseFor')),
    not_before: now,
    state: `'running'`,
    took_over: 'FALSE',
    acquired_at: now,
    finished_at: 'NULL',
    host: given('host'),
    last_error: 'NULL',
  });
  /** Updates the row of a name that exists, if it is free. @param incoming a value of the row of the new lease. */
  const takeOver = (incoming: (column: string) => string): string => {
    const isTaken = isTakenBy(incoming('request_id'));
    return `${dialect.orUpdate('name')} ${[
      assign('owner', incoming('owner')),
      assign('request_id', incoming('request_id')),
      assign('host', incoming('host')),
      assign('took_over', `(${stored('state')} = 'running')`),
      assign('last_error', damage(stored, REPLACED)),
      assign('acquired_at', now),
      assign('token', successorOf(dialect, stored('token')), isTaken),
      assign('state', `'running'`, isTaken),
      assign('lease_until', incoming('lease_until'), isTaken),
      assign('not_before', now, isTaken),
      assign('finished_at', 'NULL', isTaken),
    ].join(', ')}`;
  };
  const row = [
    ...['name', 'owner', 'request_id', 'host', 'last_error'].map(dialect.returned),
    dialect.whole('token'),
    'state',
    'CASE WHEN took_over THEN 1 ELSE 0 END AS took_over',
    `CASE WHEN ${isLive} THEN ${between(now, 'lease_until')} ELSE 0 END AS lease_left`,
    `CASE WHEN ${isHeldBack} THEN ${between(now, 'not_before')} ELSE 0 END AS hold_left`,
    `${between('acquired_at', now)} AS acquired_ago`,
    `CASE WHEN state = 'running' THEN NULL ELSE ${between('finished_at', now)} END AS finished_ago`,
    `${dialect.micros} AS server_micros`,
    `${damage(own, '')} AS damage`,
  ].join(', ');
  const isOwn = (given: Given): string =>
    `name = ${given('name')} AND token = ${given('token')} AND request_id = ${given('requestId')}`;
  // The lease of a done round is over. Where its `keepFor` is shorter than the retention, the end of that lease is moved to
  // `keepFor` before its beginning, and needs no further column; the end of any other is never before its beginning, even if the clock was set back.
  // `keptBefore` is `keepFor`, negative; 0: none.
  const keptBefore = (given: Given): string => plus('acquired_at', given('keptBefore'));
  const leaseEnd = (given: Given): string =>
    `CASE WHEN ${keptBefore(given)} < acquired_at THEN ${keptBefore(given)} ELSE ${dialect.greater(now, 'acquired_at')} END`;
  const keepFor = between('lease_until', 'acquired_at');
  const isBrieflyKept = `CASE
      WHEN NOT (${['lease_until', 'acquired_at', 'not_before'].map(dialect.isFinite).join(' AND ')}) THEN FALSE
      WHEN state <> 'done' OR lease_until >= acquired_at OR ${keepFor} > :retention THEN FALSE
      ELSE ${plus('not_before', keepFor)} < ${now} END`;
  // A repeated release, after a lost reply, finds the row and leaves it unchanged. The state is assigned last.
  const endAs = (given: Given): string => {
    const unlessEnded = (column: string, value: string): string =>
      `${column} = CASE WHEN state = ${given('state')} THEN ${column} ELSE ${value} END`;
    return [
      unlessEnded('lease_until', leaseEnd(given)),
      unlessEnded('not_before', plus(now, given('holdFor'))),
      unlessEnded('finished_at', now),
      unlessEnded('last_error', given('error')),
      `state = ${given('state')}`,
    ].join(', ');
  };
  const canEnd = (given: Given): string => `${isOwn(given)} AND (state = ${given('state')} OR ${isLive})`;
  const extension = (given: Given): string => `lease_until = ${plus(now, given('leaseFor'))}`;
  const canExtend = (given: Given): string => `${isOwn(given)} AND ${isLive}`;
  const isExpired = `(${plus(dialect.greater('lease_until', 'not_before'), ':retention')} < ${now} OR ${isBrieflyKept})`;

  return {
    acquire: `INSERT INTO ${table} ${insertedRow(lease(ofOne))} ${takeOver((column) => lease(ofOne)[column] as string)}`,
    returning: `RETURNING ${row}`,
    acquireEach: (count) =>
      `INSERT INTO ${table} ${dialect.row(lease(ofEach), dialect.rows(ACQUIRED, count))} ${takeOver(dialect.incoming)}`,
    extend: `UPDATE ${table} SET ${extension(ofOne)} WHERE ${canExtend(ofOne)}`,
    extendEach: (count) =>
      dialect.updateEach(table, extension(ofEach), dialect.rows(EXTENDED, count), canExtend(ofEach)),
    liveOfEach: (count) =>
      `SELECT ${dialect.returned('name')} FROM ${dialect.rows(EXTENDED, count)} JOIN ${table} ON ${canExtend(ofEach)}`,
    release: `UPDATE ${table} SET ${endAs(ofOne)} WHERE ${canEnd(ofOne)}`,
    updateReturnsNames: dialect.updateReturnsNames,
    releaseEach: (count) =>
      dialect.updateEach(table, endAs(ofEach), dialect.rows(RELEASED, count), canEnd(ofEach)),
    endedOfEach: (count) =>
      `SELECT ${dialect.returned('name')} FROM ${dialect.rows(RELEASED, count)} JOIN ${table} ON ${isOwn(ofEach)} AND state = ${ofEach('state')}`,
    forceRelease: `UPDATE ${table} SET state = 'released', lease_until = ${now}, not_before = ${now}, finished_at = ${now}
      WHERE name = :name AND token = :token`,
    find: `SELECT ${row} FROM ${table} WHERE name = :name`,
    findEach: (count) =>
      `SELECT ${row} FROM ${dialect.rows({ name: 'key' }, count)} JOIN ${table} ON name = ${ofEach('name')}`,
    list: `SELECT ${row} FROM ${table} WHERE ${dialect.beginsWith('name', ':prefix')} ORDER BY ${table}.name LIMIT :limit`,
    expired: `SELECT ${dialect.returned('name')} FROM ${table} WHERE ${isExpired} AND ${table}.name > :after
      ORDER BY ${table}.name LIMIT :limit`,
    purge: `DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND ${isExpired}`,
  };
}
