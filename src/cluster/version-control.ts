import type { Difference } from '../data/difference.ts';
import type { Mark } from '../data/mark.ts';
import { checkOrigin, type PublishOrigin } from '../data/origin.ts';
import type { PinRequest } from '../data/pin.ts';
import type { RollbackOptions, UnpinOptions, VersionControl } from '../data/version-control.ts';
import type { VersionRecord } from '../data/version-record.ts';
import type { ShareRequest, VersionHost } from '../engine/coordinator.ts';
import type { Entry } from '../engine/entry.ts';
import type { LoadResult } from '../engine/load-result.ts';
import type { TicklessError } from '../errors.ts';
import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import { yieldsFor } from '../time/yield-to-event-loop.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import { sharedVersion } from './held-version.ts';
import type { MemberStore } from './member-store.ts';
import { PIN_CHECK_MS, pinnedError } from './pin.ts';
import { endPin, logPin } from './pinned-entry.ts';
import { Adoption } from './remote-result.ts';
import { refusedOption, throwUnlessSeen } from './seen-version.ts';

/** The versions of one entry in the store, and the pin of the one in place. */
export class EntryVersions<T> implements VersionControl<T> {
  readonly #member: ClusterMember;
  readonly #entry: Entry<T>;
  readonly #host: VersionHost<T>;

  constructor(member: ClusterMember, entry: Entry<T>, host: VersionHost<T>) {
    this.#member = member;
    this.#entry = entry;
    this.#host = host;
  }

  async history(): Promise<readonly VersionRecord[]> {
    return this.#store('history').history(this.#entry);
  }

