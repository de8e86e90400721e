import { withCoordination } from '../cluster/coordination.ts';
import { randomId, thisHost, thisProcess } from '../cluster/identity.ts';
import { lockAccess } from '../cluster/joined-steps.ts';
import type {
  AcquireAnswer,
  AcquireRequest,
  LeaseId,
  ListOptions,
  LockProvider,
  LockRecord,
  ReleaseOutcome,
} from '../cluster/lock-contract.ts';
import { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
import { checkNamespace, longestWithin, namespacePrefix } from '../cluster/namespace.ts';
import { DEFAULT_TIMEOUT_MS } from '../cluster/time-limits.ts';
import { isOptionError, LockUnavailableError } from '../errors.ts';
import { distinctNames, isText, OptionChecks, ownOptions } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { endingOf, recordOf } from './answers.ts';
import { BackendSteps } from './backend-steps.ts';
import type { LockBackend } from './lock-backend.ts';
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
   * How long the backend may be silent, that is, answer no step at all, however long its client would wait, the client's own
   * queue included; then it counts as unavailable. Over 0, finite. At most a quarter of the deadline of the load. While it
   * answers others, a step is waited for until half of what is left of that deadline, at most for 15 seconds. Calls of these
   * methods by hand reject after this time. @default 1 second
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
  acquire(request: RequestOfLock): Promise<AcquireAnswer>;
  /** As of {@link LockProvider}. @param leaseFor @default the option `leaseFor` */
  extend(lease: LeaseId, leaseFor?: number): Promise<boolean>;
  /** As of {@link LockProvider}, where the backend has it; the defaults are those of `acquire`. An `Error` of a name is what `acquire` would reject with. */
  readonly acquireMany?:
    | ((requests: readonly RequestOfLock[]) => Promise<(AcquireAnswer | Error)[]>)
    | undefined;
}

/** A request whose other fields have defaults. */
type RequestOfLock = Pick<AcquireRequest, 'name'> & Partial<AcquireRequest>;

/** The particulars of a backend. */
export interface LockBackendKind {
  /** In bytes of UTF-8. @default names of any length */
  readonly longestName?: number | undefined;
  /** The names of the options of its factory, beside `leaseFor` and `timeout`. */
  readonly options: readonly string[];
  /** The clock of `timeout`: a fake one where the backend is simulated. @default the machine's */
  readonly clock?: Pick<Clock, 'setTimeout'> | undefined;
  /** Adds what the client knows of an error that a step has thrown. @default the error as it is */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/**
 * Makes a lock of a backend: checks requests, limits the time of each step, turns rows into answers and errors into
 * `LockUnavailableError`. The lock carries what all members that use it share: the limit of concurrent steps and the
 * circuit breaker.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function createLock(backend: LockBackend, given: LockOptions, kind: LockBackendKind): Lock {
  const options = ownOptions(given);
  const checks = new OptionChecks('lock');
  checks.names('', options ?? {}, [...kind.options, 'leaseFor', 'timeout', 'namespace']);
  const leaseFor = checks.finiteDuration('leaseFor', options?.leaseFor ?? 30_000, LONGEST_LEASE_MS);
  const timeoutMs = checks.finiteDuration('timeout', options?.timeout ?? DEFAULT_TIMEOUT_MS);
  checkNamespace(checks, options?.namespace, kind.longestName);
  checks.done();
  const prefix = namespacePrefix(options?.namespace);
  const namespaced = prefix === '' ? backend : namespacedLock(backend, prefix);
  const longestName = longestWithin(kind.longestName, prefix);
  const steps = new BackendSteps(namespaced, leaseFor, longestName);
  return new CheckedLock(namespaced, steps, timeoutMs, { ...kind, longestName });
}

/** The lock for use by hand: checks each request and limits the time of each step. */
class CheckedLock implements Lock {
  readonly leaseFor: number;
  readonly longestName: number | undefined;
  readonly acquireMany: Lock['acquireMany'];
  readonly releaseMany: Lock['releaseMany'];
  readonly extendMany: Lock['extendMany'];
  readonly #backend: LockBackend;
  readonly #steps: BackendSteps;
  readonly #timeoutMs: number;
  readonly #clock: LockBackendKind['clock'];
  readonly #explain: (error: unknown) => unknown;

