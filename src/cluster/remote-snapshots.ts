import { isTooStale } from '../engine/decide.ts';
import { Adopted, StandBy } from '../engine/elsewhere.ts';
import { type Entry, keyOf, type SharedState, sharedOf } from '../engine/entry.ts';
import { isAbsentError } from '../errors.ts';
import type { Acquired, Cluster, ReadSnapshot } from './cluster.ts';

/**
 * The hold of a round begins a moment after its due time was computed: when the release reaches the engine. So that
 * nobody asks a moment too early, the next round is due that much later for all.
 */
export const HOLD_SLACK_MS = 25;

/** What others have loaded of an entry, and what it is good for here. */
export class Takeover<T> {
  readonly #cluster: Cluster;
  readonly #entry: Entry<T>;
  readonly #state: SharedState;
  readonly #isBackground: boolean;
  readonly #validSince: () => number;

  /** @param validSince what was loaded before that instant (monotonic) was invalidated since. */
  constructor(cluster: Cluster, entry: Entry<T>, isBackground: boolean, validSince: () => number) {
    this.#cluster = cluster;
    this.#entry = entry;
    this.#state = sharedOf(entry);
    this.#isBackground = isBackground;
    this.#validSince = validSince;
  }

  /** Nobody waits here for the outcome, and there is something to serve meanwhile. */
  get mayStandBy(): boolean {
    const { isLoaded, waiters } = this.#entry;
    return this.#isBackground && !waiters?.hasReaders && (isLoaded || !this.#cluster.policy.holdsValue);
  }

  /** At its age limit a value is no reason to stand by any more. */
  withinAgeLimit(forMs: number): number {
    const { clock, holdsValue } = this.#cluster.policy;
    if (!this.#entry.isLoaded || !holdsValue) return forMs;
    const left = ageLimitOf(this.#entry) - clock.monotonic();
    return left > 0 ? Math.min(forMs, left) : forMs;
  }

  /** The snapshot that was being made elsewhere at the last look; of a cold start, any that may be served. */
  async known(isAsked: boolean): Promise<Adopted<T> | undefined> {
    const entry = this.#entry;
    const { awaits, version } = this.#state;
    this.#state.awaits = undefined;
    if (isAsked) return undefined; // what is there may have been loaded before
    if (awaits !== undefined) {
      const snapshot = await this.#cluster.read(entry, Math.max(version, awaits - 1));
      if (snapshot === undefined) return undefined;
      if (this.#isUsable(snapshot)) return this.#adopted(snapshot);
      this.#state.useless = snapshot.version;
      return undefined;
    }
    if (entry.isLoaded) return undefined;
    const snapshot = await this.#cluster.read(entry, version);
    return snapshot !== undefined && this.#isUsable(snapshot) ? this.#adopted(snapshot) : undefined;
  }

  /** The round is done elsewhere: what it has brought. `undefined`: that can't be had. */
  async of(done: Extract<Acquired, { readonly kind: 'done' }>): Promise<Adopted<T> | StandBy | undefined> {
    const { store, policy, events } = this.#cluster;
    const { retryAfter, finishedAgo, owner, host, token } = done;
    const entry = this.#entry;
    const now = policy.clock.monotonic();
    const mayBeServed = (): boolean =>
      entry.isLoaded && (policy.whenTooStale === 'serve' || !isTooStale(entry, policy.clock.monotonic()));
    this.#state.awaits = undefined;
    events.emit('round-done-elsewhere', { retryAfter, owner, host, token, ...keyOf(entry) });
    const dueAt = now + retryAfter;
    if (!policy.holdsValue) return taskDone<T>(token, now - finishedAgo, dueAt);
    if (mayBeServed() && this.#state.version >= token) return new StandBy(retryAfter, false);
    if (store === undefined) return undefined;
    const snapshot = await this.#cluster.read(entry, this.#state.version);
    const { storeRestsFor } = this.#cluster;
    if (snapshot === undefined) {
      if (storeRestsFor === 0 || !mayBeServed() || !this.mayStandBy) return undefined;
      // It is there; to load it again would be a second round.
      return new StandBy(this.withinAgeLimit(Math.min(retryAfter, storeRestsFor)), true);
    }
    if (mayBeServed() && this.#isOlder(snapshot)) return new StandBy(retryAfter, false);
    if (!this.#isUsable(snapshot)) return undefined;
    return this.#adopted(snapshot, snapshot.dueIn === Infinity ? Infinity : dueAt);
  }

  /** It may not be served, or says that there is none for longer than that was to hold. */
  #isTooOld({ loadedAt, writtenAt, maxStaleness, isAbsent, dueIn }: ReadSnapshot): boolean {
    const { whenTooStale, maxStalenessMs, clock } = this.#cluster.policy;
    const now = clock.monotonic();
    if (isAbsent) return now >= writtenAt + dueIn;
    const age = now - loadedAt;
    return whenTooStale !== 'serve' && age > (maxStaleness ?? maxStalenessMs);
  }

  /** It may be served here: not too old, not invalidated since, not older than what is held. */
  #isUsable(snapshot: ReadSnapshot): boolean {
    if (snapshot.loadedAt < this.#validSince()) return false;
    return !this.#isTooOld(snapshot) && !this.#isOlder(snapshot);
  }

  /** What is known here was loaded without the lock, or set by hand, after that snapshot was made; or its absence was. */
  #isOlder({ loadedAt }: ReadSnapshot): boolean {
    const { isLoaded, lastError } = this.#entry;
    const isKnown = isLoaded || isAbsentError(lastError);
    return isKnown && this.#state.isLocal && loadedAt < this.#entry.loadedAt;
  }

  #adopted(snapshot: ReadSnapshot, dueAt?: number): Adopted<T> {
    const { value, isAbsent, version, took, maxStaleness, tags, isDueSaid, loadedAt } = snapshot;
    const { writtenAt, dueIn } = snapshot;
    return new Adopted({
      value: value as T,
      isAbsent,
      version,
      loadedAt,
      dueAt: dueAt ?? writtenAt + dueIn + HOLD_SLACK_MS,
      took,
      maxStalenessMs: maxStaleness,
      tags,
      isDueSaid,
    });
  }
}

/** The instant (monotonic) from which on the value is too old. */
export function ageLimitOf({ loadedAt, maxStalenessMs }: Entry<unknown>): number {
  return maxStalenessMs === Infinity ? Infinity : loadedAt + maxStalenessMs;
}

function taskDone<T>(token: number, loadedAt: number, dueAt: number): Adopted<T> {
  return new Adopted<T>({
    value: undefined as T,
    isAbsent: false,
    version: token,
    loadedAt,
    dueAt,
    took: 0,
    maxStalenessMs: undefined,
    tags: undefined,
    isDueSaid: false,
  });
}
