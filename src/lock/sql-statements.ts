import type { SqlDialect } from '../sql/dialect.ts';
import { CLOCK_BACK_MS } from './lock-backend.ts';

/** The statements. What each does to a record is told by `record.ts`. */
export interface LockStatements {
  /** Followed by `returning` where the server knows that; else `find` comes next. */
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

/** @param table as `tableName` gives it. */
export function lockStatements(dialect: SqlDialect, table: string): LockStatements {
  const { now, plus, between } = dialect;
  const held = (column: string): string => dialect.held(table, column);
  const own = (column: string): string => column;
  const soon = plus(now, String(CLOCK_BACK_MS));
  const isLive = (column = own): string =>
    `(${column('state')} = 'running' AND ${column('lease_until')} > ${now} AND ${column('acquired_at')} <= ${soon})`;
  // A state that is none was put there by somebody: it holds nobody back.
  const isHeldBack = (column = own): string =>
    `(${column('state')} IN ('done', 'failed', 'abandoned', 'released') AND ${column('finished_at')} IS NOT NULL AND ${column('not_before')} > ${now} AND ${column('finished_at')} <= ${soon})`;
  const isFree = `(NOT ${isLive(held)} AND (NOT ${isHeldBack(held)} OR :force = 1))`;
  // Where an assignment sees those before it, the columns that isFree asks come last, and by then the row tells
  // whether it was free. Should the same request have taken it in the same microsecond, it writes the same once more.
  // isFree is asked too: MariaDB has a mode, SIMULTANEOUS_ASSIGNMENT, where none is seen. A row that was not free is
  // as it was, and isFree says so.
  const isTaken = dialect.assignsInTurn
    ? `((request_id = :requestId AND acquired_at = ${now}) OR ${isFree})`
    : isFree;
  const assign = (column: string, value: string, where = isFree): string =>
    `${column} = CASE WHEN ${where} THEN ${value} ELSE ${held(column)} END`;
  const columns =
    'name, token, owner, request_id, lease_until, not_before, state, took_over, acquired_at, finished_at, host, last_error';
  const leaseEnd = plus(now, ':leaseFor');
  const row = [
    ...['name', 'owner', 'request_id', 'host', 'last_error'].map(dialect.returned),
    'token, state',
    'CASE WHEN took_over THEN 1 ELSE 0 END AS took_over',
    `CASE WHEN ${isLive()} THEN ${between(now, 'lease_until')} ELSE 0 END AS lease_left`,
    `CASE WHEN ${isHeldBack()} THEN ${between(now, 'not_before')} ELSE 0 END AS hold_left`,
    `${between('acquired_at', now)} AS acquired_ago`,
    `${between('finished_at', now)} AS finished_ago`,
    `${dialect.micros} AS engine_micros`,
  ].join(', ');
  const isHis = 'name = :name AND token = :token AND request_id = :requestId';
  const unlessTold = (column: string, value: string): string =>
    `${column} = CASE WHEN state = :state THEN ${column} ELSE ${value} END`;
  const isExpired = `${plus(dialect.greater('lease_until', 'not_before'), ':retention')} < ${now}`;

  return {
    acquire: `INSERT INTO ${table} (${columns}) VALUES (:name, ${dialect.micros}, :owner, :requestId, ${leaseEnd},
      ${now}, 'running', FALSE, ${now}, NULL, :host, NULL)
      ${dialect.orUpdate} ${[
        assign('token', dialect.greater(`${held('token')} + 1`, dialect.micros)),
        assign('owner', ':owner'),
        assign('request_id', ':requestId'),
        assign('host', ':host'),
        assign('took_over', `(${held('state')} = 'running')`),
        assign('last_error', 'NULL'),
        assign('acquired_at', now),
        assign('state', `'running'`, isTaken),
        assign('lease_until', leaseEnd, isTaken),
        assign('not_before', now, isTaken),
        assign('finished_at', 'NULL', isTaken),
      ].join(', ')}`,
    returning: `RETURNING ${row}`,
    extend: `UPDATE ${table} SET lease_until = ${leaseEnd} WHERE ${isHis} AND ${isLive()}`,
    // Told once more, because the answer was lost, it finds the row and leaves it. The state is assigned last.
    release: `UPDATE ${table} SET ${[
      unlessTold('lease_until', now),
      unlessTold('not_before', plus(now, ':holdFor')),
      unlessTold('finished_at', now),
      unlessTold('last_error', ':error'),
      'state = :state',
    ].join(', ')} WHERE ${isHis} AND (state = :state OR ${isLive()})`,
    forceRelease: `UPDATE ${table} SET state = 'released', lease_until = ${now}, not_before = ${now}, finished_at = ${now}
      WHERE name = :name AND token = :token`,
    find: `SELECT ${row} FROM ${table} WHERE name = :name`,
    list: `SELECT ${row} FROM ${table} WHERE ${dialect.beginsWith('name', ':prefix')} ORDER BY ${table}.name LIMIT :most`,
    expired: `SELECT ${dialect.returned('name')} FROM ${table} WHERE ${isExpired} ORDER BY ${table}.name LIMIT :most`,
    purge: `DELETE FROM ${table} WHERE name = :name AND ${isExpired}`,
  };
}
