import type { RemoteResult, RoundHost } from '../engine/coordinator.ts';
import { type Entry, keyOf } from '../engine/entry.ts';
import { showDuration } from '../time/show-duration.ts';
import type { BackendPatience } from './backend-patience.ts';
import type { ClusterMember } from './cluster-member.ts';
import { type ClusterState, clusterStateOf } from './cluster-state.ts';
import type { HeldLease } from './held-lease.ts';
import type { Acquired, MemberLock } from './member-lock.ts';
import { endPin } from './pinned-entry.ts';
import { pollAfter, recheckAfter } from './poll-delays.ts';
import { isRegistering } from './registration.ts';
import { Deferral, StillPinned } from './remote-result.ts';
import { RemoteSnapshots } from './remote-snapshots.ts';

type AcquiredAs<Kind extends Acquired['kind']> = Extract<Acquired, { readonly kind: Kind }>;

/**
 * The first step of a round: whether this instance loads. It adopts the snapshot of another instance, acquires the lease, or
 * waits for the holder.
 */
export class Admission<T> {
  readonly snapshots: RemoteSnapshots<T>;
  readonly #member: ClusterMember;
  readonly #entry: Entry<T>;
  readonly #state: ClusterState;
  readonly #host: RoundHost;
  readonly #hold: (lease: HeldLease | undefined) => void;
  #isFreshRequired = false;
  /** The round itself is forced: snapshots that are there already do not count, nor does the hold of a round that is done. */
  #isForced = false;
  /** The next acquire ignores holds. */
  #force = false;
  #step: string | undefined;
  /** Since when a reader without a value waits for the first answer of a backend. */
  #enteredAt: number | undefined;
  /** The snapshot that was expected when it began, and the last invalidation here before that. */
  #expected: Pick<ClusterState, 'expectedToken' | 'invalidatedAt'> | undefined;

  /** @param hold takes the lease of this instance; `undefined`: it was given back, and no load begins. */
  constructor(
    member: ClusterMember,
    entry: Entry<T>,
    host: RoundHost,
    hold: (lease: HeldLease | undefined) => void,
  ) {
    this.#hold = hold;
    this.#member = member;
    this.#entry = entry;
    this.#state = clusterStateOf(entry);
    this.#host = host;
    this.snapshots = new RemoteSnapshots(
      member,
      entry,
      host.background,
      () => this.#patience,
      () => host.validSince(),
    );
  }

  /** A caller requires a fresh load: earlier snapshots of other instances do not count, unless one is loading by then. */
  get isFreshRequired(): boolean {
    return this.#isFreshRequired;
  }

  requireFresh(): void {
    this.#isFreshRequired = true;
  }

  /** For people: the step under way, or that at which it has ended. */
  get waitedFor(): string | undefined {
    return this.#step;
  }

