import type { PolledEntry } from '../engine/coordinator.ts';
import { PATIENT } from './backend-patience.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import { type OwnMember, reasonIn } from './fleet-report.ts';
import { endPin } from './pinned-entry.ts';
import { RemoteSnapshots } from './remote-snapshots.ts';
import type { Reporting } from './store-reports.ts';
import type { PolledName } from './version-poll.ts';

/** The value of one entry: checks of the store keep it up to date between its loads, and reports show it. */
export class PolledValue<T> implements PolledName, Reporting {
  readonly #member: ClusterMember;
  readonly #host: PolledEntry<T>;
  /** The last version that a check has read; it is not read again if it could not be used. */
  #read = 0;
  #isReading = false;

  constructor(member: ClusterMember, host: PolledEntry<T>) {
    this.#member = member;
    this.#host = host;
  }

  get poller(): ClusterMember {
    return this.#member;
  }

  get knownVersion(): number | undefined {
    const { entry } = this.#host;
    const state = clusterStateOf(entry);
    if (this.#isReading || (!entry.isLoaded && !this.#isWaiting)) return undefined;
    if (state.unappliedMark !== undefined) return state.unappliedMark.version - 1;
    return Math.max(state.newest, state.rejectedVersion, this.#read);
  }

  /** Without a value the next load looks into the store, unless it has to wait. */
  get #isWaiting(): boolean {
    const { flight, coolDownUntil } = this.#host.entry;
    return flight === undefined && coolDownUntil > this.#member.options.clock.monotonic();
  }

  async nameAtBackend(): Promise<string> {
    return this.#member.names.atBackend(this.#host.entry, this.#member.store?.longestName);
  }

  async adoptNewer(version: number): Promise<void> {
    this.#isReading = true; // a large snapshot may take longer than the time between two checks
    try {
      await this.#adoptNewer(version);
    } finally {
      this.#isReading = false;
    }
  }

  async #adoptNewer(version: number): Promise<void> {
    const { entry } = this.#host;
    const { promise } = entry;
    const state = clusterStateOf(entry);
    const wasLocal = state.held.as === 'local';
    state.round?.overtakenBy(version);
    if (!this.#allowsAdoption(version)) return;
    const snapshots = new RemoteSnapshots<T>(
      this.#member,
      entry,
      true,
      () => PATIENT,
      () => -Infinity,
    );
    const { adoption, isThere } = await snapshots.newer();
    const mark = state.unappliedMark;
    const isBehind = mark !== undefined && (!wasLocal || entry.loadedAt < mark.writtenAt);
    // A load, or a person, was faster. If the load fails the next check finds the version again.
    if (!this.#allowsAdoption(version) || entry.promise !== promise) return;
    if (isThere || mark !== undefined) this.#read = Math.max(this.#read, version);
    state.foundMark = undefined;
    if (adoption !== undefined) {
      // An invalidation that was made here is answered by a load that began after it, or by a person.
      const isAnswer = adoption.pin !== undefined || adoption.startedAt > state.invalidatedAt;
      const awaitsLoad = entry.isInvalidated && !isAnswer;
      this.#host.adopt(adoption);
      if (awaitsLoad) state.stillInvalidated(() => this.#host.invalidate(false));
    } else if (mark !== undefined && isBehind) {
      endPin(entry, this.#member); // no mark takes the place of a pinned version
      state.invalidatedElsewhere(entry, mark.version, () => this.#host.invalidate(mark.mark === 'dropped'));
    }
  }

  /** No round under way here stands against that version. */
  #allowsAdoption(version: number): boolean {
    return clusterStateOf(this.#host.entry).round?.allowsAdoption(version) !== false;
  }

  reported(written: ReadonlySet<number>): OwnMember {
    const { entry } = this.#host;
    const { name, clock, now: wall } = this.#member.options;
    const { isLoaded, loadedAt, failures, lastError, refused } = entry;
    const state = clusterStateOf(entry);
    const version = isLoaded ? state.reported(written) : undefined;
    const { takingOver = -1 } = state;
    const now = clock.monotonic();
    const pin = state.pinAt(now);
    return {
      name,
      kind: 'value',
      version: version || undefined,
      takingOver: takingOver > (version ?? -1) ? takingOver : undefined,
      age: isLoaded ? Math.max(0, now - loadedAt) : undefined,
      failures,
      error: failures > 0 && lastError !== undefined ? reasonIn(lastError) : undefined,
      pinned: pin && { by: pin.by, note: pin.note },
      refused: refused && { reason: refused.reason, for: Math.max(0, wall() - refused.since) },
      executions: this.#member.events.executions,
    };
  }
}
