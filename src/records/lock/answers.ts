import { DamagedRecordError } from '../../cluster/damage.ts';
import type { AcquireAnswer, AcquireRequest, LockRecord } from '../../cluster/lock-contract.ts';
import { shownRecord } from '../../cluster/registration.ts';
import { showKey } from '../../errors.ts';

/** The record of a name as a backend has it now. A duration that is over may be negative. */
export interface LockRow extends LockRecord {
  readonly requestId: string;
  /** The damaged field of the record that this one has replaced. */
  readonly replaced: string | undefined;
  /** As of the release that has ended its round. */
  readonly confirms: string | undefined;
  /** The backend's wall clock in epoch milliseconds. */
  readonly now: number;
}

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

/** The answer to an acquire: the caller's lease if it has its request id and is live; else what prevents it. */
export function answerOf(row: LockRow, { requestId }: AcquireRequest): AcquireAnswer {
  const { name, owner, host, token, now, tookOver, leaseLeft, holdLeft, replaced, confirms } = row;
  const isLive = row.state === 'running' && leaseLeft > 0;
  if (isLive && row.requestId === requestId) {
    return {
      kind: 'acquired',
      lease: { name, owner, requestId, token, remaining: leaseLeft },
      tookOver,
      damage: replaced && `its ${replaced} was implausible or of a wrong type`,
      now,
    };
  }
  if (!isLive && row.state === 'done' && holdLeft > 0) {
    const finishedAgo = Math.max(0, row.finishedAgo ?? 0);
    const said = confirms === undefined ? {} : { confirms };
    return { kind: 'done', retryAfter: holdLeft, finishedAgo, owner, host, token, ...said, now };
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

/** The record for operators. */
export function recordOf({
  requestId: _,
  replaced: __,
  confirms: ___,
  now: ____,
  ...row
}: LockRow): LockRecord {
  return shownRecord({
    ...row,
    leaseLeft: Math.max(0, row.leaseLeft),
    holdLeft: Math.max(0, row.holdLeft),
  });
}
