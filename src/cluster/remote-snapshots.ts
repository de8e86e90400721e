import type { RemoteResult } from '../engine/coordinator.ts';
import { isDue, isTooStale } from '../engine/decide.ts';
import { type Entry, keyOf } from '../engine/entry.ts';
import type { LoadContext } from '../engine/load-context.ts';
import { isTicklessError } from '../errors.ts';
import type { BackendPatience } from './backend-patience.ts';
import type { ClusterMember } from './cluster-member.ts';
import { type ClusterState, clusterStateOf } from './cluster-state.ts';
import { confirmationIn } from './confirmation.ts';
import type { Acquired } from './member-lock.ts';
import type { MemberStore, ReadSnapshot } from './member-store.ts';
import { PIN_CHECK_MS, type Pin } from './pin.ts';
import { endPin } from './pinned-entry.ts';
import { Adoption, Deferral } from './remote-result.ts';

/**
 * The hold of a round begins a moment after its due time was computed: when the release reaches the backend. The next
 * round is due that much later on all instances, so that none asks a moment too early.
 */
export const HOLD_SLACK_MS = 25;

/** Another instance has completed the round. */
type Done = Extract<Acquired, { readonly kind: 'done' }>;

/** The snapshots of an entry that other instances have published: which of them this instance adopts. */
export class RemoteSnapshots<T> {
  readonly #member: ClusterMember;
  readonly #entry: Entry<T>;
  readonly #state: ClusterState;
  readonly #isBackground: boolean;
  readonly #patience: () => BackendPatience;
  readonly #validSince: () => number;
  readonly #beganAt: number;
  /** The store has answered the last read. */
  wasRead: boolean = true;
  /** The last one that was read; `null`: there is none. */
  #last: ReadSnapshot | null | undefined;
  /** The last answer of the lock, as far as it is about the snapshot. */
  #looked: Exclude<Acquired, { readonly kind: 'unavailable' }> | undefined;

  /**
   * @param patience how long the load waits for the store.
   * @param validSince start of the validity period (monotonic): a snapshot whose load began before it is out of date. Exception:
   * a round that itself began before it may adopt that snapshot, because its readers asked before the invalidation.
   */
  constructor(
    member: ClusterMember,
    entry: Entry<T>,
    isBackground: boolean,
    patience: () => BackendPatience,
    validSince: () => number,
  ) {
    this.#member = member;
    this.#entry = entry;
    this.#state = clusterStateOf(entry);
    this.#isBackground = isBackground;
    this.#patience = patience;
    this.#validSince = validSince;
    this.#beganAt = member.options.clock.monotonic();
  }

  /** No caller waits here for the result, and there is a value to serve meanwhile. */
  get mayDefer(): boolean {
    const { isLoaded, waiters } = this.#entry;
    return this.#isBackground && !waiters?.hasReaders && (isLoaded || this.#member.options.kind === 'task');
  }

