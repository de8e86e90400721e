import { randomId } from '../../cluster/identity.ts';
import type {
  AcquireAnswer,
  AcquireRequest,
  Lease,
  LockProvider,
  LockRecord,
  ReleaseOutcome,
} from '../../cluster/lock-contract.ts';
import { between, ensure, ofKind, present, same } from '../assert.ts';
import { DEFAULT_UNIT_MS, sleep, uniqueName } from '../conformance.ts';

/** The lock that `lockConformance` tries. */
export interface LockSubject {
  /** A lock of the engine. Called at the begin of each case; may give the same one each time. */
  lock(): LockProvider | Promise<LockProvider>;
  /** As another process would have it: another client of the same engine. @default the same as `lock` */
  other?(): LockProvider | Promise<LockProvider>;
  /** A lock whose engine can't be reached, such as a port where nobody listens. @default those cases are left out */
  unreachable?(): LockProvider | Promise<LockProvider>;
  /**
   * Deletes the record of a name, behind the back of the lock: the engine has lost its memory. @default those cases are
   * left out
   */
  forget?(name: string): void | Promise<void>;
  /**
   * How long the short leases last, in milliseconds. A slow engine, or a busy machine, needs more, and the suite takes
   * longer by as much: the longest case takes eleven units. @default 150
   */
  readonly unit?: number | undefined;
}

export type Acquired = Extract<AcquireAnswer, { readonly kind: 'acquired' }>;
export type Held = Extract<AcquireAnswer, { readonly kind: 'held' }>;
export type Done = Extract<AcquireAnswer, { readonly kind: 'done' }>;

/** No case waits longer for what ends after a unit or two. */
export const PATIENCE_UNITS = 40;

/** What is left may be as much more than what was asked for. */
export const ROUNDING_MS = 1;

/** One case on one engine. */
export class Trial {
  readonly lock: LockProvider;
  readonly other: LockProvider;
  readonly subject: LockSubject;
  /** Milliseconds. */
  readonly unit: number;
  /** Longer than any case takes. */
  readonly long: number;
  /** A name of its own. */
  readonly name: string = uniqueName('lock');

  private constructor(subject: LockSubject, lock: LockProvider, other: LockProvider) {
    this.subject = subject;
    this.lock = lock;
    this.other = other;
    this.unit = subject.unit ?? DEFAULT_UNIT_MS;
    this.long = 400 * this.unit;
  }

  static async begin(subject: LockSubject): Promise<Trial> {
    const lock = await subject.lock();
    return new Trial(subject, lock, (await subject.other?.()) ?? lock);
  }

  /** A request of somebody new, unless it says otherwise. */
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

  /** Lets a lease of one unit end, and does nothing about it. */
  async expire(): Promise<Lease> {
    const lease = await this.lease({ leaseFor: this.unit });
    await this.until('the lease ends', async () => (await this.record()).leaseLeft === 0);
    return lease;
  }

  /** Asks again and again, until somebody new gets it. */
  async acquiredAtLast(given: Partial<AcquireRequest> = {}): Promise<Acquired> {
    let answer: AcquireAnswer | undefined;
    await this.until('the name becomes free', async () => {
      answer = await this.other.acquire(this.request(given));
      return answer.kind === 'acquired';
    });
    return answer as Acquired;
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const begin = performance.now();
    while (!(await holds())) {
      const waited = performance.now() - begin;
      ensure(waited < PATIENCE_UNITS * this.unit, `waited ${Math.round(waited)} ms in vain until ${what}`);
      await sleep(this.unit / 10);
    }
  }

  /** What is left of a duration that was begun just before. */
  isLeft(actual: number, of: number, what: string): void {
    between(actual, of / 2, of + ROUNDING_MS, what);
  }

  /** At least half of the time that passed between the two answers shows. */
  hasGrown(before: number, now: number, passed: number, what: string): void {
    const isSeen = now - before >= passed / 2;
    ensure(isSeen, `${what} must grow by the ${passed} ms that passed: ${before} before, ${now} now`);
  }

  hasShrunk(before: number, now: number, passed: number, what: string): void {
    const isSeen = before - now >= passed / 2;
    ensure(isSeen, `${what} must shrink by the ${passed} ms that passed: ${before} before, ${now} now`);
  }

  /** Nothing of it has changed, but that time has passed. */
  async untouched({ token, owner }: Lease, what: string): Promise<void> {
    const record = await this.record();
    same(record.token, token, `${what}: the token`);
    same(record.owner, owner, `${what}: the owner`);
    same(record.state, 'running', `${what}: the state`);
    this.isLeft(record.leaseLeft, this.long, `${what}: what is left of the lease`);
  }
}

export interface Case {
  readonly name: string;
  readonly needs: 'always' | 'unreachable' | 'forget';
  run(trial: Trial): Promise<void>;
}

export const OUTCOMES: readonly ReleaseOutcome[] = [
  { as: 'done', holdFor: 0 },
  { as: 'done', holdFor: 3_600_000 },
  { as: 'failed', holdFor: 0, error: 'late' },
  { as: 'failed', holdFor: 3_600_000 },
  { as: 'abandoned' },
];

export function always(name: string, run: (trial: Trial) => Promise<void>): Case {
  return { name, needs: 'always', run };
}
