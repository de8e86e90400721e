import { randomId } from '../../cluster/identity.ts';
import type {
  AcquireAnswer,
  AcquireRequest,
  Lease,
  LockProvider,
  LockRecord,
  ReleaseOutcome,
} from '../../cluster/lock-contract.ts';
import { type Backend, lockOf } from '../../engine/backend.ts';
import type { LockLike } from '../../engine/coordinator.ts';
import { between, ensure, ofKind, present, same, sameFields } from '../assert.ts';
import { CLOCK_TOLERANCE, DEFAULT_UNIT_MS, sleep, uniqueName } from '../conformance.ts';

/** A backend, whose lock is tested, or a lock. */
type TestedLock = Backend | LockLike;

/** The lock under test of `lockConformance`. */
export interface LockSubject {
  /** Returns a backend, or a lock of `asLock`: a new one or always the same. Called at the start of each case. */
  lock(): TestedLock | Promise<TestedLock>;
  /** Returns the same through another client, as another process has it. @default the same as `lock` */
  other?(): TestedLock | Promise<TestedLock>;
  /**
   * Length of the short leases in milliseconds. Increase it for a slow backend or a busy machine; the duration of the
   * suite grows with it: the longest case takes eleven units. @default 150
   */
  readonly unit?: number | undefined;
}

export type Acquired = Extract<AcquireAnswer, { readonly kind: 'acquired' }>;
export type Held = Extract<AcquireAnswer, { readonly kind: 'held' }>;
export type Done = Extract<AcquireAnswer, { readonly kind: 'done' }>;

/** The longest wait for something that ends after a unit or two. */
export const PATIENCE_UNITS = 40;

/** How much a remaining time may exceed the requested one, by rounding. */
export const ROUNDING_MS = 1;

/** The locks, times and names of one case. */
export class LockCaseContext {
  readonly lock: LockProvider;
  readonly other: LockProvider;
  readonly subject: LockSubject;
  /** Milliseconds. */
  readonly unit: number;
  /** Longer than any case takes. */
  readonly long: number;
  /** The name of this case. */
  readonly name: string = uniqueName('lock');

  private constructor(subject: LockSubject, lock: LockProvider, other: LockProvider) {
    this.subject = subject;
    this.lock = lock;
    this.other = other;
    this.unit = subject.unit ?? DEFAULT_UNIT_MS;
    this.long = 400 * this.unit;
  }

  static async begin(subject: LockSubject): Promise<LockCaseContext> {
    const lock = await subject.lock();
    const other = (await subject.other?.()) ?? lock;
    return new LockCaseContext(subject, lockOf(lock) as LockProvider, lockOf(other) as LockProvider);
  }

  /** A request of a new owner, except for the given fields. */
  request(given: Partial<AcquireRequest> = {}): AcquireRequest {
    return {
      name: this.name,
      owner: `owner-${randomId()}`,
      requestId: randomId(),
      leaseFor: this.long,
      host: 'conformance-host',
      force: false,
      ...given,
    };
  }

  async acquired(given: Partial<AcquireRequest> = {}, lock: LockProvider = this.lock): Promise<Acquired> {
    return ofKind(await lock.acquire(this.request(given)), 'acquired', 'acquire');
  }

  async lease(given: Partial<AcquireRequest> = {}, lock: LockProvider = this.lock): Promise<Lease> {
    return (await this.acquired(given, lock)).lease;
  }

  async held(given: Partial<AcquireRequest> = {}, lock: LockProvider = this.other): Promise<Held> {
    return ofKind(await lock.acquire(this.request(given)), 'held', 'acquire');
  }

  async done(given: Partial<AcquireRequest> = {}, lock: LockProvider = this.other): Promise<Done> {
    return ofKind(await lock.acquire(this.request(given)), 'done', 'acquire');
  }

  async record(name: string = this.name): Promise<LockRecord> {
    return present(await this.other.inspect(name), 'inspect');
  }

  async release(lease: Lease, outcome: ReleaseOutcome): Promise<void> {
    same(await this.lock.release(lease, outcome), true, `release as ${outcome.as} of a live lease`);
  }

