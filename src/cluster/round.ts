import { coolDownMs } from '../engine/cool-down.ts';
import type { CompletedLoad, CoordinatedRound, RemoteResult, RoundHost } from '../engine/coordinator.ts';
import { type Entry, keyOf } from '../engine/entry.ts';
import type { FlightScope } from '../engine/flight.ts';
import type { LoadContext } from '../engine/load-context.ts';
import { isLoadError, isLoadTimeoutError, isValueRejectedError, LeaseLostError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { Deferred } from '../time/deferred.ts';
import type { BackendPatience } from './backend-patience.ts';
import type { ClusterMember } from './cluster-member.ts';
import type { HeldLease, LossReason } from './held-lease.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';
import type { Acquired } from './member-lock.ts';
import type { Pin } from './pin.ts';
import { decidePinned, releaseOf } from './pin-check.ts';
import { endPin } from './pinned-entry.ts';
import { pollAfter, recheckAfter } from './poll-delays.ts';
import { type PublishRecord, publishAndRelease, publishRecord } from './publication.ts';
import { Deferral, StillPinned } from './remote-result.ts';
import { RemoteSnapshots } from './remote-snapshots.ts';
import { type SharedState, sharedStateOf } from './shared-state.ts';

/**
 * The cluster's part of one execution, around its tries:
 *
 *  1. {@link run} adopts a snapshot that is there, or asks for the lease. `acquired`: the tries begin, the lease is
 *     extended while they run. `held` or `done`: the snapshot of another instance is adopted, or waited for;
 *  2. the loader applies the result, and readers go on;
 *  3. {@link complete} publishes the result with the token and releases the lease as done until the next due time; or
 *     {@link fail} releases it as failed;
 *  4. if the flight is ended from outside (`invalidate`, the deadline, `close`) the lease is released when the load has
 *     settled, not before: two would run. A load that never settles keeps it until it expires.
 *
 * The next round of the entry begins when this one is {@link over}.
 */
export class Round<T> implements CoordinatedRound<T> {
  readonly #over: Deferred<void> = new Deferred();
  readonly #published: Deferred<void> = new Deferred();
  readonly #member: ClusterMember;
  readonly #entry: Entry<T>;
  readonly #state: SharedState;
  readonly #host: RoundHost;
  readonly #snapshots: RemoteSnapshots<T>;
  /** The round before, until it is over. */
  #previous: SharedState['round'];
  #remote: RemoteResult<T> | undefined;
  #lease: HeldLease | undefined;
  /** The tries have begun. */
  #isLoading = false;
  /** The tries are over, and the loader has not applied their result yet. */
  #hasResult = false;
  #isCompleted = false;
  #isEnded = false;
  #isFreshRequired = false;
  /** While a reader without a value waits for the first answer of the backends. */
  #enteredAt: number | undefined;
  #isLossReported = false;
  #mayAskStore = true;
  /** The snapshot that was expected when it began, and the last invalidation here before that. */
  #expected: Pick<SharedState, 'expectedToken' | 'invalidatedAt'> | undefined;

  constructor(member: ClusterMember, entry: Entry<T>, host: RoundHost) {
    this.#member = member;
    this.#entry = entry;
    this.#state = sharedStateOf(entry);
    this.#host = host;
    this.#snapshots = new RemoteSnapshots(
      member,
      entry,
      host.background,
      () => this.#patience,
      () => host.validSince(),
    );
    this.#previous = this.#state.round;
    this.#state.round = this;
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  get published(): Promise<void> {
    return this.#published.promise;
  }

  get remote(): RemoteResult<T> | undefined {
    return this.#remote;
  }

  get isFreshRequired(): boolean {
    return this.#isFreshRequired;
  }

  get isHolder(): boolean {
    return this.#lease !== undefined && !this.#lease.isLost;
  }

  get mayAskStore(): boolean {
    return this.#mayAskStore;
  }

  get token(): number | undefined {
    return this.#lease?.id.token;
  }

  /** A caller joins that requires a fresh load: earlier snapshots of other instances no longer count. */
  requireFresh(): void {
    this.#isFreshRequired = true;
  }

  /** A load without a lease is in no order with the versions of others. */
  yieldsTo(version: number): boolean {
    if (this.#remote !== undefined || this.#hasResult || this.#isCompleted) return false;
    if (this.#isLoading) return version < (this.token ?? 0);
    return this.#previous?.yieldsTo(version) !== false;
  }

  previous(): Promise<LoadContext['previous']> {
    return this.#snapshots.last();
  }

  async run<R>(tries: () => Promise<R>, { signal, deadlineAt, sleep }: FlightScope): Promise<R> {
    const abandon = (): void => {
      if (this.#hasResult) this.#abandon(signal.reason);
    };
    signal.addEventListener('abort', abandon, { once: true });
    try {
      await this.#previous?.over;
      this.#previous = undefined;
      await this.#member.marks?.known(); // before it begins: marks that were published before do not concern its result
      this.#host.began(); // also where a snapshot is adopted: invalidations before have led here
      this.#remote = await this.#enter(signal, sleep);
      if (this.#remote !== undefined) {
        this.#end();
        return undefined as R; // the loader applies `remote`
      }
    } catch (error) {
      this.#abandon(error);
      throw error;
    }
    if (signal.aborted) {
      this.#abandon(signal.reason);
      throw signal.reason;
    }
    // A load that ignores its signal keeps the lease while it runs, but it may run for ever.
    const aborted = (): void => {
      if (this.#lease === undefined) this.#end();
      else if (isLoadTimeoutError(signal.reason)) this.#lease.stop(() => this.#end());
      else this.#lease.keepUntil(deadlineAt, () => this.#end());
    };
    signal.addEventListener('abort', aborted, { once: true });
    this.#lease?.keep((reason, cause) => {
      const wasAborted = signal.aborted;
      this.#lost(reason, cause);
      if (wasAborted) this.#end(); // there is no flight any longer that could fail
    });
    this.#host.began();
    this.#isLoading = true;
    try {
      return await tries();
    } finally {
      if (!signal.aborted && this.#lease?.isLost) this.#lost('expired', undefined);
      this.#hasResult = true;
      if (signal.aborted) this.#abandon(signal.reason);
    }
  }

  complete(completed: CompletedLoad): Promise<void> {
    this.#hasResult = false;
    this.#isCompleted = true;
    this.#lease?.stop(); // it is extended while a load runs, not after
    const { store } = this.#member;
    if (this.token === undefined && this.#state.pin !== undefined) this.#state.displaced(); // it was dropped
    const knownVersion = Math.max(this.#state.version, this.#state.rejectedVersion);
    this.#state.version = Math.max(this.#state.version, this.token ?? 0);
    this.#state.replaced(this.token !== undefined);
    if (this.token !== undefined && store === undefined) this.#state.isLocal = false; // nothing is to be published
    const record = publishRecord(this.#member, this.#entry, completed, knownVersion);
    const isForced = this.#host.trigger === 'forced';
    void this.#publishAndRelease({ ...record, isForced }).then(() => this.#end());
    return this.over;
  }

  discard(): Promise<void> {
    this.#hasResult = this.#mayAskStore = false;
    this.#lease?.stop();
    void this.#release(() => ({ as: 'abandoned' })).then(() => this.#end());
    return this.over;
  }

  fail(error: Error): Promise<void> {
    if (this.#isCompleted) return this.over;
    this.#hasResult = this.#mayAskStore = false;
    this.#expectAgain();
    void Promise.resolve()
      .then(() => this.#release(this.#failure(error)))
      .then(() => this.#end());
    return this.over;
  }

  /** The next round looks for the same snapshot: a person may have set the value meanwhile. */
  #expectAgain(): void {
    const { expectedToken, invalidatedAt } = this.#expected ?? {};
    if (this.#entry.isInvalidated && this.#state.invalidatedAt === invalidatedAt)
      this.#state.expectedToken ??= expectedToken;
  }

  /** Looks for the snapshot of another instance, or acquires the lease. `undefined`: the load is to begin. */
  async #enter(
    signal: AbortSignal,
    sleep: (ms: number) => Promise<void>,
  ): Promise<RemoteResult<T> | undefined> {
    const { lock, store, options } = this.#member;
    const { trigger } = this.#host;
    const entry = this.#entry;
    this.#member.names.checkKey(entry);
    if (!entry.isLoaded && options.whenLockUnavailable === 'load')
      this.#enteredAt = options.clock.monotonic();
    const state = this.#state;
    this.#expected = { expectedToken: state.expectedToken, invalidatedAt: state.invalidatedAt };
    // A load that is expected after an invalidation began after it.
    const isForced = trigger === 'forced' || (trigger === 'invalidated' && state.expectedToken === undefined);
    if (store !== undefined && options.kind !== 'task') {
      const known = await this.#snapshots.known(isForced);
      if (known !== undefined && !this.#isFreshRequired) return known;
    }
    if (lock === undefined) return undefined;
    let pin = this.#pinInPlace;
    const isPinned = (): boolean => pin !== undefined && entry.isLoaded; // it may be dropped meanwhile
    if (entry.isLoaded && pin === undefined) endPin(entry, options); // its hold is over
    let force = pin === undefined && (isForced || state.ignoresHold);
    for (let polls = 0; ; polls++) {
      const wasForced = force;
      signal.throwIfAborted();
      const answer = await lock.acquire(entry, force, () => this.#patience);
      this.#enteredAt = undefined;
      pin ??= this.#pinInPlace; // a check may have taken it over
      if (answer.kind === 'acquired') {
        this.#lease = answer.lease;
        if (polls > 0) this.#snapshots.waited();
        state.expectedToken = undefined;
        state.ignoresHold = false;
        return pin !== undefined || answer.isForced || answer.tookOver ? this.#pinned(pin) : undefined;
      }
      signal.throwIfAborted();
      const checked = Math.max(state.version, state.checkedToken);
      if (isPinned() && (answer.kind === 'unavailable' || answer.token <= checked)) {
        return new StillPinned(options, pin as Pin);
      }
      if (answer.kind === 'unavailable') {
        if (options.whenLockUnavailable === 'load') return undefined;
        // The lock rests and was not asked: that is not another failure, with another cool-down.
        const mayDefer = answer.restsFor > 0 && entry.isLoaded && this.#snapshots.mayDefer;
        if (mayDefer) return new Deferral(options, answer.restsFor, true);
        throw answer.error;
      }
      if (answer.kind === 'done') {
        const found = await this.#snapshots.of(answer);
        if (found !== undefined && (wasForced || !this.#isFreshRequired)) return found;
        if (found === undefined && isPinned() && state.pin !== undefined) {
          if (this.#snapshots.wasRead) state.checkedToken = answer.token;
          return new StillPinned(options, pin as Pin);
        }
        force = true; // it is done, but its result is missing, or is not what the caller requires
        if (wasForced) await sleep(pollAfter(polls)); // done again meanwhile, or a lock that ignores force
        continue;
      }
      if (pin !== undefined && polls === 0) {
        const { adoption } = await this.#snapshots.newer(); // it loads, so the pin may be over
        if (adoption !== undefined) return adoption;
      }
      this.#emitHeld(answer);
      const isOver = answer.isBackoff || answer.token <= state.version; // its release is still on its way
      if (isOver) force = isForced || this.#isFreshRequired;
      else force = this.#isFreshRequired = false; // the holder is loading now: that is the result
      if (this.#snapshots.mayDefer) {
        state.expectedToken = isOver ? undefined : answer.token;
        const forMs = answer.isBackoff ? answer.retryAfter : recheckAfter(entry, answer);
        return new Deferral(options, this.#snapshots.withinAgeLimit(forMs), true);
      }
      const mayForce = answer.isBackoff && isForced && !wasForced;
      if (!mayForce) await sleep(pollAfter(polls, answer.retryAfter));
    }
  }

  /**
   * Has the lease, although the version in place is pinned, or may be pinned elsewhere by now. `undefined`: the load is to
   * begin. Else the lease is given back, and a pinned version has its hold again.
   */
  async #pinned(known: Pin | undefined): Promise<RemoteResult<T> | undefined> {
    const { options, lock } = this.#member;
    if (!this.#member.mayBePinned) return undefined;
    const newer = await this.#snapshots.newer();
    const inPlace = this.#entry.isLoaded ? (known ?? this.#pinInPlace) : undefined;
    const given = decidePinned(this.#member, inPlace, { ...newer, isReadable: this.#snapshots.wasRead });
    if (given === undefined) {
      endPin(this.#entry, options);
      return undefined;
    }
    const lease = this.#lease as HeldLease;
    this.#lease = undefined;
    await lock?.release(lease, () => releaseOf(given.heldUntil, options.clock.monotonic()));
    return given.result;
  }

  /** The pin of the value in place, while it is in force. */
  get #pinInPlace(): Pin | undefined {
    const now = this.#member.options.clock.monotonic();
    return this.#entry.isLoaded ? this.#state.pinAt(now) : undefined;
  }

  /** Readers wait for no probe, unless nothing is done without the lock. */
  get #patience(): BackendPatience {
    const { whenLockUnavailable } = this.#member.options;
    const isForced = this.#host.trigger === 'forced';
    const waitsForProbe = isForced || whenLockUnavailable === 'skip' || this.#snapshots.mayDefer;
    return { waitsForProbe, startedAt: this.#enteredAt };
  }

  #emitHeld({ retryAfter, owner, host, token }: Extract<Acquired, { readonly kind: 'held' }>): void {
    const details = { retryAfter, owner, host, token, ...keyOf(this.#entry) };
    this.#member.events.emit('lease-held-elsewhere', details);
  }

  #lost(reason: LossReason, cause: unknown): void {
    this.#lease?.stop();
    this.#host.fail(this.#reportLoss(reason, cause));
  }

  #reportLoss(reason: LossReason, cause: unknown): LeaseLostError {
    this.#isLossReported = true;
    const token = (this.#lease as HeldLease).id.token;
    const details = { cacheName: this.#member.options.name, key: this.#entry.key, cause, token };
    const error = new LeaseLostError(LOSSES[reason], details);
    this.#member.events.emit('lease-lost', { token, error, ...keyOf(this.#entry) });
    return error;
  }

  async #publishAndRelease(record: PublishRecord): Promise<void> {
    const lease = this.#lease;
    if (lease === undefined && this.#member.lock !== undefined) return; // loaded without the lock: not published
    await Promise.resolve(); // codec and clients do not run on the stack of the load
    await publishAndRelease(this.#member, this.#entry, record, lease, (outcome) => {
      if (outcome === 'unwritten' && lease?.isLost && !this.#isLossReported)
        this.#reportLoss('expired', undefined);
      this.#mayAskStore = false;
      this.#published.resolve();
    });
  }

  #release(outcome: () => ReleaseOutcome): Promise<boolean> {
    const { lock } = this.#member;
    if (lock === undefined || this.#lease === undefined) return Promise.resolve(false);
    return lock.release(this.#lease, outcome);
  }

  /** The outcome, as of the moment at which the release is sent. */
  #failure(error: unknown): () => ReleaseOutcome {
    const { coolDown, random, clock } = this.#member.options;
    const { coolDownUntil } = this.#entry; // a person may end it here, while the release waits for the lock
    // Another connection may help, so others may try soon. Of a refused value they would load the same.
    const holdFor = (): number =>
      isValueRejectedError(error)
        ? Math.max(0, coolDownUntil - clock.monotonic())
        : coolDownMs(coolDown, 1, random());
    return () => ({
      as: 'failed',
      holdFor: Math.min(holdFor(), LONGEST_LEASE_MS),
      error: messageOf(error).slice(0, 500),
    });
  }

  /** The flight was ended from outside, and its load has settled. */
  #abandon(reason: unknown): void {
    if (this.#isEnded) return;
    this.#hasResult = this.#mayAskStore = false;
    const isFailure = isLoadTimeoutError(reason) || isLoadError(reason);
    const outcome = isFailure ? this.#failure(reason) : (): ReleaseOutcome => ({ as: 'abandoned' });
    void this.#release(outcome).then(() => this.#end());
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#state.round === this) this.#state.round = undefined;
    this.#published.resolve();
    this.#over.resolve();
    this.#host.over();
  }
}

const LOSSES: Readonly<Record<LossReason, string>> = {
  expired: 'the lease has expired: this process was paused for too long',
  taken: 'the lease is lost: it has expired at the backend, or was released by an operator',
  unreachable: 'the lease has expired: the lock could not be reached to extend it',
};