  /** Shortens a deferral, so that it ends when the value reaches its age limit. */
  withinAgeLimit(forMs: number): number {
    const { clock, kind } = this.#member.options;
    if (!this.#entry.isLoaded || kind === 'task') return forMs;
    const left = ageLimitOf(this.#entry) - clock.monotonic();
    return left > 0 ? Math.min(forMs, left) : forMs;
  }

  /**
   * The snapshot of the round that was under way elsewhere at the last check; at a cold start, any that may be served, and
   * that is younger than an initial value.
   */
  async known(isForced: boolean): Promise<Adoption<T> | undefined> {
    const entry = this.#entry;
    const { expectedToken, newest } = this.#state;
    this.#state.expectedToken = undefined;
    const isPinned = this.#state.pinAt(this.#member.options.clock.monotonic()) !== undefined;
    if (isPinned && !entry.isLoaded) return (await this.newer()).adoption; // it was dropped
    if (isForced) return undefined; // the snapshot may have been loaded before
    if (expectedToken !== undefined) {
      if (entry.isLoaded) return undefined; // it comes with the answer of the lock
      const isVersion = expectedToken !== this.#state.mark + 1; // else any after the mark
      const snapshot = await this.#read(Math.max(newest, expectedToken - 1), isVersion ? expectedToken : 0);
      if (snapshot === undefined) return undefined;
      if (this.#isUsable(snapshot)) return this.#adopted(snapshot);
      this.#state.rejectedVersion = snapshot.version;
      return undefined;
    }
    if (entry.isLoaded && !entry.isInitial) return undefined;
    const snapshot = await this.#read(newest);
    return snapshot !== undefined && this.#isUsable(snapshot) ? this.#adopted(snapshot) : undefined;
  }

  /** Asks the lock, and for the snapshot with it. @param expected the version that should be there; 0: none. @default any */
  async looking(
    expected: number = this.#anyExpected,
    ask: (newerThan: number | undefined) => Promise<Acquired>,
  ): Promise<Acquired> {
    const { newest, rejectedVersion, mark } = this.#state;
    this.#state.reading = expected === mark + 1 ? 0 : expected;
    // The load that is waited for began after the invalidation, and those before it may have ended before that.
    const outdated = this.#entry.isInvalidated ? expected - 1 : 0;
    const known = Math.max(newest, rejectedVersion, this.#last?.version ?? 0, outdated);
    const answer = await ask(this.#member.store && known);
    this.#state.reading = undefined;
    const isTold = answer.kind !== 'unavailable' && answer.newerThan !== undefined;
    this.#looked = isTold ? answer : undefined;
    if (isTold) this.wasRead = !(answer.newer instanceof Error);
    return answer;
  }

  /** A value that is due is replaced by the newest one, whichever that is. */
  get #anyExpected(): number {
    const { isLoaded, isInvalidated, isInitial } = this.#entry;
    return isLoaded && !isInvalidated && !isInitial ? Number.MAX_SAFE_INTEGER : 0;
  }

  /** By the last answer of the lock there is a snapshot that is newer than the version here. */
  get isNewerThere(): boolean {
    const { newer } = this.#looked ?? {};
    return newer !== undefined && !(newer instanceof Error) && newer.version > this.#state.newest;
  }

  /** The snapshot of that answer, if it may be served here, although a round is under way elsewhere or here. */
  async found(): Promise<Adoption<T> | undefined> {
    if (!this.isNewerThere) return undefined;
    const snapshot = await this.#read(this.#state.newest);
    if (snapshot === undefined) return undefined;
    if (this.#isUsable(snapshot)) return this.#adopted(snapshot);
    this.#state.rejectedVersion = snapshot.version;
    return undefined;
  }

  /**
   * The version in the store, if it is newer than the one here; without a value also the same one.
   *
   * @returns `isThere`: there is one. `adoption`: it may be served here; `isOlder`: the value here is younger all the same. `pin`: its pin; while an edition waits here for its
   * publication also that of the version which it is to replace.
   */
  async newer(): Promise<{
    readonly isThere: boolean;
    readonly adoption: Adoption<T> | undefined;
    readonly isOlder: boolean;
    readonly pin: Pin | undefined;
  }> {
    const { newest, held } = this.#state;
    const { isLoaded } = this.#entry;
    const isKnown = newest > held.version || (isLoaded && held.as !== 'publishing');
    const snapshot = await this.#read(isKnown ? newest : held.version - 1);
    if (snapshot === undefined && isLoaded && !this.#entry.isLoaded) return this.newer(); // dropped meanwhile
    const isPinned = snapshot !== undefined && this.#isPinned(snapshot);
    const pin = isPinned ? pinOf(snapshot) : undefined;
    if (isLoaded && snapshot?.version === held.version)
      return { isThere: false, adoption: undefined, isOlder: false, pin };
    const isUsable = snapshot !== undefined && (isPinned || this.#isUsable(snapshot));
    const adoption = isUsable ? this.#adopted(snapshot) : undefined;
    const isOlder = snapshot !== undefined && this.#isOlder(snapshot);
    return { isThere: snapshot !== undefined, adoption, isOlder, pin };
  }

  /**
   * The result of a round that is done elsewhere. `undefined`: it is not available.
   *
   * @param isForced a refresh that has waited for a holder: a result whose load had ended before is none, as that of the round whose
   *   hold is there again where the holder has given up.
   */
  async of(done: Done, isForced: boolean): Promise<RemoteResult<T> | undefined> {
    const { store, options, events } = this.#member;
    const { retryAfter, finishedAgo, owner, host, token, sentAt } = done;
    const entry = this.#entry;
    const now = options.clock.monotonic();
    const mayBeServed = (): boolean => entry.isLoaded && !isTooStale(entry, options.clock.monotonic());
    this.#state.expectedToken = undefined;
    events.round({ outcome: 'done', retryAfter, owner, host, token, ...keyOf(entry) });
    const dueAt = now + retryAfter;
    if (isForced && sentAt - finishedAgo < this.#beganAt) return undefined;
    if (options.kind === 'task') return this.#taskDone(token, now - finishedAgo, dueAt);
    const isNewerThere = this.isNewerThere; // published by a person without a round
    if (!isNewerThere && token <= this.#outOfDateUpTo(entry.tags)) return undefined; // it began before a mark
    // The hold is that of the round with this token: of another one it says nothing.
    const isHeld = (round: number): boolean => round === token;
    if (!isNewerThere && mayBeServed() && this.#state.newestRound >= token) {
      if (isForced && entry.loadedAt < this.#beganAt) return undefined;
      const forMs = isHeld(this.#state.newestRound) ? retryAfter : Math.min(retryAfter, PIN_CHECK_MS);
      return new Deferral(options, forMs, false);
    }
    if (store === undefined) return undefined;
    const snapshot = this.#confirmed(done, now) ?? (await this.#read(this.#state.newest, token));
    if (snapshot === undefined) {
      const { notAskedFor } = store;
      if (notAskedFor === 0 || !mayBeServed() || !this.mayDefer) return undefined;
      // The snapshot is there; loading again would be a second round.
      const forMs = this.withinAgeLimit(Math.min(retryAfter, notAskedFor));
      return new Deferral(options, forMs, true);
    }
    if (isForced && snapshot.loadedAt < this.#beganAt) return undefined;
    const { round, dueIn } = snapshot;
    const untilAt = isHeld(round) && dueIn < Infinity ? dueAt : dueAtOf(snapshot);
    if (mayBeServed() && this.#isOlder(snapshot)) {
      const forMs = Math.min(untilAt, dueAt) - now;
      if (forMs <= 0 && isDue(entry, now)) return undefined; // it is due itself, and the hold is not its own
      return new Deferral(options, Math.max(0, forMs), false);
    }
    if (!this.#isUsable(snapshot)) return undefined;
    return this.#adopted(snapshot, isHeld(round) ? untilAt : undefined);
  }

  /** The last snapshot in the store, however old, for a guard to compare with where there is no value. Read once in a round. */
  async last(): Promise<LoadContext['previous']> {
    if (this.#last === undefined) await this.#read(0);
    if (!this.#last || this.#last.isAbsent) return undefined;
    const { value, loadedAt, meta } = this.#last;
    const { now, clock } = this.#member.options;
    return { value, loadedAt: Math.round(now() - (clock.monotonic() - loadedAt)), meta };
  }

  /** Another instance may have published since: an empty store is looked at again. */
  waited(): void {
    if (this.#last === null) this.#last = undefined;
  }

  /** The value in place, with the times of the round, which has confirmed its version; `undefined`: it has not. */
  #confirmed({ confirms, token, finishedAgo, sentAt }: Done, now: number): ReadSnapshot | undefined {
    const entry = this.#entry;
    const { as, version } = this.#state.held;
    if (!entry.isLoaded || as !== 'published' || confirms === undefined) return undefined;
    const confirmation = confirmationIn(confirms, version);
    if (confirmation?.round !== token) return undefined;
    const writtenAt = sentAt - finishedAgo;
    const times = {
      ...confirmation,
      writtenAt,
      writtenBy: now - finishedAgo,
      loadedAt: writtenAt - confirmation.age,
    };
    return { ...times, value: entry.value, isAbsent: false, isKept: true };
  }

  /** As the lock has answered; where that does not tell, the store is asked. */
  #newerThan(version: number): ReturnType<MemberStore['read']> | undefined {
    const { store } = this.#member;
    const { kind, newerThan = Infinity, newer, sentAt = 0 } = this.#looked ?? {};
    this.#looked = undefined;
    const isWhole = newer === undefined || kind !== 'acquired';
    const isKnown = newerThan <= version || newer !== undefined; // it is the newest of all
    const isTold = isKnown && isWhole && !(newer instanceof Error);
    return isTold
      ? store?.newerOf(this.#entry, newer, version, sentAt)
      : store?.read(this.#entry, version, this.#patience());
  }

  /** @param expected the version that should be there; 0: any. */
  async #read(newerThan: number, expected: number = 0): Promise<ReadSnapshot | undefined> {
    this.#state.reading = expected;
    const answer = await this.#newerThan(newerThan);
    this.#state.reading = undefined;
    this.wasRead = answer !== 'unread';
    const found = answer === 'unread' ? undefined : answer;
    if (found?.mark !== undefined) {
      const { mark, version, writtenAt } = found;
      this.#state.found({ mark, version, writtenAt });
    }
    const read = found?.mark === undefined ? found : undefined;
    if (read !== undefined || newerThan === 0) this.#last = read ?? null;
    const isNewer = read !== undefined && read.version > this.#state.held.version;
    // Also if it may not be served here.
    if (isNewer && !this.#isPinned(read)) endPin(this.#entry, this.#member);
    return read;
  }

  /**
   * True if the snapshot is older than `maxStaleness`, or if it is an absence that has expired. An expired absence is still
   * adopted over an older value: that value is then removed.
   */
  #isTooOld(snapshot: ReadSnapshot): boolean {
    const { loadedAt, writtenAt, maxStaleness, isAbsent, dueIn } = snapshot;
    const { maxStalenessMs, clock } = this.#member.options;
    const now = clock.monotonic();
    if (isAbsent) return now >= writtenAt + dueIn && !this.#entry.isLoaded;
    const age = now - loadedAt;
    return age > Math.min(maxStaleness ?? Infinity, maxStalenessMs) && !this.#isPinned(snapshot);
  }

  /** It may be served here: not too old, not invalidated since, not older than the value here. */
  #isUsable(snapshot: ReadSnapshot): boolean {
    // A person has pinned it after its load.
    if (snapshot.version <= this.#outOfDateUpTo(snapshot.tags)) return false;
    const { writtenAt, loadedAt, took } = snapshot;
    const validSince = this.#validSince();
    const startedAt = validSince > this.#beganAt ? loadedAt : loadedAt - took;
    if ((this.#isPinned(snapshot) ? writtenAt : startedAt) < validSince) return false;
    return !this.#isTooOld(snapshot) && !this.#isOlder(snapshot);
  }

  /** The version up to which marks say that a value with these tags is out of date. */
  #outOfDateUpTo(tags: readonly string[] | undefined): number {
    if (this.#member.marks?.isBeingMarked(tags)) return Infinity;
    return Math.max(this.#state.mark, this.#member.marks?.outOfDateUpTo(this.#entry.id, tags) ?? 0);
  }

  /** The value here was loaded without the lock, or set by hand, after the snapshot was loaded. The same for its absence. */
  #isOlder(snapshot: ReadSnapshot): boolean {
    const { loadedAt, writtenAt, version } = snapshot;
    if (version < this.#state.held.version) return true; // a check was faster, while this one was decoded
    const pinned = this.#isPinned(snapshot);
    const { isLoaded, isInitial, lastError, last } = this.#entry;
    if (pinned && (isInitial || last?.outcome !== 'set')) return false; // only people replace it
    const isKnown = isLoaded || isTicklessError(lastError, 'ABSENT');
    const isInNoOrder = this.#state.held.as === 'local';
    return isKnown && isInNoOrder && (pinned ? writtenAt : loadedAt) < this.#entry.loadedAt;
  }

  /** A person holds it in place, still. */
  #isPinned(snapshot: ReadSnapshot): boolean {
    return snapshot.pinned !== undefined && dueAtOf(snapshot) > this.#member.options.clock.monotonic();
  }

  #taskDone(token: number, loadedAt: number, dueAt: number): Adoption<T> {
    return new Adoption(this.#member, {
      value: undefined as T,
      isAbsent: false,
      version: token,
      loadedAt,
      dueAt,
      took: 0,
      maxStalenessMs: undefined,
      tags: undefined,
      isDueTimeOverridden: false,
      pin: undefined,
      meta: undefined,
      headers: undefined,
      isLimitScheduled: false,
      round: token,
      isKept: false,
      digest: undefined,
    });
  }

  #adopted(snapshot: ReadSnapshot, dueAt?: number): Adoption<T> {
    const { value, isAbsent, version, took, maxStaleness, tags, isDueTimeOverridden, loadedAt } = snapshot;
    const { meta, headers, isLimitScheduled, round, isKept } = snapshot;
    const pin = pinOf(snapshot);
    const digest = pin === undefined ? snapshot.digest : undefined;
    const untilAt = dueAtOf(snapshot);
    const checkAt = pin ? this.#member.options.clock.monotonic() + PIN_CHECK_MS : Infinity;
    return new Adoption(this.#member, {
      value: value as T,
      isAbsent,
      version,
      loadedAt,
      dueAt: Math.min(dueAt ?? untilAt + HOLD_SLACK_MS, checkAt),
      took,
      maxStalenessMs: maxStaleness,
      tags,
      isDueTimeOverridden,
      pin,
      meta,
      headers,
      isLimitScheduled,
      round,
      isKept,
      digest,
    });
  }
}

/** When it is due (monotonic), or a little before; of a pinned one a little after, because it is replaced by no load before. */
function dueAtOf({ pinned, writtenAt, writtenBy, dueIn }: ReadSnapshot): number {
  return (pinned === undefined ? writtenAt : writtenBy) + dueIn;
}

/** The pin of a version, also one that is over. */
function pinOf(snapshot: ReadSnapshot): Pin | undefined {
  const { pinned, writtenAt: sinceAt, maxStaleness: maxStalenessMs } = snapshot;
  return pinned && { ...pinned, sinceAt, untilAt: dueAtOf(snapshot), maxStalenessMs };
}

/** The instant (monotonic) after which the value is too old. */
export function ageLimitOf({ loadedAt, maxStalenessMs }: Entry<unknown>): number {
  return maxStalenessMs === Infinity ? Infinity : loadedAt + maxStalenessMs;
}