  async rollback(given: RollbackOptions): Promise<number> {
    this.#host.refuseOwnLoad();
    const own = ownOptions(given);
    const request = this.#pinRequest(own);
    const versions = await this.#store('rollback').history(this.#entry);
    const [present] = versions;
    throwUnlessSeen(this.#member, this.#entry, own.version, present);
    const ofValues = versions.filter(({ mark }) => mark === undefined);
    const [last, before] = ofValues;
    const earlier = last === present ? before : last;
    const { to = present?.isPinned ? undefined : earlier?.version } = own;
    const edition = to === undefined ? undefined : await this.#edition(to, request);
    const kept = ofValues.map(({ version }) => version).join(', ') || 'none';
    const isUnclear = own.to === undefined && present?.isPinned === true;
    const needsVersions = this.#member.store?.keepsVersions !== true;
    const advice = needsVersions ? '; the backend needs keepVersions to keep more than one' : '';
    const rule = isUnclear
      ? 'must be given while a version is pinned'
      : `must be a version of a value that the backend keeps: ${kept}${advice}`;
    if (edition === undefined) throw this.#refused('to', rule, given.to);
    const sharing = this.#share(edition, { pinnedOver: own.version }, present?.version);
    return sharing.catch((error: unknown) => this.#throwAfter(error, own.version));
  }

  async unpin(given?: UnpinOptions): Promise<boolean> {
    this.#host.refuseOwnLoad();
    const { name } = this.#member.options;
    namesArgument(name, given, ['by', 'note', 'version']);
    const { by, note, version } = ownOptions(given ?? {});
    const checks = new OptionChecks(name);
    checkOrigin({ by, note }, checks, false);
    checks.done();
    return this.#unpin({ by, note }, version);
  }

  /** @param seen the version that is pinned. @param gone one that was pinned, and is not kept any longer. */
  async #unpin(by: PublishOrigin, seen: number | undefined, gone?: number): Promise<boolean> {
    const [present] = await this.#store('unpin').history(this.#entry);
    throwUnlessSeen(this.#member, this.#entry, seen, present);
    if (!present?.isPinned || present.version === gone) return this.#endHere(present);
    const state = clusterStateOf(this.#entry);
    const isHere = this.#entry.isLoaded && sharedVersion(state.held) === present.version;
    const edition = isHere ? undefined : await this.#edition(present.version);
    if (!isHere && edition === undefined) return this.#unpin(by, seen, present.version); // it was replaced meanwhile
    try {
      await this.#share(edition, { unpinned: by, over: present.version }, present.version);
    } catch (error) {
      const [now] = await this.#store('unpin').history(this.#entry);
      throwUnlessSeen(this.#member, this.#entry, seen, now);
      if (now === undefined || now.isPinned || now.version <= present.version) throw error;
    }
    return true; // another person may have ended it
  }

  /**
   * Ends a pin that this instance knows of, and the store does not any longer. One that is being published is not there yet, or
   * was not when the store was asked.
   *
   * @param present the version that the store had.
   * @returns whether there was a pin.
   */
  #endHere(present: VersionRecord | undefined): boolean {
    const { options } = this.#member;
    const state = clusterStateOf(this.#entry);
    const isPublished = state.held.as === 'published' && state.round === undefined;
    const wasBefore = present !== undefined && present.version < state.held.version;
    if (!isPublished || wasBefore || state.pinAt(options.clock.monotonic()) === undefined) return false;
    endPin(this.#entry, this.#member);
    return true;
  }

  /** Another version may have been published since it was compared with what was seen. */
  async #throwAfter(error: unknown, seen: number | undefined): Promise<never> {
    if (seen !== undefined) throwUnlessSeen(this.#member, this.#entry, seen, (await this.history())[0]);
    throw error;
  }

  async mark(mark: Mark, seen: number | undefined): Promise<void> {
    this.#throwIfPinned();
    const isHere = seen === undefined || seen === this.#versionHere;
    const invalidate = (): void => this.#host.invalidate(mark === 'dropped');
    if (isHere) invalidate();
    await this.#host
      .share({ mark, markedOver: seen })
      .catch((error: unknown) => this.#throwAfter(error, seen));
    if (!isHere) invalidate();
  }

  throwUnlessHere(seen: number): void {
    const version = this.#versionHere;
    throwUnlessSeen(this.#member, this.#entry, seen, version === 0 ? undefined : { version });
  }

  get #versionHere(): number {
    return this.#entry.isLoaded ? sharedVersion(clusterStateOf(this.#entry).held) : 0;
  }

  async refresh(load: () => Promise<T>): Promise<T> {
    this.#throwIfPinned();
    const value = await load();
    this.#throwIfPinned(); // by another instance
    return value;
  }

  async compare(before: number, after: number): Promise<Difference> {
    const { clock, timeoutMs, idOf } = this.#member.options;
    const [earlier, later] = await Promise.all([this.#valueOf('a', before), this.#valueOf('b', after)]);
    const { differenceOf } = await import('../data/difference.ts');
    return differenceOf(earlier, later, idOf, yieldsFor(clock, timeoutMs));
  }

  /**
   * Puts an edition into place, and publishes it. If that fails the next read looks for the version in the store.
   *
   * @param present the version in the store: the edition is to have a higher one.
   */
  async #share(edition: Adoption<T> | undefined, as: ShareRequest, present: number = 0): Promise<number> {
    const entry = this.#entry;
    const shared = clusterStateOf(entry);
    if (edition !== undefined) shared.happened({ on: 'found', version: present });
    const published = edition && this.#host.put((edition.result as LoadResult<T>).value, edition);
    const { promise } = entry;
    const { version } = shared.held;
    try {
      const sharing = this.#host.share(as);
      if (edition !== undefined) shared.happened({ on: 'put back' }); // until it is published
      const newVersion = (await sharing) as number; // there is a lock
      published?.(newVersion);
      return newVersion;
    } catch (error) {
      const isInPlace = edition !== undefined && entry.promise === promise;
      const before = shared.held;
      if (edition !== undefined) {
        // In place it has no version, though one before it may have been published meanwhile.
        if (isInPlace || shared.held.version === version) shared.happened({ on: 'given up', isInPlace });
        else if (shared.held.pin === edition.pin) shared.happened({ on: 'unpinned' });
      }
      logPin(entry, before, this.#member);
      published?.(undefined);
      if (isInPlace) this.#member.timing.expected(entry);
      throw error;
    }
  }

  #throwIfPinned(): void {
    const { options } = this.#member;
    const pin = clusterStateOf(this.#entry).pinAt(options.clock.monotonic());
    if (pin !== undefined) throw pinnedError(options, pin);
  }

  async #valueOf(option: string, version: number): Promise<unknown> {
    const snapshot = await (this.#member.store as MemberStore).edition(this.#entry, version);
    if (snapshot !== undefined) return snapshot.value;
    throw this.#refused(option, 'must be a version that the backend keeps', version);
  }

  /** A version as it was loaded, to be put into place. `undefined`: it is not kept. */
  async #edition(version: number, request?: PinRequest): Promise<Adoption<T> | undefined> {
    const snapshot = await (this.#member.store as MemberStore).edition(this.#entry, version);
    if (snapshot === undefined || snapshot.isAbsent || snapshot.mark !== undefined) return undefined;
    const { value, loadedAt, took, tags, maxStaleness: maxStalenessMs, isLimitScheduled } = snapshot;
    const { by = '', note, holdMs = Infinity } = request ?? {};
    const sinceAt = this.#member.options.clock.monotonic();
    const pin = { by, note, sinceAt, untilAt: sinceAt + holdMs, maxStalenessMs };
    const dueAt = sinceAt + Math.min(holdMs, PIN_CHECK_MS);
    const times = { loadedAt, dueAt, took, tags, maxStalenessMs, isDueTimeOverridden: true };
    return new Adoption(this.#member, {
      value: value as T,
      isAbsent: false,
      version,
      ...times,
      pin: request && pin,
      ...{ meta: snapshot.meta, headers: snapshot.headers, isLimitScheduled },
      ...{ round: version, isKept: false, digest: undefined },
    });
  }

  #store(method: string): MemberStore {
    const { store } = this.#member;
    if (store === undefined) throw this.#refused(method, 'needs a backend', undefined);
    return store;
  }

  #pinRequest(given: RollbackOptions): PinRequest {
    const { name } = this.#member.options;
    namesArgument(name, given, ['to', 'by', 'note', 'hold', 'version']);
    const { by, note, hold = Infinity } = ownOptions(given ?? {});
    const checks = new OptionChecks(name);
    checkOrigin({ by, note }, checks, true);
    const holdMs = checks.duration('hold', hold);
    checks.done();
    return { by, note, holdMs };
  }

  #refused(option: string, rule: string, received: unknown): TicklessError {
    return refusedOption(this.#member, this.#entry, option, rule, received);
  }
}
