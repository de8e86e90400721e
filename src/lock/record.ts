import type { AcquireRequest, LeaseId, LockState } from '../cluster/lock-contract.ts';
import { showKey } from '../errors.ts';
import { CLOCK_BACK_MS, type Ending, type LockRow } from './lock-backend.ts';

/** The record of one name. Instants in milliseconds on a clock that all who share the record share. Plain data. */
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

/** The clocks of an engine: one for durations, and the wall clock, both in milliseconds. */
export interface Instant {
  readonly at: number;
  readonly wall: number;
}

/** Its lease is live: nobody else may have it. */
export function isLive({ state, leaseUntil, acquiredAt }: Record, at: number): boolean {
  return state === 'running' && leaseUntil > at && acquiredAt <= at + CLOCK_BACK_MS;
}

/** The next round is held back. */
function isHeldBack({ notBefore, finishedAt }: Record, at: number): boolean {
  return finishedAt !== null && notBefore > at && finishedAt <= at + CLOCK_BACK_MS;
}

/**
 * The record of a name after an acquire; the same object where that has changed nothing.
 *
 * @throws {TypeError} where its token is none, or the last one there is: somebody has edited it. To begin anew would make
 * tokens go back.
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

/** @throws {TypeError} */
export function successorOf(token: number): number {
  if (Number.isSafeInteger(token) && token < Number.MAX_SAFE_INTEGER) return token + 1;
  throw new TypeError(`its record holds the token ${showKey(token)}, which has no successor`);
}

/** The record after an extension; `undefined` where the lease is not his, or not live. */
export function extended(
  record: Record | undefined,
  lease: LeaseId,
  leaseFor: number,
  at: number,
): Record | undefined {
  if (record === undefined || !isOf(record, lease) || !isLive(record, at)) return undefined;
  return { ...record, leaseUntil: at + leaseFor };
}

/** The record after a release; `undefined` where the lease is not his, or not live. */
export function released(
  record: Record | undefined,
  lease: LeaseId,
  { state, holdFor, error }: Ending,
  at: number,
): Record | undefined {
  if (record === undefined || !isOf(record, lease)) return undefined;
  if (record.state === state) return record; // told once more, because the answer was lost
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

/** The record after an operator has released it; `undefined` where the token is not the present one. */
export function forceReleased(record: Record | undefined, token: number, at: number): Record | undefined {
  if (record?.token !== token) return undefined;
  return { ...record, state: 'released', leaseUntil: at, notBefore: at, finishedAt: at };
}

/** The record as its engine shows it. */
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
