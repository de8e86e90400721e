import type { LockSteps } from '../cluster/backend-steps.ts';
import { withCoordination } from '../cluster/coordination.ts';
import { DamagedRecordError } from '../cluster/damage.ts';
import { randomId, thisHost, thisProcess } from '../cluster/identity.ts';
import { lockAccess } from '../cluster/joined-steps.ts';
import type {
  AcquireAnswer,
  AcquireRequest,
  LeaseId,
  LeaseRelease,
  ListOptions,
  LockProvider,
  LockRecord,
  ReleaseOutcome,
} from '../cluster/lock-contract.ts';
import { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
import { checkNamespace, longestWithin, namespacePrefix } from '../cluster/namespace.ts';
import { DEFAULT_TIMEOUT_MS } from '../cluster/time-limits.ts';
import { isOptionError, LockUnavailableError, showKey } from '../errors.ts';
import { isText, OptionChecks } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { type Ending, type LockEngine, type LockRow, REPLACED } from './lock-backend.ts';
import { namespacedLock } from './namespaced-lock.ts';

/** The options of all locks. */
export interface LockOptions {
  /**
   * How long a lease lasts unless it is extended, which happens at each third of it while a load runs. After a crash of
   * the holder the other instances wait at most this long. Over 0, at most 365 days ({@link LONGEST_LEASE_MS}).
   * @default 30 seconds
   */
  readonly leaseFor?: DurationLike | undefined;
  /**
   * How long the backend may take to answer, however long its client would wait, the client's own queue included; then it
   * counts as unavailable. Over 0, finite. A step of a load takes at most 15 seconds, and an acquire a quarter of the
   * deadline of the load. @default 1 second
   */
  readonly timeout?: DurationLike | undefined;
  /**
   * Separates services that share the backend: all names begin with `namespace/` there. `inspect` and `list` show and find
   * the names of the namespace only, without it. Not empty. @default undefined: none
   */
  readonly namespace?: string | undefined;
}

/** A lock of one of the backends: a {@link LockProvider} that can be used by hand too. */
export interface Lock extends LockProvider {
  /** As of {@link LockProvider}. Only the name is required; the defaults: this process, a new request, `leaseFor`, no force. */
  acquire(request: Pick<AcquireRequest, 'name'> & Partial<AcquireRequest>): Promise<AcquireAnswer>;
  /** As of {@link LockProvider}. @param leaseFor @default the option `leaseFor` */
  extend(lease: LeaseId, leaseFor?: number): Promise<boolean>;
}

/** The particulars of a backend. */
export interface LockEngineKind {
  /** In bytes of UTF-8; `undefined`: names of any length. */
  readonly longestName: number | undefined;
  /** The names of the options of its factory, beside `leaseFor` and `timeout`. */
  readonly options: readonly string[];
  /** The clock of `timeout`: a fake one where the backend is simulated. @default the machine's */
  readonly clock?: Pick<Clock, 'setTimeout'> | undefined;
  /** Adds what the client knows of an error that a step has thrown. @default the error as it is */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/** The row has neither a lease nor a hold by the time of its own answer: it changed in between. */
const SOON_MS = 10;

/**
 * Makes a lock of a backend: checks requests, limits the time of each step, turns rows into answers and errors into
 * `LockUnavailableError`. The lock carries what all members that use it share: the limit of concurrent steps and the
 * circuit breaker.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function createLock(engine: LockEngine, options: LockOptions, kind: LockEngineKind): Lock {
  const checks = new OptionChecks('lock');
  checks.names('', options ?? {}, [...kind.options, 'leaseFor', 'timeout', 'namespace']);
  const leaseFor = checks.finiteDuration('leaseFor', options?.leaseFor ?? 30_000, LONGEST_LEASE_MS);
  const timeoutMs = checks.finiteDuration('timeout', options?.timeout ?? DEFAULT_TIMEOUT_MS);
  checkNamespace(checks, options?.namespace, kind.longestName);
  checks.done();
  const prefix = namespacePrefix(options?.namespace);
  const backend = prefix === '' ? engine : namespacedLock(engine, prefix);
  const longestName = longestWithin(kind.longestName, prefix);
  const steps = new BackendSteps(backend, leaseFor, longestName);
  return new CheckedLock(backend, steps, timeoutMs, { ...kind, longestName });
}

/** The steps of members: their requests are known to be sound, and they limit the time themselves. */
class BackendSteps implements LockSteps, Pick<LockProvider, 'acquireMany' | 'releaseMany'> {
  readonly leaseFor: number;
  readonly longestName: number | undefined;
  readonly acquireMany: LockProvider['acquireMany'];
  readonly releaseMany: LockProvider['releaseMany'];
  readonly #backend: LockEngine;
  #isChecked = false;

  constructor(backend: LockEngine, leaseFor: number, longestName: number | undefined) {
    this.leaseFor = leaseFor;
    this.longestName = longestName;
    this.#backend = backend;
    if (backend.acquireMany !== undefined) this.acquireMany = (requests) => this.#acquireMany(requests);
    if (backend.releaseMany !== undefined) this.releaseMany = (releases) => this.#releaseMany(releases);
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

  async #acquireMany(requests: readonly AcquireRequest[]): Promise<(AcquireAnswer | Error)[]> {
    const rows = await (this.#backend as Required<LockEngine>).acquireMany(requests);
    return rows.map((row, index) => {
      if (row instanceof Error) return row;
      try {
        return answerOf(checkRow(row), requests[index] as AcquireRequest);
      } catch (error) {
        return error as Error;
      }
    });
  }

  #releaseMany(releases: readonly LeaseRelease[]): Promise<readonly (boolean | Error)[]> {
    const ends = releases.map(({ lease, outcome }) => ({ lease, ending: endingOf(outcome) }));
    return (this.#backend as Required<LockEngine>).releaseMany(ends);
  }

  async warning(): Promise<string | undefined> {
    if (this.#isChecked) return undefined;
    this.#isChecked = true;
    return this.#backend.warning?.().catch(() => undefined); // no right to ask
  }
}

/** The lock for use by hand: checks each request and limits the time of each step. */
class CheckedLock implements Lock {
  readonly leaseFor: number;
  readonly longestName: number | undefined;
  readonly #backend: LockEngine;
  readonly #steps: BackendSteps;
  readonly #timeoutMs: number;
  readonly #clock: LockEngineKind['clock'];
  readonly #explain: (error: unknown) => unknown;

  constructor(
    backend: LockEngine,
    steps: BackendSteps,
    timeoutMs: number,
    { longestName, clock, explain = (error) => error }: LockEngineKind,
  ) {
    this.leaseFor = steps.leaseFor;
    this.longestName = longestName;
    withCoordination(this, lockAccess(steps, timeoutMs, explain));
    this.#explain = explain;
    this.#backend = backend;
    this.#steps = steps;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  async acquire(given: Pick<AcquireRequest, 'name'> & Partial<AcquireRequest>): Promise<AcquireAnswer> {
    const request: AcquireRequest = {
      owner: thisProcess(),
      requestId: randomId(),
      leaseFor: this.leaseFor,
      host: thisHost(),
      force: false,
      ...given,
    };
    const { name, owner, requestId, host, leaseFor } = request;
    this.#check(name, (checks) => {
      checks.name('owner', owner);
      checks.name('requestId', requestId);
      checks.that(typeof host === 'string', 'host', 'must be a string', host);
      checks.storable('host', host);
      checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
    });
    return this.#ask(name, () => this.#steps.acquire(request));
  }

  async extend(lease: LeaseId, leaseFor: number = this.leaseFor): Promise<boolean> {
    this.#check(lease.name, (checks) => {
      checks.storable('requestId', lease.requestId);
      checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
    });
    return this.#ask(lease.name, () => this.#steps.extend(lease, leaseFor));
  }

  async release(lease: LeaseId, outcome: ReleaseOutcome): Promise<boolean> {
    const { state, holdFor, keepFor } = endingOf(outcome);
    this.#check(lease.name, (checks) => {
      checks.storable('requestId', lease.requestId);
      checks.oneOf('as', state, ['done', 'failed', 'abandoned']);
      checks.finiteDurationFromZero('holdFor', holdFor, LONGEST_LEASE_MS);
      if (keepFor !== undefined) checks.finiteDuration('keepFor', keepFor);
    });
    return this.#ask(lease.name, () => this.#steps.release(lease, outcome));
  }

  async inspect(name: string): Promise<LockRecord | undefined> {
    this.#check(name);
    const row = await this.#ask(name, () => this.#backend.find(name));
    return row === undefined ? undefined : recordOf(row);
  }

  async list({ prefix = '', limit = 1000 }: ListOptions = {}): Promise<LockRecord[]> {
    const checks = new OptionChecks('lock');
    checks.that(typeof prefix === 'string', 'prefix', 'must be a string', prefix);
    checks.storable('prefix', prefix);
    checks.count('limit', limit);
    checks.done();
    const rows = await this.#ask('lock', () => this.#backend.list(prefix, limit));
    return rows.map(recordOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    this.#check(name, (checks) =>
      checks.that(Number.isSafeInteger(token), 'token', 'must be a token', token),
    );
    return this.#ask(name, () => this.#backend.forceRelease(name, token));
  }

  #check(name: string, check: (checks: OptionChecks) => void = () => {}): void {
    const checks = new OptionChecks(isText(name) ? name : 'lock');
    checks.name('name', name);
    const { longestName } = this;
    if (longestName !== undefined && isText(name)) {
      const isShort = new TextEncoder().encode(name).length <= longestName;
      checks.that(isShort, 'name', `must be at most ${longestName} bytes long`, name);
    }
    check(checks);
    checks.done();
  }

  async #ask<R>(name: string, step: () => Promise<R>): Promise<R> {
    try {
      return await withTimeout(step, this.#timeoutMs, this.#clock);
    } catch (thrown) {
      if (isOptionError(thrown)) throw thrown;
      const cause = this.#explain(thrown);
      const message = cause instanceof Error ? cause.message || cause.name : String(cause);
      throw new LockUnavailableError(`the lock is unavailable: ${message}`, { cacheName: name, cause });
    }
  }
}

function endingOf(outcome: ReleaseOutcome): Ending {
  return {
    state: outcome?.as,
    holdFor: outcome?.as === 'abandoned' ? 0 : outcome?.holdFor,
    error: outcome?.as === 'failed' ? outcome.error : undefined,
    keepFor: outcome?.as === 'done' ? outcome.keepFor : undefined,
  };
}

/** @throws {DamagedRecordError} for a record that was edited by hand and can't be used. */
function checkRow(row: LockRow): LockRow {
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

function answerOf(row: LockRow, { requestId }: AcquireRequest): AcquireAnswer {
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

function recordOf({ requestId: _, now: __, ...row }: LockRow): LockRecord {
  return { ...row, leaseLeft: Math.max(0, row.leaseLeft), holdLeft: Math.max(0, row.holdLeft) };
}
