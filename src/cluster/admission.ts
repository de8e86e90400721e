import type { RemoteResult, RoundHost } from '../engine/coordinator.ts';
import { type Entry, keyOf } from '../engine/entry.ts';
import type { BackendPatience } from './backend-patience.ts';
import type { ClusterMember } from './cluster-member.ts';
import type { HeldLease } from './held-lease.ts';
import type { Acquired } from './member-lock.ts';
import type { Pin } from './pin.ts';
import { decidePinned, releaseOf } from './pin-check.ts';
import { endPin } from './pinned-entry.ts';
import { pollAfter, recheckAfter } from './poll-delays.ts';
import { Deferral, StillPinned } from './remote-result.ts';
import { RemoteSnapshots } from './remote-snapshots.ts';
import { type SharedState, sharedStateOf } from './shared-state.ts';

type Got = Extract<Acquired, { readonly kind: 'acquired' }>;
type Unavailable = Extract<Acquired, { readonly kind: 'unavailable' }>;
type Held = Extract<Acquired, { readonly kind: 'held' }>;

/**
 * The first step of a round: whether this instance loads. It adopts the snapshot of another instance, acquires the lease, or
 * waits for the holder.
 */
export class Admission<T> {
  readonly snapshots: RemoteSnapshots<T>;
  /** A caller requires a fresh load: earlier snapshots of other instances do not count. */
  isFreshRequired: boolean = false;
  /** As long as this instance has it for the load that is to begin. */
  lease: HeldLease | undefined;
  readonly #member: ClusterMember;
  readonly #entry: Entry<T>;
  readonly #state: SharedState;
  readonly #host: RoundHost;
  /** Snapshots that are there already do not count, nor does the hold of a round that is done. */
  #isForced = false;
  /** The next acquire ignores holds. */
  #force = false;
  /** The pin of the value in place. */
  #pin: Pin | undefined;
  /** While a reader without a value waits for the first answer of the backends. */
  #enteredAt: number | undefined;
  /** The snapshot that was expected when it began, and the last invalidation here before that. */
  #expected: Pick<SharedState, 'expectedToken' | 'invalidatedAt'> | undefined;

  constructor(member: ClusterMember, entry: Entry<T>, host: RoundHost) {
    this.#member = member;
    this.#entry = entry;
    this.#state = sharedStateOf(entry);
    this.#host = host;
    this.snapshots = new RemoteSnapshots(
      member,
      entry,
      host.background,
      () => this.#patience,
      () => host.validSince(),
    );
  }

