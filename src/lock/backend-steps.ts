import type { LockSteps, ManyLockSteps } from '../cluster/backend-steps.ts';
import type {
  AcquireAnswer,
  AcquireRequest,
  LeaseId,
  LockProvider,
  ReleaseOutcome,
} from '../cluster/lock-contract.ts';
import { answerOf, checkRow, endingOf } from './answers.ts';
import type { LockBackend, LockRow } from './lock-backend.ts';

/** The steps of members: their requests are known to be sound, and they limit the time themselves. */
export class BackendSteps implements LockSteps, ManyLockSteps {
  readonly leaseFor: number;
  readonly longestName: number | undefined;
  readonly acquireMany: LockProvider['acquireMany'];
  readonly releaseMany: LockProvider['releaseMany'];
  readonly extendMany: LockProvider['extendMany'];
  readonly #backend: LockBackend;
  #isChecked = false;

  constructor(backend: LockBackend, leaseFor: number, longestName: number | undefined) {
    this.leaseFor = leaseFor;
    this.longestName = longestName;
    this.#backend = backend;
    const { acquireMany, releaseMany, extendMany } = backend;
    if (acquireMany === undefined || releaseMany === undefined) return;
    this.acquireMany = async (requests) => {
      const rows = await acquireMany.call(backend, requests);
      return rows.map((row, i) => answerOrError(row, requests[i] as AcquireRequest));
    };
    this.releaseMany = (releases) => {
      const ends = releases.map(({ lease, outcome }) => ({ lease, ending: endingOf(outcome) }));
      return releaseMany.call(backend, ends);
    };
    this.extendMany = extendMany?.bind(backend);
  }

  async acquire(request: AcquireRequest): Promise<AcquireAnswer> {
    return answerOf(checkRow(await this.#backend.acquire(request)), request);
  }

  extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    return this.#backend.extend(lease, leaseFor);
  }

  release(lease: LeaseId, outcome: ReleaseOutcome): Promise<boolean> {
    return this.#backend.release(lease, endingOf(outcome));
  }

  async warning(): Promise<string | undefined> {
    if (this.#isChecked) return undefined;
    this.#isChecked = true;
    return this.#backend.warning?.().catch(() => undefined); // no right to ask
  }
}

function answerOrError(row: LockRow | Error, request: AcquireRequest): AcquireAnswer | Error {
  if (row instanceof Error) return row;
  try {
    return answerOf(checkRow(row), request);
  } catch (error) {
    return error as Error;
  }
}
