// The steps of a lock once more, in a form of its own: faulty locks replace some of them.

import type { AcquireRequest, LeaseId, LockState } from '../../../src/cluster/lock-contract.ts';
import { CLOCK_BACK_MS, isPlausibleToken } from '../../../src/cluster/plausible.ts';
import { LONGEST_AHEAD_MS } from '../../../src/records/edited.ts';
import { type Ending, type LockRow, REPLACED } from '../../support/records-of-steps.ts';

/** The lock record of one name, plain data. Instants are milliseconds on a clock shared by all users of the record. */
export interface BackendRecord {
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
  /**
   * How long the record is kept after its lease and its hold, in milliseconds, if that is shorter than the adapter keeps
   * any; only once a round is done. @default undefined: as long as any
   */
  readonly keepFor?: number | undefined;
  /** As the release of its round has it. */
  readonly confirms?: string | undefined;
}

/** An instant by both clocks of a backend, in milliseconds: `at` for durations, `wall` for tokens. */
export interface Instant {
  readonly at: number;
  readonly wall: number;
}

const STATES: readonly unknown[] = ['running', 'done', 'failed', 'abandoned', 'released'];

/**
 * The first field of a record that no step of a lock has written: it was edited, and is implausible or of a wrong type.
 * `undefined`: the record is sound. A damaged one counts as absent, except for its token where that is plausible.
 */
function damageOf(record: BackendRecord, { at, wall }: Instant): string | undefined {
  const { token, owner, requestId, state, leaseUntil, notBefore, acquiredAt, finishedAt } = record;
  if (!isPlausibleToken(token, wall)) return 'token';
  if (!STATES.includes(state)) return 'state';
  const instants = { leaseUntil, notBefore, acquiredAt, finishedAt: finishedAt ?? at };
  const found = Object.entries(instants).find(([, one]) => !isPlausible(one, at))?.[0];
  const texts = Object.entries({ owner, requestId });
  return found ?? texts.find(([, text]) => typeof text !== 'string')?.[0];
}

function isPlausible(instant: number, at: number): boolean {
  return Number.isFinite(instant) && instant - at <= LONGEST_AHEAD_MS;
}

/** Its lease is live: no other owner can acquire it. */
export function isLive({ state, leaseUntil, acquiredAt }: BackendRecord, at: number): boolean {
  const isRunning = state === 'running' && leaseUntil > at && acquiredAt <= at + CLOCK_BACK_MS;
  return isRunning && isPlausible(leaseUntil, at);
}

/** The hold of a done round or the backoff of a failed one is not over. */
function isHeldBack({ notBefore, finishedAt }: BackendRecord, at: number): boolean {
  const isOver = finishedAt === null || notBefore <= at || finishedAt > at + CLOCK_BACK_MS;
  return !isOver && isPlausible(notBefore, at);
}

/**
 * The record of a name after an acquire; the same object if the acquire changed nothing. A damaged record is replaced, and
 * the new one names the damage in `lastError`.
 */
export function acquired(
  record: BackendRecord | undefined,
  { owner, requestId, host, leaseFor, force }: AcquireRequest,
  now: Instant,
): BackendRecord {
  const { at, wall } = now;
  const damage = record && damageOf(record, now);
  if (record !== undefined && damage === undefined) {
    if (isLive(record, at) || (isHeldBack(record, at) && !force)) return record;
  }
  return {
    token: successorOf(record?.token, wall),
    owner,
    requestId,
    host,
    state: 'running',
    tookOver: record?.state === 'running',
    leaseUntil: at + leaseFor,
    notBefore: at,
    acquiredAt: at,
    finishedAt: null,
    lastError: damage === undefined ? null : REPLACED + damage,
    keepFor: undefined,
  };
}

/** The next token: the backend's clock in microseconds, and more than a token before it that the backend can have given. */
function successorOf(token: number | undefined, wall: number): number {
  return Math.max(isPlausibleToken(token, wall) ? token + 1 : 0, Math.floor(wall * 1000));
}

/** The record after an extension; `undefined` if the lease does not match or is not live. */
export function extended(
  record: BackendRecord | undefined,
  lease: LeaseId,
  leaseFor: number,
  at: number,
): BackendRecord | undefined {
  if (record === undefined || !isOf(record, lease) || !isLive(record, at)) return undefined;
  return { ...record, leaseUntil: at + leaseFor };
}

/** The record after a release; `undefined` if the lease does not match, or is neither live nor ended in that state. */
export function released(
  record: BackendRecord | undefined,
  lease: LeaseId,
  { state, holdFor, error, keepFor, confirms }: Ending,
  at: number,
): BackendRecord | undefined {
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
    keepFor,
    confirms,
  };
}

/** The record after a release by an operator; `undefined` if the token does not match. */
export function forceReleased(
  record: BackendRecord | undefined,
  token: number,
  at: number,
): BackendRecord | undefined {
  if (record?.token !== token) return undefined;
  return { ...record, state: 'released', leaseUntil: at, notBefore: at, finishedAt: at };
}

/** The record as a backend returns it. */
export function rowOf(name: string, record: BackendRecord, { at, wall }: Instant): LockRow {
  const { leaseUntil, notBefore, acquiredAt, finishedAt, lastError, keepFor: _, ...others } = record;
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

function isOf(record: BackendRecord, { token, requestId }: LeaseId): boolean {
  return record.token === token && record.requestId === requestId;
}