  /**
   * @returns `undefined`: the load is to begin, with the lease or, where the lock can't be asked, without. Rejects with
   * `BACKEND_DOWN` where it must not begin without, with `OPTION` for a name that the lock or the store does not
   * accept, and with the reason of the signal.
   */
  async run(signal: AbortSignal, sleep: (ms: number) => Promise<void>): Promise<RemoteResult<T> | undefined> {
    const { store, options } = this.#member;
    const lock = this.#member.lock as MemberLock;
    const entry = this.#entry;
    const state = this.#state;
    this.#member.names.checkKey(entry);
    if (!entry.isLoaded && options.whenBackendDown === 'load') this.#enteredAt = options.clock.monotonic();
    const { trigger } = this.#host;
    const { expectedToken, invalidatedAt } = state;
    this.#expected = { expectedToken, invalidatedAt };
    // `expectedToken` is cleared by an invalidation, so a set one belongs to a load that began after it.
    this.#isForced = trigger === 'forced' || (trigger === 'invalidated' && expectedToken === undefined);
    if (store !== undefined) {
      this.#step = 'waiting for the backend (read)';
      const known = await this.snapshots.known(this.#isForced);
      if (this.snapshots.wasRead && this.#enteredAt !== undefined)
        this.#enteredAt = options.clock.monotonic();
      if (known !== undefined && !this.#isFreshRequired) return known;
    }
    this.#step = undefined;
    this.#force = this.#isForced;
    const since = options.clock.monotonic();
    const pause = (retryAfter?: number): number => pollAfter(options.clock.monotonic() - since, retryAfter);
    for (let polls = 0; ; polls++) {
      const wasForced = this.#force;
      signal.throwIfAborted();
      const askedAt = options.clock.monotonic();
      const { pin } = state.held;
      this.#step = 'waiting for the backend (acquire)';
      const answer = await this.snapshots.looking(this.#isForced ? 0 : expectedToken, (newerThan) =>
        lock.acquire(entry, wasForced, () => this.#patience, newerThan),
      );
      const tookMs = options.clock.monotonic() - askedAt;
      this.#enteredAt = undefined;
      if (answer.kind === 'unavailable') {
        signal.throwIfAborted();
        return this.#unavailable(answer);
      }
      if (answer.kind === 'done' && answer.pinnedFor !== undefined) {
        signal.throwIfAborted();
        this.#step = 'waiting for the backend (read)';
        const result = await this.#pinned(answer, answer.pinnedFor);
        if (result !== 'over') return result;
        await sleep(pause(answer.pinnedFor));
        continue;
      }
      const isUnpinned = pin !== undefined && state.held.pin === pin;
      if (isUnpinned) endPin(entry, this.#member);
      if (answer.kind === 'acquired') {
        if (polls > 0) this.snapshots.waited();
        return this.#acquired(answer, isUnpinned);
      }
      signal.throwIfAborted();
      if (answer.kind === 'done') {
        if (!wasForced && this.#isOfEarlierSchedule(answer)) {
          this.#force = true;
          continue;
        }
        this.#step = 'waiting for the backend (read)';
        const found = await this.snapshots.of(answer, trigger === 'forced' && !wasForced);
        if (found !== undefined && (wasForced || !this.#isFreshRequired)) return found;
        this.#force = true; // it is done, but its result is missing, or is not what the caller requires
        if (wasForced) await sleep(pause()); // done again meanwhile, or a lock that ignores force
        continue;
      }
      if (!this.#isForced && !this.#isFreshRequired) {
        const found = await this.snapshots.found();
        if (found !== undefined) return found;
      }
      const deferral = isRegistering(answer) ? undefined : this.#deferToHolder(answer);
      if (deferral !== undefined) return deferral;
      this.#step = stepOf(answer);
      const asksAtOnce = answer.isBackoff && this.#isForced && !wasForced; // now in spite of the backoff
      // Those who wait leave a slow lock the time to answer the holder.
      if (!asksAtOnce) await sleep(Math.max(pause(answer.retryAfter), tookMs));
    }
  }

  /**
   * The round has failed: the next one looks for the same snapshot, unless the value was invalidated again, or set by a
   * person meanwhile.
   */
  expectAgain(): void {
    const { expectedToken, invalidatedAt } = this.#expected ?? {};
    if (this.#entry.isInvalidated && this.#state.invalidatedAt === invalidatedAt)
      this.#state.expectedToken ??= expectedToken;
  }

  /** No promise where the load begins: its first try runs as soon as the lease is there. */
  #acquired(
    { lease }: AcquiredAs<'acquired'>,
    isUnpinned: boolean,
  ): Promise<RemoteResult<T> | undefined> | undefined {
    this.#hold(lease);
    this.#state.expectedToken = undefined;
    const isExpected = (isUnpinned || this.#expected?.expectedToken !== undefined) && !this.#isForced;
    return isExpected && this.snapshots.isNewerThere ? this.#adoptExpected() : undefined;
  }

  /** The expected snapshot is there, and none holds the next round back. `undefined`: it can't be served, the load is to begin. */
  async #adoptExpected(): Promise<RemoteResult<T> | undefined> {
    const found = await this.snapshots.found();
    return this.#isFreshRequired ? undefined : found;
  }

  /**
   * The version in the store is pinned. `undefined`: it can't be served here, and what this instance loads without a lease is not
   * published. `over`: not any longer.
   */
  async #pinned(
    { token }: Pick<AcquiredAs<'done'>, 'token'>,
    forMs: number,
  ): Promise<RemoteResult<T> | 'over' | undefined> {
    const { adoption, isOlder } = await this.snapshots.newer();
    const isOwn = isOlder && !this.#isForced; // a value that was set here since
    if (adoption !== undefined && !isOwn) return adoption;
    const { held, rejectedVersion } = this.#state;
    if (this.#entry.isLoaded && (isOwn || held.version >= token)) return new StillPinned(forMs);
    return this.snapshots.wasRead && rejectedVersion !== token ? 'over' : undefined;
  }

  /** `undefined`: the load begins without the lock. @throws {TicklessError} `BACKEND_DOWN` if it must not. */
  #unavailable({ error, notAskedFor }: AcquiredAs<'unavailable'>): RemoteResult<T> | undefined {
    const { options } = this.#member;
    const now = options.clock.monotonic();
    const pin = this.#entry.isLoaded ? this.#state.pinAt(now) : undefined;
    if (pin !== undefined) return new StillPinned(pin.untilAt - now);
    if (options.whenBackendDown === 'load') return undefined;
    // The lock was not asked, its breaker is open: that is not another failure, with another cool-down.
    if (notAskedFor > 0 && this.#entry.isLoaded && this.snapshots.mayDefer)
      return new Deferral(options, notAskedFor, true);
    throw error;
  }

  /**
   * Reports the holder, and decides whether the next acquire ignores holds. `undefined`: callers wait for the holder, so the
   * lock is asked again; else the snapshot of the holder is expected, and looked for then.
   */
  #deferToHolder(answer: AcquiredAs<'held'>): RemoteResult<T> | undefined {
    const { options, events } = this.#member;
    const { retryAfter, owner, host, token, isBackoff } = answer;
    events.round({ outcome: 'held', retryAfter, owner, host, token, ...keyOf(this.#entry) });
    const isOver = this.#isOver(answer);
    if (isOver) this.#force = this.#isForced || this.#isFreshRequired;
    else this.#force = this.#isFreshRequired = false; // the holder is loading now: that is the result
    if (!this.snapshots.mayDefer) return undefined;
    this.#state.expectedToken = isOver ? undefined : token;
    const forMs = isBackoff ? retryAfter : recheckAfter(this.#entry, answer);
    return new Deferral(options, this.snapshots.withinAgeLimit(forMs), true);
  }

  /** The release of that round has failed it, or is still on its way. */
  #isOver({ isBackoff, token }: AcquiredAs<'held'>): boolean {
    return isBackoff || token <= this.#state.held.version;
  }

  /** The hold of that round says nothing about when this one is due. */
  #isOfEarlierSchedule({ sentAt, finishedAgo }: AcquiredAs<'done'>): boolean {
    return sentAt - finishedAgo <= this.#member.timing.scheduledAt;
  }

  /** Readers wait for no probe, unless nothing is done without the lock. */
  get #patience(): BackendPatience {
    const { whenBackendDown } = this.#member.options;
    const isForced = this.#host.trigger === 'forced';
    const waitsForProbe = isForced || whenBackendDown === 'skip' || this.snapshots.mayDefer;
    return { waitsForProbe, startedAt: this.#enteredAt };
  }
}

/** For people: the holder for whose load a round waits, or the pause after one that has failed. */
function stepOf({ owner, host, token, heldFor, retryAfter, isBackoff }: AcquiredAs<'held'>): string {
  const left = showDuration(retryAfter);
  if (isBackoff) return `waiting for the pause after the failed load of ${owner} on ${host}: ${left}`;
  const lease = `the lease with token ${token}, held for ${showDuration(heldFor)}`;
  return `waiting for the load of ${owner} on ${host}: ${lease}: it ends in ${left}, unless the holder extends it`;
}