  constructor(backend: LockBackend, steps: BackendSteps, timeoutMs: number, kind: LockBackendKind) {
    const { longestName, clock, explain = (error: unknown) => error } = ownOptions(kind);
    this.leaseFor = steps.leaseFor;
    this.longestName = longestName;
    withCoordination(this, lockAccess(steps, timeoutMs, explain));
    this.#explain = explain;
    this.#backend = backend;
    this.#steps = steps;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    const { acquireMany, releaseMany, extendMany } = steps;
    if (acquireMany !== undefined) {
      this.acquireMany = async (given) => {
        const requests = given.map((one) => this.#completed(one));
        for (const request of requests) this.#checkRequest(request);
        return this.#askMany(requests, ({ name }) => name, acquireMany);
      };
    }
    if (releaseMany !== undefined) {
      this.releaseMany = async (releases) => {
        for (const { lease, outcome } of releases) this.#checkRelease(lease, outcome);
        return this.#askMany(releases, ({ lease }) => lease.name, releaseMany);
      };
    }
    if (extendMany !== undefined) {
      this.extendMany = async (extensions) => {
        for (const { lease, leaseFor } of extensions) this.#checkExtension(lease, leaseFor);
        return this.#askMany(extensions, ({ lease }) => lease.name, extendMany);
      };
    }
  }

  async acquire(given: RequestOfLock): Promise<AcquireAnswer> {
    const request = this.#completed(given);
    this.#checkRequest(request);
    return this.#ask(request.name, () => this.#steps.acquire(request));
  }

  #completed(given: RequestOfLock): AcquireRequest {
    return {
      owner: thisProcess(),
      requestId: randomId(),
      leaseFor: this.leaseFor,
      host: thisHost(),
      force: false,
      ...given,
    };
  }

  #checkRequest({ name, owner, requestId, host, leaseFor }: AcquireRequest): void {
    this.#check(name, (checks) => {
      checks.name('owner', owner);
      checks.name('requestId', requestId);
      checks.that(typeof host === 'string', 'host', 'must be a string', host);
      checks.storable('host', host);
      checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
    });
  }

  async extend(lease: LeaseId, leaseFor: number = this.leaseFor): Promise<boolean> {
    this.#checkExtension(lease, leaseFor);
    return this.#ask(lease.name, () => this.#steps.extend(lease, leaseFor));
  }

  #checkExtension(lease: LeaseId, leaseFor: number): void {
    this.#check(lease.name, (checks) => {
      checks.storable('requestId', lease.requestId);
      checks.finiteDuration('leaseFor', leaseFor, LONGEST_LEASE_MS);
    });
  }

  async release(lease: LeaseId, outcome: ReleaseOutcome): Promise<boolean> {
    this.#checkRelease(lease, outcome);
    return this.#ask(lease.name, () => this.#steps.release(lease, outcome));
  }

  #checkRelease(lease: LeaseId, outcome: ReleaseOutcome): void {
    const { state, holdFor, keepFor } = endingOf(outcome);
    this.#check(lease.name, (checks) => {
      checks.storable('requestId', lease.requestId);
      checks.oneOf('as', state, ['done', 'failed', 'abandoned']);
      checks.finiteDurationFromZero('holdFor', holdFor, LONGEST_LEASE_MS);
      if (keepFor !== undefined) checks.finiteDuration('keepFor', keepFor);
    });
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
      throw this.#errorOf(name, thrown);
    }
  }

  async #askMany<Q, A>(
    requests: readonly Q[],
    nameOf: (request: Q) => string,
    step: (requests: readonly Q[]) => Promise<readonly (A | Error)[]>,
  ): Promise<(A | Error)[]> {
    distinctNames('lock', requests.map(nameOf));
    const [first] = requests;
    if (first === undefined) return [];
    const answers = await this.#ask(nameOf(first), () => step(requests));
    return answers.map((answer, i) =>
      answer instanceof Error ? this.#errorOf(nameOf(requests[i] as Q), answer) : answer,
    );
  }

  #errorOf(name: string, thrown: unknown): Error {
    if (isOptionError(thrown)) return thrown;
    const cause = this.#explain(thrown);
    const message = cause instanceof Error ? cause.message || cause.name : String(cause);
    return new LockUnavailableError(`the lock is unavailable: ${message}`, { cacheName: name, cause });
  }
}
