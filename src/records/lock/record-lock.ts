import { parseJson } from '../../bounded-json.ts';
import type {
  AcquireAnswer,
  AcquireRequest,
  LeaseId,
  LockProvider,
  LockRecord,
  ReleaseOutcome,
} from '../../cluster/lock-contract.ts';
import { ownOptions } from '../../option-checks.ts';
import { LOCK } from '../names.ts';
import { only } from '../only.ts';
import { readOf } from '../read-of.ts';
import type { Amend, Answer, Claim, Edit, Row, Steps } from '../records.ts';
import { answerOf, checkRow, type LockRow, recordOf } from './answers.ts';

/** The steps of a lock on records: an acquire claims a name, an extension and a release amend it. Their requests are known to be sound. */
export class RecordLock
  implements Pick<LockProvider, 'acquire' | 'extend' | 'release' | 'inspect' | 'forceRelease'>
{
  readonly tellsConfirmations: boolean = true;
  readonly #records: Steps;
  readonly #beginning: string;

  /** @param prefix begins all names at the backend; callers see them without it. */
  constructor(records: Steps, prefix: string = '') {
    this.#records = records;
    this.#beginning = LOCK + prefix;
  }

  async acquire(request: AcquireRequest): Promise<AcquireAnswer> {
    const { now, row } = await this.#apply(claimOf(this.#beginning, request));
    return answerOf(checkRow(lockRow(request.name, row as Row, now)), request);
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
    const note = noteOf({ state: 'released', error: undefined, confirms: undefined });
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

/** For people: the backend does not look at it. */
type Holder = Pick<LockRow, 'owner' | 'host'>;
type End = Pick<LockRow, 'state' | 'confirms'> & { readonly error?: string | undefined };

/** Longer error texts are cut. In UTF-16 code units. */
const MAX_ERROR_LENGTH = 16_000;

/** The edit of an acquire. @param beginning of the name at the backend. */
export function claimOf(
  beginning: string,
  { name, requestId: id, owner, host, leaseFor: forMs, force }: AcquireRequest,
): Claim {
  const holder: Holder = { owner, host };
  return { op: 'claim', name: beginning + name, id, text: JSON.stringify(holder), forMs, force };
}

/** The edit of an extension. */
export function extensionOf(
  beginning: string,
  { name, token, requestId: id }: LeaseId,
  forMs: number,
): Amend {
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
    note: noteOf({ state, error, confirms }),
    forMs: state === 'abandoned' ? 0 : outcome.holdFor,
    keepMs: state === 'done' ? outcome.keepFor : undefined,
  };
}

function noteOf({ state, error, confirms }: End): string {
  return JSON.stringify({ state, error: error?.slice(0, MAX_ERROR_LENGTH), confirms });
}

/** The beginning of `lastError` of a lease that has replaced a damaged record; the name of the damaged field follows. */
const REPLACED = 'replaced a damaged record: ';

/** The record of a lock. @param now the backend's wall clock, in epoch milliseconds */
export function lockRow(name: string, row: Row, now: number): LockRow {
  const { owner, host } = parsed<Holder>(row.text);
  const isHeld = row.phase === 'held';
  const { state, error, confirms } = parsed<End>(row.note);
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
    replaced: row.replaced,
    confirms: textOr(undefined, confirms),
    now,
  };
}

const ENDS: readonly LockRow['state'][] = ['done', 'failed', 'abandoned', 'released'];

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
