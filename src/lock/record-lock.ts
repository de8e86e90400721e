import type { AcquireRequest, LeaseExtension, LeaseId } from '../cluster/lock-contract.ts';
import { LOCK } from '../records/names.ts';
import { only } from '../records/only.ts';
import type { Amend, Claim, Records, Row } from '../records/records.ts';
import { type Ending, type LeaseEnd, type LockBackend, type LockRow, REPLACED } from './lock-backend.ts';

/** The steps of a lock on records: an acquire claims a name, an extension and a release amend it. */
export class RecordLock implements LockBackend {
  readonly acquireMany: LockBackend['acquireMany'];
  readonly releaseMany: LockBackend['releaseMany'];
  readonly extendMany: LockBackend['extendMany'];
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
    if (records.mostEdits === 1) return;
    this.acquireMany = (requests) => this.#claim(requests);
    this.releaseMany = (ends) => this.#amend(ends.map(endOf));
    this.extendMany = (extensions) => this.#amend(extensions.map(extensionOf));
  }

  async acquire(request: AcquireRequest): Promise<LockRow> {
    return only(await this.#claim([request]));
  }

  async extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    return only(await this.#amend([extensionOf({ lease, leaseFor })]));
  }

  async release(lease: LeaseId, ending: Ending): Promise<boolean> {
    return only(await this.#amend([endOf({ lease, ending })]));
  }

  async find(name: string): Promise<LockRow | undefined> {
    const { now, answers } = await this.#records.apply([{ op: 'read', name: LOCK + name }]);
    const { row } = only(answers);
    return row === undefined || row.damage !== undefined ? undefined : lockRow(name, row, now);
  }

  async list(prefix: string, limit: number): Promise<LockRow[]> {
    const { now, rows } = await this.#records.list(LOCK + prefix, limit);
    const sound = rows.filter(([, { damage }]) => damage === undefined);
    return sound.map(([name, row]) => lockRow(name.slice(LOCK.length), row, now));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    const note = noteOf({ state: 'released' });
    return only(
      await this.#amend([{ op: 'amend', name: LOCK + name, token, phase: 'held', note, forMs: 0 }]),
    );
  }

  async warning(): Promise<string | undefined> {
    return this.#records.warning?.();
  }

  async #claim(requests: readonly AcquireRequest[]): Promise<(LockRow | Error)[]> {
    const { now, answers } = await this.#records.apply(requests.map(claimOf));
    return answers.map((answer, i) =>
      answer instanceof Error
        ? answer
        : lockRow((requests[i] as AcquireRequest).name, answer.row as Row, now),
    );
  }

  async #amend(edits: readonly Amend[]): Promise<(boolean | Error)[]> {
    const { answers } = await this.#records.apply(edits);
    return answers.map((answer) => (answer instanceof Error ? answer : answer.isDone));
  }
}

/** For people: the backend does not look at it. */
type Holder = Pick<LockRow, 'owner' | 'host'>;
type End = Pick<LockRow, 'state'> & Pick<Ending, 'error'>;

/** Longer error texts are cut. In UTF-16 code units. */
const MAX_ERROR_LENGTH = 16_000;

/** The edit of an acquire. */
export function claimOf({ name, requestId: id, owner, host, leaseFor: forMs, force }: AcquireRequest): Claim {
  const holder: Holder = { owner, host };
  return { op: 'claim', name: LOCK + name, id, text: JSON.stringify(holder), forMs, force };
}

/** The edit of an extension. */
export function extensionOf({
  lease: { name, token, requestId: id },
  leaseFor: forMs,
}: LeaseExtension): Amend {
  return { op: 'amend', name: LOCK + name, token, id, forMs };
}

/** The edit of a release. */
export function endOf({ lease, ending }: LeaseEnd): Amend {
  const { name, token, requestId: id } = lease;
  const { state, holdFor: forMs, keepFor: keepMs, error } = ending;
  const note = noteOf({ state, error });
  return { op: 'amend', name: LOCK + name, token, id, phase: 'held', note, forMs, keepMs };
}

function noteOf({ state, error }: Partial<End>): string {
  return JSON.stringify({ state, error: error?.slice(0, MAX_ERROR_LENGTH) });
}

/** The record of a lock. @param now the backend's wall clock, in epoch milliseconds */
export function lockRow(name: string, row: Row, now: number): LockRow {
  const { owner, host } = parsed<Holder>(row.text);
  const isHeld = row.phase === 'held';
  const { state, error } = parsed<End>(row.note);
  return {
    name,
    token: row.token,
    owner: textOr('', owner),
    requestId: row.id,
    host: textOr('', host),
    state: isHeld ? (ENDS.find((end) => end === state) ?? 'abandoned') : 'running',
    tookOver: row.phase === 'seized',
    leaseLeft: isHeld ? 0 : row.left,
    holdLeft: isHeld ? row.left : 0,
    acquiredAgo: row.age,
    finishedAgo: isHeld ? row.changedAgo : undefined,
    lastError: row.replaced === undefined ? textOr(undefined, error) : REPLACED + row.replaced,
    now,
  };
}

const ENDS: readonly LockRow['state'][] = ['done', 'failed', 'abandoned', 'released'];

/** A text that was edited by hand counts as one without details. */
function parsed<R>(text: string): Partial<Record<keyof R, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<Record<keyof R, unknown>>;
  } catch {
    return {};
  }
}

function textOr<D>(other: D, value: unknown): string | D {
  return typeof value === 'string' ? value : other;
}
