import type { SqlDialect } from '../sql/dialect.ts';
import { isPlausible, successorOf } from '../sql/plausible.ts';
import { PURGED_NAMES } from '../sql/sql-table.ts';
import { CLOCK_BACK_MS, LONGEST_AHEAD_MS, REPLACED } from './lock-backend.ts';

/** SQL statements of a lock. `record.ts` defines the effect of each on a record. */
export interface LockStatements {
  /** Followed by `returning` if the server supports it; else `find` is sent next. */
  readonly acquire: string;
  readonly returning: string;
  readonly extend: string;
  readonly release: string;
  readonly forceRelease: string;
  readonly find: string;
  readonly list: string;
  readonly expired: string;
  readonly purge: string;
}

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
  const isTaken = dialect.assignsInTurn
    ? `((request_id = :requestId AND acquired_at = ${now}) OR ${isFree})`
    : isFree;
  const assign = (column: string, value: string, where = isFree): string =>
    `${column} = CASE WHEN ${where} THEN ${value} ELSE ${stored(column)} END`;
  const columns =
    'name, token, owner, request_id, lease_until, not_before, state, took_over, acquired_at, finished_at, host, last_error';
  const leaseEnd = plus(now, ':leaseFor');
  const row = [
    ...['name', 'owner', 'request_id', 'host', 'last_error'].map(dialect.returned),
    'token, state',
    'CASE WHEN took_over THEN 1 ELSE 0 END AS took_over',
    `CASE WHEN ${isLive} THEN ${between(now, 'lease_until')} ELSE 0 END AS lease_left`,
    `CASE WHEN ${isHeldBack} THEN ${between(now, 'not_before')} ELSE 0 END AS hold_left`,
    `${between('acquired_at', now)} AS acquired_ago`,
    `CASE WHEN state = 'running' THEN NULL ELSE ${between('finished_at', now)} END AS finished_ago`,
    `${dialect.micros} AS server_micros`,
    `${damage(own, '')} AS damage`,
  ].join(', ');
  const isOwn = 'name = :name AND token = :token AND request_id = :requestId';
  const unlessEnded = (column: string, value: string): string =>
    `${column} = CASE WHEN state = :state THEN ${column} ELSE ${value} END`;
  const isExpired = `${plus(dialect.greater('lease_until', 'not_before'), ':retention')} < ${now}`;

  return {
    acquire: `INSERT INTO ${table} (${columns}) VALUES (:name, ${dialect.micros}, :owner, :requestId, ${leaseEnd},
      ${now}, 'running', FALSE, ${now}, NULL, :host, NULL)
      ${dialect.orUpdate} ${[
        assign('owner', ':owner'),
        assign('request_id', ':requestId'),
        assign('host', ':host'),
        assign('took_over', `(${stored('state')} = 'running')`),
        assign('last_error', damage(stored, REPLACED)),
        assign('acquired_at', now),
        assign('token', successorOf(dialect, stored('token')), isTaken),
        assign('state', `'running'`, isTaken),
        assign('lease_until', leaseEnd, isTaken),
        assign('not_before', now, isTaken),
        assign('finished_at', 'NULL', isTaken),
      ].join(', ')}`,
    returning: `RETURNING ${row}`,
    extend: `UPDATE ${table} SET lease_until = ${leaseEnd} WHERE ${isOwn} AND ${isLive}`,
    // A repeated release, after a lost reply, finds the row and leaves it unchanged. The state is assigned last.
    release: `UPDATE ${table} SET ${[
      unlessEnded('lease_until', now),
      unlessEnded('not_before', plus(now, ':holdFor')),
      unlessEnded('finished_at', now),
      unlessEnded('last_error', ':error'),
      'state = :state',
    ].join(', ')} WHERE ${isOwn} AND (state = :state OR ${isLive})`,
    forceRelease: `UPDATE ${table} SET state = 'released', lease_until = ${now}, not_before = ${now}, finished_at = ${now}
      WHERE name = :name AND token = :token`,
    find: `SELECT ${row} FROM ${table} WHERE name = :name`,
    list: `SELECT ${row} FROM ${table} WHERE ${dialect.beginsWith('name', ':prefix')} ORDER BY ${table}.name LIMIT :limit`,
    expired: `SELECT ${dialect.returned('name')} FROM ${table} WHERE ${isExpired} AND ${table}.name > :after
      ORDER BY ${table}.name LIMIT :limit`,
    purge: `DELETE FROM ${table} WHERE name IN (${PURGED_NAMES}) AND ${isExpired}`,
  };
}