  /** Acquires a lease of one unit and waits until it has expired. */
  async expire(): Promise<Lease> {
    const lease = await this.lease({ leaseFor: this.unit });
    await this.expired();
    return lease;
  }

  /** Waits until the lease has expired for both clients, which may not know the backend's clock alike. */
  async expired(name: string = this.name): Promise<void> {
    for (const client of [this.other, this.lock])
      await this.until('the lease ends', async () => (await client.inspect(name))?.leaseLeft === 0);
  }

  /** Acquires as new owners until one succeeds. */
  async acquiredAtLast(given: Partial<AcquireRequest> = {}): Promise<Acquired> {
    let answer: AcquireAnswer | undefined;
    await this.until('the name becomes free', async () => {
      answer = await this.other.acquire(this.request(given));
      return answer.kind === 'acquired';
    });
    return answer as Acquired;
  }

  /** The same; that many units have passed since then, the time in which the name was not free. */
  async acquiredAfter(units: number, since: number, what: string): Promise<Acquired> {
    const acquired = await this.acquiredAtLast();
    const waited = performance.now() - since;
    const least = (units - CLOCK_TOLERANCE) * this.unit;
    ensure(
      waited >= least,
      `acquired after ${waited} ms, before the end of ${what} of ${units * this.unit} ms`,
    );
    return acquired;
  }

  /** The listed records, once there are as many, or after a while: some backends list a name a moment after it was acquired. */
  async listed(count: number, prefix: string, limit?: number): Promise<readonly LockRecord[]> {
    for (const begin = performance.now(); ; await sleep(this.unit / 10)) {
      const records = await this.other.list({ prefix, limit });
      const isOver = performance.now() - begin >= PATIENCE_UNITS * this.unit;
      if (records.length >= count || isOver) return records;
    }
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const begin = performance.now();
    while (!(await holds())) {
      const waited = performance.now() - begin;
      ensure(
        waited < PATIENCE_UNITS * this.unit,
        `waited ${Math.round(waited)} ms until ${what}, without success`,
      );
      await sleep(this.unit / 10);
    }
  }

  /** Asserts the remaining time of a duration that has just begun. */
  isLeft(actual: number, of: number, what: string): void {
    between(actual, of / 2, of + ROUNDING_MS, what);
  }

  /** Asserts that at least half of the passed time shows between the two values. */
  hasGrown(before: number, now: number, passed: number, what: string): void {
    const isSeen = now - before >= passed / 2;
    ensure(isSeen, `${what} must grow by the ${passed} ms that passed: ${before} before, ${now} now`);
  }

  hasShrunk(before: number, now: number, passed: number, what: string): void {
    const isSeen = before - now >= passed / 2;
    ensure(isSeen, `${what} must shrink by the ${passed} ms that passed: ${before} before, ${now} now`);
  }

  /** Asserts that only time has passed for a lease. */
  async untouched({ token, owner }: Lease, what: string): Promise<void> {
    const record = await this.record();
    sameFields(record, { token, owner, state: 'running' }, ` ${what}`);
    this.isLeft(record.leaseLeft, this.long, `the rest of the lease ${what}`);
  }
}

export interface Case {
  readonly name: string;
  run(context: LockCaseContext): Promise<void>;
}

/** The first one ignores no hold, that may be there again after it. */
export const OUTCOMES: readonly ReleaseOutcome[] = [
  { as: 'abandoned' },
  { as: 'done', holdFor: 0 },
  { as: 'done', holdFor: 3_600_000 },
  { as: 'failed', holdFor: 0, error: 'late' },
  { as: 'failed', holdFor: 3_600_000 },
];

/** Those that leave the name free. */
export const FREEING: readonly ReleaseOutcome[] = OUTCOMES.filter(
  (one) => one.as === 'abandoned' || one.holdFor === 0,
);

export function testCase(name: string, run: (context: LockCaseContext) => Promise<void>): Case {
  return { name, run };
}
