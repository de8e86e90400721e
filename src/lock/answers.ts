import { DamagedRecordError } from '../cluster/damage.ts';
import type { AcquireAnswer, AcquireRequest, LockRecord, ReleaseOutcome } from '../cluster/lock-contract.ts';
import { showKey } from '../errors.ts';
import { type Ending, type LockRow, REPLACED } from './lock-backend.ts';

/** The row has neither a lease nor a hold by the time of its own answer: it changed in between. */
const SOON_MS = 10;

/** @throws {DamagedRecordError} for a record that was edited by hand and can't be used. */
export function checkRow(row: LockRow): LockRow {
  if (!Number.isSafeInteger(row.token)) {
    throw new DamagedRecordError(`its record has the token ${showKey(row.token)}, which has no successor`);
  }
  const { leaseLeft, holdLeft, acquiredAgo, finishedAgo = 0, now } = row;
  for (const [what, ms] of Object.entries({ leaseLeft, holdLeft, acquiredAgo, finishedAgo, now })) {
    if (!Number.isFinite(ms))
      throw new DamagedRecordError(`its record is damaged: ${what} is ${showKey(ms)}`);
  }
  return row;
}

/** The answer to an acquire. */
export function answerOf(row: LockRow, { requestId }: AcquireRequest): AcquireAnswer {
  const { name, owner, host, token, now, tookOver, leaseLeft, holdLeft } = row;
  const isLive = row.state === 'running' && leaseLeft > 0;
  if (isLive && row.requestId === requestId) {
    return {
      kind: 'acquired',
      lease: { name, owner, requestId, token, remaining: leaseLeft },
      tookOver,
      damage: damageOf(row),
      now,
    };
  }
  if (!isLive && row.state === 'done' && holdLeft > 0) {
    const finishedAgo = Math.max(0, row.finishedAgo ?? 0);
    return { kind: 'done', retryAfter: holdLeft, finishedAgo, owner, host, token, now };
  }
  const left = isLive ? leaseLeft : holdLeft;
  return {
    kind: 'held',
    retryAfter: left > 0 ? left : SOON_MS,
    heldFor: Math.max(0, row.acquiredAgo),
    owner,
    host,
    token,
    isBackoff: row.state === 'failed',
    now,
  };
}

function damageOf({ lastError }: LockRow): string | undefined {
  if (lastError?.startsWith(REPLACED) !== true) return undefined;
  return `its ${lastError.slice(REPLACED.length)} was implausible or of a wrong type`;
}

/** The record for operators. */
export function recordOf({ requestId: _, now: __, ...row }: LockRow): LockRecord {
  return { ...row, leaseLeft: Math.max(0, row.leaseLeft), holdLeft: Math.max(0, row.holdLeft) };
}

/** How an outcome ends a lease. */
export function endingOf(outcome: ReleaseOutcome): Ending {
  return {
    state: outcome?.as,
    holdFor: outcome?.as === 'abandoned' ? 0 : outcome?.holdFor,
    error: outcome?.as === 'failed' ? outcome.error : undefined,
    keepFor: outcome?.as === 'done' ? outcome.keepFor : undefined,
  };
}
