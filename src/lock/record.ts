import { DamagedRecordError } from '../cluster/damage.ts';
import type { AcquireRequest, LeaseId, LockState } from '../cluster/lock-contract.ts';
import { showKey } from '../errors.ts';
import { CLOCK_BACK_MS, type Ending, type LockRow } from './lock-backend.ts';

/** The lock record of one name, plain data. Instants are milliseconds on a clock shared by all users of the record. */
export interface Record {
  readonly token: number;
  readonly owner: string;
  readonly requestId: string;
  readonly host: string;
  readonly state: LockState;
  readonly tookOver: boolean;
  readonly leaseUntil: number;
  readonly notBefore: number;
  readonly acquiredAt: number;
  readonly finishedAt: number | null;
  readonly lastError: string | null;
}

/** An instant by both clocks of a backend, in milliseconds: `at` for durations, `wall` for tokens. */
export interface Instant {
  readonly at: number;
  readonly wall: number;
}

/** Its lease is live: no other owner can acquire it. */
export function isLive({ state, leaseUntil, acquiredAt }: Record, at: number): boolean {
  return state === 'running' && leaseUntil > at && acquiredAt <= at + CLOCK_BACK_MS;
}

/** The hold of a done round or the backoff of a failed one is not over. */
function isHeldBack({ notBefore, finishedAt }: Record, at: number): boolean {
  return finishedAt !== null && notBefore > at && finishedAt <= at + CLOCK_BACK_MS;
}

/**
 * The record of a name after an acquire; the same object if the acquire changed nothing.
 *
 * @throws {DamagedRecordError} when the token of the record has no successor, because the record was edited. Starting anew would
 * make tokens go back.
 */
export function acquired(
  record: Record | undefined,
  { owner, requestId, host, leaseFor, force }: AcquireRequest,
  { at, wall }: Instant,
): Record {
  if (record !== undefined && isLive(record, at)) return record;
  if (record !== undefined && isHeldBack(record, at) && !force) return record;
  return {
    token: Math.max(successorOf(record === undefined ? 0 : record.token), Math.floor(wall * 1000)),
    owner,
    requestId,
    host,
    state: 'running',
    tookOver: record?.state === 'running',
    leaseUntil: at + leaseFor,
    notBefore: at,
    acquiredAt: at,
    finishedAt: null,
    lastError: null,
  };
}

/** @throws {DamagedRecordError} when the token is not a safe integer below the greatest one. */
export function successorOf(token: number): number {
  if (Number.isSafeInteger(token) && token < Number.MAX_SAFE_INTEGER) return token + 1;
  throw new DamagedRecordError(`its record holds the token ${showKey(token)}, which has no successor`);
}

/** The record after an extension; `undefined` if the lease does not match or is not live. */
export function extended(
  record: Record | undefined,
  lease: LeaseId,
  leaseFor: number,
  at: number,
): Record | undefined {
  if (record === undefined || !isOf(record, lease) || !isLive(record, at)) return undefined;
  return { ...record, leaseUntil: at + leaseFor };
}

/** The record after a release; `undefined` if the lease does not match, or is neither live nor ended in that state. */
export function released(
  record: Record | undefined,
  lease: LeaseId,
  { state, holdFor, error }: Ending,
  at: number,
): Record | undefined {
  if (record === undefined || !isOf(record, lease)) return undefined;
  if (record.state === state) return record; // repeated after a lost reply
  if (!isLive(record, at)) return undefined;
  return {
    ...record,
    state,
    leaseUntil: at,
    notBefore: at + holdFor,
    finishedAt: at,
    lastError: error ?? null,
  };
}

/** The record after a release by an operator; `undefined` if the token does not match. */
export function forceReleased(record: Record | undefined, token: number, at: number): Record | undefined {
  if (record?.token !== token) return undefined;
  return { ...record, state: 'released', leaseUntil: at, notBefore: at, finishedAt: at };
}

/** The record as a backend returns it. */
export function rowOf(name: string, record: Record, { at, wall }: Instant): LockRow {
  const { leaseUntil, notBefore, acquiredAt, finishedAt, lastError, ...others } = record;
  return {
    name,
    ...others,
    leaseLeft: isLive(record, at) ? leaseUntil - at : 0,
    holdLeft: isHeldBack(record, at) ? notBefore - at : 0,
    acquiredAgo: at - acquiredAt,
    finishedAgo: finishedAt === null ? undefined : at - finishedAt,
    lastError: lastError ?? undefined,
    now: wall,
  };
}

function isOf(record: Record, { token, requestId }: LeaseId): boolean {
  return record.token === token && record.requestId === requestId;
}