  /** @returns `undefined`: the load is to begin, with the {@link lease} or, where the lock can't be asked, without. */
  async run(signal: AbortSignal, sleep: (ms: number) => Promise<void>): Promise<RemoteResult<T> | undefined> {
    const { lock, store, options } = this.#member;
    const entry = this.#entry;
    const state = this.#state;
    this.#member.names.checkKey(entry);
    if (!entry.isLoaded && options.whenLockUnavailable === 'load')
      this.#enteredAt = options.clock.monotonic();
    const { trigger } = this.#host;
    const { expectedToken, invalidatedAt } = state;
    this.#expected = { expectedToken, invalidatedAt };
    // A load that is expected after an invalidation began after it.
    this.#isForced = trigger === 'forced' || (trigger === 'invalidated' && expectedToken === undefined);
    if (store !== undefined && options.kind !== 'task') {
      const known = await this.snapshots.known(this.#isForced);
      if (known !== undefined && !this.isFreshRequired) return known;
    }
    if (lock === undefined) return undefined;
    this.#pin = this.#pinInPlace;
    if (entry.isLoaded && this.#pin === undefined) endPin(entry, options); // its hold is over
    this.#force = this.#pin === undefined && (this.#isForced || state.ignoresHold);
    for (let polls = 0; ; polls++) {
      const wasForced = this.#force;
      signal.throwIfAborted();
      const answer = await lock.acquire(entry, wasForced, () => this.#patience);
      this.#enteredAt = undefined;
      this.#pin ??= this.#pinInPlace; // a check may have taken it over
      if (answer.kind === 'acquired') {
        if (polls > 0) this.snapshots.waited();
        return this.#acquired(answer);
      }
      signal.throwIfAborted();
      const checked = Math.max(state.version, state.checkedToken);
      if (this.#pinned && (answer.kind === 'unavailable' || answer.token <= checked))
        return new StillPinned(options, this.#pinned);
      if (answer.kind === 'unavailable') return this.#unavailable(answer);
      if (answer.kind === 'done') {
        const found = await this.snapshots.of(answer);
        if (found !== undefined && (wasForced || !this.isFreshRequired)) return found;
        if (found === undefined && this.#pinned && state.pin !== undefined) {
          if (this.snapshots.wasRead) state.checkedToken = answer.token;
          return new StillPinned(options, this.#pinned);
        }
        this.#force = true; // it is done, but its result is missing, or is not what the caller requires
        if (wasForced) await sleep(pollAfter(polls)); // done again meanwhile, or a lock that ignores force
        continue;
      }
      if (this.#pin !== undefined && polls === 0) {
        const { adoption } = await this.snapshots.newer(); // it loads, so the pin may be over
        if (adoption !== undefined) return adoption;
      }
      const deferral = this.#heldElsewhere(answer);
      if (deferral !== undefined) return deferral;
      const mayForce = answer.isBackoff && this.#isForced && !wasForced;
      if (!mayForce) await sleep(pollAfter(polls, answer.retryAfter));
    }
  }

  /** The round has failed. The next one looks for the same snapshot: a person may have set the value meanwhile. */
  expectAgain(): void {
    const { expectedToken, invalidatedAt } = this.#expected ?? {};
    if (this.#entry.isInvalidated && this.#state.invalidatedAt === invalidatedAt)
      this.#state.expectedToken ??= expectedToken;
  }

  #acquired({ lease, isForced, tookOver }: Got): Promise<RemoteResult<T> | undefined> | undefined {
    this.lease = lease;
    this.#state.expectedToken = undefined;
    this.#state.ignoresHold = false;
    return this.#pin !== undefined || isForced || tookOver ? this.#checkPin(this.#pin) : undefined;
  }

  /**
   * Has the lease, although the version in place is pinned, or may be pinned elsewhere by now. `undefined`: the load is to
   * begin. Else the lease is given back, and a pinned version has its hold again.
   */
  async #checkPin(known: Pin | undefined): Promise<RemoteResult<T> | undefined> {
    const { options, lock } = this.#member;
    if (!this.#member.mayBePinned) return undefined;
    const newer = await this.snapshots.newer();
    const inPlace = this.#entry.isLoaded ? (known ?? this.#pinInPlace) : undefined;
    const given = decidePinned(this.#member, inPlace, { ...newer, isReadable: this.snapshots.wasRead });
    if (given === undefined) {
      endPin(this.#entry, options);
      return undefined;
    }
    const lease = this.lease as HeldLease;
    this.lease = undefined;
    await lock?.release(lease, () => releaseOf(given.heldUntil, options.clock.monotonic()));
    return given.result;
  }

  /** `undefined`: the load begins without the lock. @throws {LockUnavailableError} if it must not. */
  #unavailable({ error, restsFor }: Unavailable): RemoteResult<T> | undefined {
    const { options } = this.#member;
    if (options.whenLockUnavailable === 'load') return undefined;
    // The lock rests and was not asked: that is not another failure, with another cool-down.
    if (restsFor > 0 && this.#entry.isLoaded && this.snapshots.mayDefer)
      return new Deferral(options, restsFor, true);
    throw error;
  }

  /** `undefined`: callers wait for the holder, so the lock is to be asked again. */
  #heldElsewhere(answer: Held): RemoteResult<T> | undefined {
    const { options, events } = this.#member;
    const { retryAfter, owner, host, token, isBackoff } = answer;
    events.emit('lease-held-elsewhere', { retryAfter, owner, host, token, ...keyOf(this.#entry) });
    const isOver = isBackoff || token <= this.#state.version; // its release is still on its way
    if (isOver) this.#force = this.#isForced || this.isFreshRequired;
    else this.#force = this.isFreshRequired = false; // the holder is loading now: that is the result
    if (!this.snapshots.mayDefer) return undefined;
    this.#state.expectedToken = isOver ? undefined : token;
    const forMs = isBackoff ? retryAfter : recheckAfter(this.#entry, answer);
    return new Deferral(options, this.snapshots.withinAgeLimit(forMs), true);
  }

  /** The pin of the value in place, while it is in force. */
  get #pinInPlace(): Pin | undefined {
    const now = this.#member.options.clock.monotonic();
    return this.#entry.isLoaded ? this.#state.pinAt(now) : undefined;
  }

  /** The pin, unless the value in place was dropped meanwhile. */
  get #pinned(): Pin | undefined {
    return this.#entry.isLoaded ? this.#pin : undefined;
  }

  /** Readers wait for no probe, unless nothing is done without the lock. */
  get #patience(): BackendPatience {
    const { whenLockUnavailable } = this.#member.options;
    const isForced = this.#host.trigger === 'forced';
    const waitsForProbe = isForced || whenLockUnavailable === 'skip' || this.snapshots.mayDefer;
    return { waitsForProbe, startedAt: this.#enteredAt };
  }
}
