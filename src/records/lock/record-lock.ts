import { parseJson } from '../../bounded-json.ts';
import type { ClaimAnswer, Settled, SnapshotChange } from '../../cluster/backend-steps.ts';
import { confirmationIn } from '../../cluster/confirmation.ts';
import type {
  AcquireRequest,
  LeaseId,
  LockProvider,
  LockRecord,
  ReleaseOutcome,
} from '../../cluster/lock-contract.ts';
import { ownOptions } from '../../option-checks.ts';
import { endText, holderText, type LockEnd, type LockHolder } from '../lock-texts.ts';
import { LOCK } from '../names.ts';
import { only } from '../only.ts';
import { readOf } from '../read-of.ts';
import type { Amend, Answer, Claim, Edit, Row, Steps } from '../records.ts';
import { confirmAnswer, type RecordStore, snapshotOf, writeAnswer } from '../store/record-store.ts';
import { answerOf, checkRow, type LockRow, recordOf } from './answers.ts';

/** The steps of a lock on records: an acquire claims a name, an extension and a release amend it. Their requests are known to be sound. */
export class RecordLock
  implements Pick<LockProvider, 'acquire' | 'extend' | 'release' | 'inspect' | 'forceRelease'>
{
  readonly #records: Steps;
  readonly #beginning: string;
  readonly #snapshots: RecordStore | undefined;

  /**
   * @param prefix begins all names at the backend; callers see them without it.
   * @param snapshots those of the same names.
   */
  constructor(records: Steps, prefix: string = '', snapshots?: RecordStore) {
    this.#records = records;
    this.#beginning = LOCK + prefix;
    this.#snapshots = snapshots;
  }

  async acquire(request: AcquireRequest & { readonly newerThan?: number | undefined }): Promise<ClaimAnswer> {
    const { name, newerThan } = request;
    const claim = claimOf(this.#beginning, request);
    const read = newerThan === undefined ? undefined : this.#snapshots?.reading(name, newerThan);
    const { now, answers } = await this.#records.apply(read === undefined ? [claim] : [claim, read]);
    const row = only(answers).row as Row;
    const { pinnedFor } = row;
    const about = pinnedFor === undefined ? {} : { pinnedFor };
    const answer = { ...answerOf(checkRow(lockRow(name, row, now)), request), ...about };
    const [, found] = answers;
    if (found instanceof Error) return { ...answer, newer: found };
    return found?.row === undefined ? answer : { ...answer, newer: snapshotOf(found.row) };
  }

  async settle(lease: LeaseId, outcome: ReleaseOutcome, change: SnapshotChange): Promise<Settled> {
    const snapshots = this.#snapshots as RecordStore;
    const { name, token } = lease;
    const end = endOf(this.#beginning, lease, outcome);
    const isWrite = change.as === 'write';
    const edit = isWrite
      ? {
          ...snapshots.putting(name, change.payload, token, change.rejected, change.keepFor),
          sparesPinned: true,
        }
      : snapshots.confirming(name, change.version, change.text);
    const { answers } = await this.#records.apply([edit, end]);
    const changed = only(answers);
    const written = isWrite ? writeAnswer(changed) : confirmAnswer(changed);
    const [, ended] = answers;
    const last = ended instanceof Error || ended === undefined ? NOT_DONE : ended;
    const isReleased = last.isDone || isEndedBy(lease, last.row);
    const { kind, version } = written;
    if (kind === 'written') return { written, isReleased };
    // Its answer was lost before: the change is in place.
    const note = changed.row?.note;
    const isThere = isWrite
      ? version === token
      : version === change.version && confirmationIn(note, version)?.round === token;
    if (isThere) return { written: { kind: 'written', version }, isReleased };
    const isOvertaken = isWrite ? version > token : version !== change.version;
    return {
      written: isOvertaken || isHeldBy(lease, last.row) ? written : { kind: 'lost', version },
      isReleased: false,
    };
  }

  async extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    return (await this.#apply(extensionOf(this.#beginning, lease, leaseFor))).isDone;
  }

  async release(lease: LeaseId, outcome: ReleaseOutcome): Promise<boolean> {
    return (await this.#apply(endOf(this.#beginning, lease, outcome))).isDone;
  }

  async inspect(name: string): Promise<LockRecord | undefined> {
    const { now, row } = await this.#apply(readOf(this.#beginning + name));
    return row === undefined || row.damage !== undefined ? undefined : recordOf(lockRow(name, row, now));
  }

  /** In any order. */
  async list(prefix: string, limit: number): Promise<LockRecord[]> {
    const { now, rows } = await this.#records.list(this.#beginning + prefix, limit);
    const sound = rows.filter(([, { damage }]) => damage === undefined);
    return sound.map(([name, row]) => recordOf(lockRow(name.slice(this.#beginning.length), row, now)));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    const note = endText({ state: 'released', error: undefined, confirms: undefined });
    const about = { op: 'amend', name: this.#beginning + name, token, id: undefined } as const;
    return (await this.#apply({ ...about, phase: 'held', note, forMs: 0, keepMs: undefined })).isDone;
  }

  async warning(): Promise<string | undefined> {
    return this.#records.warning?.();
  }

  async #apply(edit: Edit): Promise<Answer & { readonly now: number }> {
    const { now, answers } = await this.#records.apply([edit]);
    return { ...only(answers), now };
  }
}

const NOT_DONE: Answer = { isDone: false, row: undefined };

function isOf({ token, requestId }: LeaseId, row: Row | undefined): row is Row {
  return row !== undefined && row.token === token && row.id === requestId;
}

/** It was released before: that answer was lost. */
function isEndedBy(lease: LeaseId, row: Row | undefined): boolean {
  return isOf(lease, row) && row.phase === 'held';
}

function isHeldBy(lease: LeaseId, row: Row | undefined): boolean {
  return isOf(lease, row) && row.phase !== 'held' && row.left > 0;
}

/** The edit of an acquire. @param beginning of the name at the backend. */
function claimOf(
  beginning: string,
  { name, requestId: id, owner, host, leaseFor: forMs, force }: AcquireRequest,
): Claim {
  return { op: 'claim', name: beginning + name, id, text: holderText({ owner, host }), forMs, force };
}

/** The edit of an extension. */
function extensionOf(beginning: string, { name, token, requestId: id }: LeaseId, forMs: number): Amend {
  const rest = { phase: undefined, note: undefined, keepMs: undefined };
  return { op: 'amend', name: beginning + name, token, id, forMs, ...rest };
}

/** The edit of a release. */
export function endOf(
  beginning: string,
  { name, token, requestId: id }: LeaseId,
  given: ReleaseOutcome,
): Amend {
  const outcome = ownOptions(given);
  const { as: state } = outcome;
  const error = state === 'failed' ? outcome.error : undefined;
  const confirms = state === 'done' ? outcome.confirms : undefined;
  return {
    op: 'amend',
    name: beginning + name,
    token,
    id,
    phase: 'held',
    note: endText({ state, error, confirms }),
    forMs: state === 'abandoned' ? 0 : outcome.holdFor,
    keepMs: state === 'done' ? outcome.keepFor : undefined,
    restores: state === 'abandoned',
  };
}

/** The beginning of `lastError` of a lease that has replaced a damaged record; the name of the damaged field follows. */
const REPLACED = 'replaced a damaged record: ';

/** The record of a lock. @param now the backend's wall clock, in epoch milliseconds */
export function lockRow(name: string, row: Row, now: number): LockRow {
  const { owner, host } = parsed<LockHolder>(row.text);
  const isHeld = row.phase === 'held';
  const { pinnedFor } = row;
  const { state, error, confirms } = parsed<LockEnd>(row.note);
  return {
    name,
    token: row.token,
    owner: textOr('', owner),
    requestId: row.id,
    host: textOr('', host),
    state: isHeld ? endIn(pinnedFor === undefined ? state : 'done') : 'running',
    tookOver: row.phase === 'seized',
    leaseLeft: isHeld ? 0 : row.left,
    holdLeft: isHeld ? (pinnedFor ?? row.left) : 0,
    acquiredAgo: row.age,
    finishedAgo: isHeld ? row.changedAgo : undefined,
    lastError: row.replaced === undefined ? textOr(undefined, error) : REPLACED + row.replaced,
    replaced: row.replaced,
    confirms: textOr(undefined, confirms),
    now,
  };
}

const ENDS: readonly LockRow['state'][] = ['done', 'failed', 'abandoned', 'released'];

function endIn(state: unknown): LockRow['state'] {
  return ENDS.find((end) => end === state) ?? 'abandoned';
}

/** A text that was edited by hand counts as one without details. */
function parsed<R>(text: string): Partial<Record<keyof R, unknown>> {
  try {
    return ownOptions((parseJson(text) ?? {}) as Partial<Record<keyof R, unknown>>);
  } catch {
    return {};
  }
}

function textOr<D>(other: D, value: unknown): string | D {
  return typeof value === 'string' ? value : other;
}
