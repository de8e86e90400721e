import { coolDownMs } from '../engine/cool-down.ts';
import { type Adopted, type FlightAnswer, StandBy } from '../engine/elsewhere.ts';
import { type Entry, keyOf, type RoundUnderWay, type SharedState, sharedOf } from '../engine/entry.ts';
import type { Around } from '../engine/flight.ts';
import type { Trigger } from '../engine/load-context.ts';
import { isLoadTimeoutError, LeaseLostError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { Deferred } from '../time/deferred.ts';
import type { Acquired, Cluster } from './cluster.ts';
import type { HeldLease, LossReason } from './held-lease.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import { lookAgainAfter, pollAfter } from './poll-delays.ts';
import { type Applied, type Concluded, concluded, publish } from './publication.ts';
import { ageLimitOf, HOLD_SLACK_MS, Takeover } from './remote-snapshots.ts';

/** Engines have calendars that end. A hold is at most a year, also where the next round is never due by itself. */
const LONGEST_HOLD_MS = 365 * 86_400_000;

/** What a round needs of who started it. */
export interface RoundHost {
  readonly trigger: Trigger;
  readonly background: boolean;
  /** The load is about to begin: what was invalidated before has no bearing on it. */
  began(): void;
  /** Ends the flight, and aborts its load: the lease is lost. */
  fail(error: LeaseLostError): void;
  /** What was loaded before that instant (monotonic) was invalidated since, with many others: nobody remembers which. */
  validSince(): number;
  /** The round is over. The due time of the entry may have changed since its answer was applied. */
  over(): void;
}

/**
 * One execution in a cluster, around its tries:
 *
 *  1. {@link run} takes a snapshot that is there, or asks for the lease. `acquired`: the tries begin, the lease is
 *     extended while they run. `held` or `done`: what others have loaded is taken over, or waited for;
 *  2. the launcher applies what the load has brought, and readers go on;
 *  3. {@link conclude} publishes it with the token and gives the lease back as done until the next due time; or
 *     {@link giveUp} gives it back as failed;
 *  4. if the flight is ended from outside (`invalidate`, the deadline, `close`) the lease is given back when the load
 *     has settled, not before: two would run. A load that never does keeps it until it expires.
 *
 * The next round of the entry begins when this one is {@link over}.
 */
export class Round<T> implements RoundUnderWay {
  readonly #over: Deferred<void> = new Deferred();
  readonly #cluster: Cluster;
  readonly #entry: Entry<T>;
  readonly #state: SharedState;
  readonly #host: RoundHost;
  readonly #takeover: Takeover<T>;
  readonly #before: RoundUnderWay | undefined;
  #lease: HeldLease | undefined;
  /** The tries are over, and the launcher has not said yet what became of them. */
  #isAnswered = false;
  #isEnded = false;
  #isUrged = false;
  #isLossTold = false;

  constructor(cluster: Cluster, entry: Entry<T>, host: RoundHost) {
    this.#cluster = cluster;
    this.#entry = entry;
    this.#state = sharedOf(entry);
    this.#host = host;
    this.#takeover = new Takeover(cluster, entry, host.background, host.validSince);
    this.#before = this.#state.round;
    this.#state.round = this;
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isUrged(): boolean {
    return this.#isUrged;
  }

  get isHolder(): boolean {
    return this.#lease !== undefined && !this.#lease.isLost;
  }

  /** The fencing token of its lease, if it has one. */
  get token(): number | undefined {
    return this.#lease?.id.token;
  }

  /** Somebody joins it who asks for a load: what others have loaded before is no answer any more. */
  urge(): void {
    this.#isUrged = true;
  }

  /** What goes around the tries of the flight. Resolves with their answer, or with what was found elsewhere. */
  async run(
    tries: () => Promise<FlightAnswer<T>>,
    { signal, deadlineAt, sleep }: Around,
  ): Promise<FlightAnswer<T>> {
    const windUp = (): void => {
      if (this.#isAnswered) this.#windUp(signal.reason);
    };
    signal.addEventListener('abort', windUp, { once: true });
    try {
      await this.#before?.over;
      this.#host.began(); // also where it is taken over: what was invalidated before has led here
      const elsewhere = await this.#enter(signal, sleep);
      if (elsewhere !== undefined) {
        this.#end();
        return elsewhere;
      }
    } catch (error) {
      this.#windUp(error);
      throw error;
    }
    if (signal.aborted) {
      this.#windUp(signal.reason);
      throw signal.reason;
    }
    // A load that ignores its signal keeps the lease while it runs; but it may run for ever.
    const aborted = (): void => {
      if (this.#lease === undefined) this.#end();
      else if (isLoadTimeoutError(signal.reason)) this.#lease.stop(() => this.#end());
      else this.#lease.keepUntil(deadlineAt, () => this.#end());
    };
    signal.addEventListener('abort', aborted, { once: true });
    this.#lease?.keep((reason, cause) => {
      const wasAborted = signal.aborted;
      this.#lost(reason, cause);
      if (wasAborted) this.#end(); // there is no flight any more that could fail
    });
    this.#host.began();
    try {
      return await tries();
    } finally {
      if (!signal.aborted && this.#lease?.isLost) this.#lost('expired', undefined);
      this.#isAnswered = true;
      if (signal.aborted) this.#windUp(signal.reason);
    }
  }

  /** The answer has been applied: publishes it, and gives the lease back. Resolves when that is over; never rejects. */
  conclude(applied: Applied): Promise<void> {
    this.#isAnswered = false;
    this.#lease?.stop(); // it is extended while a load runs, not after
    const { store } = this.#cluster;
    const knownVersion = Math.max(this.#state.version, this.#state.useless);
    this.#state.version = Math.max(this.#state.version, this.token ?? 0);
    this.#state.isLocal = this.token === undefined || store !== undefined; // until it is published
    const about = concluded(this.#cluster, this.#entry, applied, knownVersion);
    void this.#publishAndRelease(about).then(() => this.#end());
    return this.over;
  }

  /** The execution has failed: gives the lease back, so that others may try the same round. */
  giveUp(error: Error): Promise<void> {
    this.#isAnswered = false;
    void Promise.resolve()
      .then(() => this.#release(() => this.#failed(error)))
      .then(() => this.#end());
    return this.over;
  }

  /** Looks for what others have loaded, or for the lease. `undefined`: the load is to begin. */
  async #enter(
    signal: AbortSignal,
    sleep: (ms: number) => Promise<void>,
  ): Promise<Adopted<T> | StandBy | undefined> {
    const { lock, store, policy } = this.#cluster;
    const { trigger } = this.#host;
    const entry = this.#entry;
    const state = this.#state;
    // What is awaited after an invalidation began after it.
    const isAsked = trigger === 'forced' || (trigger === 'invalidated' && state.awaits === undefined);
    if (store !== undefined && policy.holdsValue) {
      const known = await this.#takeover.known(isAsked);
      if (known !== undefined && !this.#isUrged) return known;
    }
    if (lock === undefined) return undefined;
    let force = isAsked || state.passesHold;
    for (let looks = 0; ; looks++) {
      const wasForced = force;
      signal.throwIfAborted();
      const answer = await this.#cluster.acquire(entry, force);
      if (answer.kind === 'acquired') {
        this.#lease = answer.lease;
        state.awaits = undefined;
        state.passesHold = false;
        return undefined;
      }
      signal.throwIfAborted();
      if (answer.kind === 'unavailable') {
        if (policy.whenLockUnavailable === 'load') return undefined;
        // Not asked again yet: that is not one more failure, with one more cool-down.
        const mayStandBy = answer.restsFor > 0 && entry.isLoaded && this.#takeover.mayStandBy;
        if (mayStandBy) return new StandBy(answer.restsFor, true);
        throw answer.error;
      }
      if (answer.kind === 'done') {
        const found = await this.#takeover.of(answer);
        if (found !== undefined && (wasForced || !this.#isUrged)) return found;
        force = true; // it is done, and its result is not to be had, or not what was asked for
        if (wasForced) await sleep(pollAfter(looks)); // done once more meanwhile, or a lock that knows no force
        continue;
      }
      this.#tellHeld(answer);
      const isOver = answer.isBackoff || answer.token <= state.version; // a release that is still on its way
      if (isOver) force = isAsked || this.#isUrged;
      else force = this.#isUrged = false; // who holds it loads now: that is the answer
      if (this.#takeover.mayStandBy) {
        state.awaits = isOver ? undefined : answer.token;
        const forMs = answer.isBackoff ? answer.retryAfter : lookAgainAfter(entry, answer);
        return new StandBy(this.#takeover.withinAgeLimit(forMs), true);
      }
      const mayForce = answer.isBackoff && isAsked && !wasForced;
      if (!mayForce) await sleep(pollAfter(looks, answer.retryAfter));
    }
  }

  #tellHeld({ retryAfter, owner, host, token }: Extract<Acquired, { readonly kind: 'held' }>): void {
    const details = { retryAfter, owner, host, token, ...keyOf(this.#entry) };
    this.#cluster.events.emit('lease-held-elsewhere', details);
  }

  #lost(reason: LossReason, cause: unknown): void {
    this.#lease?.stop();
    this.#host.fail(this.#tellLoss(reason, cause));
  }

  #tellLoss(reason: LossReason, cause: unknown): LeaseLostError {
    this.#isLossTold = true;
    const token = (this.#lease as HeldLease).id.token;
    const details = { cacheName: this.#cluster.policy.name, key: this.#entry.key, cause, token };
    const error = new LeaseLostError(LOSSES[reason], details);
    this.#cluster.events.emit('lease-lost', { token, error, ...keyOf(this.#entry) });
    return error;
  }

  async #publishAndRelease(about: Concluded): Promise<void> {
    const { store, lock, policy } = this.#cluster;
    const lease = this.#lease;
    if (lease === undefined && lock !== undefined) return; // loaded without the lock: nothing to be published
    await Promise.resolve(); // codec and clients are not to run on the stack of who brought the value
    let isShared = !policy.holdsValue;
    if (store !== undefined && policy.holdsValue) {
      const outcome = await publish(this.#cluster, this.#entry, about, lease);
      isShared = outcome === 'shared';
      if (outcome === 'unwritten' && lease?.isLost && !this.#isLossTold) this.#tellLoss('expired', undefined);
    }
    const holdFor = (): number => {
      const left = Math.max(0, about.dueAt - policy.clock.monotonic());
      return isShared ? Math.min(left, LONGEST_HOLD_MS) : 0;
    };
    const isReleased = await this.#release(() => ({ as: 'done', holdFor: holdFor() }));
    if (isReleased && isShared && this.#entry.dueAt === about.dueAt && about.dueAt < Infinity) {
      this.#entry.dueAt = Math.max(
        about.dueAt,
        Math.min(about.dueAt + HOLD_SLACK_MS, ageLimitOf(this.#entry)),
      );
    }
  }

  #release(outcome: () => ReleaseOutcome): Promise<boolean> {
    const lease = this.#lease;
    if (lease === undefined) return Promise.resolve(false);
    return this.#cluster.semaphore.run(() => lease.release(outcome));
  }

  #failed(error: unknown): ReleaseOutcome {
    const { coolDown, random } = this.#cluster.policy;
    return {
      as: 'failed',
      holdFor: coolDownMs(coolDown, 1, random()),
      error: messageOf(error).slice(0, 500),
    };
  }

  /** The flight was ended from outside, and its load has settled. */
  #windUp(reason: unknown): void {
    if (this.#isEnded) return;
    this.#isAnswered = false;
    const outcome = (): ReleaseOutcome =>
      isLoadTimeoutError(reason) ? this.#failed(reason) : { as: 'abandoned' };
    void this.#release(outcome).then(() => this.#end());
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#state.round === this) this.#state.round = undefined;
    this.#over.resolve();
    this.#host.over();
  }
}

const LOSSES: Readonly<Record<LossReason, string>> = {
  expired: 'the lease has expired: this process stood still for too long',
  taken: 'the lease is lost: it has expired at the engine, or was released by an operator',
  unreachable: 'the lease has expired: the lock could not be reached to extend it',
};
