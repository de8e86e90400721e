import type { PinRequest } from '../data/pin.ts';
import type { VersionControl } from '../data/version-control.ts';
import type {
  CoordinatedRound,
  CoordinationProblem,
  CoordinationStatus,
  Coordinator,
  RoundHost,
  VersionHost,
} from '../engine/coordinator.ts';
import type { Entry } from '../engine/entry.ts';
import type { ClusterMember } from './cluster-member.ts';
import { ManualRound } from './manual-round.ts';
import { pinStatus } from './pin.ts';
import { Round } from './round.ts';
import { type SharedState, sharedStateOf } from './shared-state.ts';
import { EntryVersions } from './version-control.ts';

/** Coordinates the executions of one member: begins its rounds and reports its state. */
export class MemberCoordinator implements Coordinator {
  readonly #member: ClusterMember;
  /** Those of people that are under way. */
  readonly #manual: Set<ManualRound> = new Set();

  constructor(member: ClusterMember) {
    this.#member = member;
  }

  begin<T>(entry: Entry<T>, host: RoundHost): CoordinatedRound<T> {
    return new Round(this.#member, entry, host);
  }

  share(entry: Entry<unknown>, as?: PinRequest | 'due'): Promise<void> {
    const round = new ManualRound(this.#member, entry, as);
    this.#manual.add(round);
    void round.over.then(() => this.#manual.delete(round));
    return round.shared;
  }

  versions<T>(entry: Entry<T>, host: VersionHost<T>): VersionControl<T> {
    return new EntryVersions(this.#member, entry, host);
  }

  replaced(entry: Entry<unknown>): void {
    sharedStateOf(entry).isLocal = true;
  }

  /** A local value is packed as -1 less the version. */
  packVersion({ coordinated }: Entry<unknown>): number {
    if (coordinated === undefined) return 0;
    const { isLocal, version } = coordinated as SharedState;
    return isLocal ? -1 - version : version;
  }

  unpackVersion(entry: Entry<unknown>, packed: number): void {
    if (packed === 0) return;
    const state = sharedStateOf(entry);
    state.isLocal = packed < 0;
    state.version = packed < 0 ? -1 - packed : packed;
  }

  status({ coordinated }: Entry<unknown>): CoordinationStatus {
    const { lock, store } = this.#member;
    const { options } = this.#member;
    const state = coordinated as SharedState | undefined;
    const { holder, round, version = 0, isLocal } = state ?? {};
    const now = options.clock.monotonic();
    const pin = state?.pinAt(now);
    const lockStatus = {
      isHolder: round?.isHolder ?? false,
      holder: holder && { owner: holder.owner, host: holder.host },
      token: holder?.token,
      version: version > 0 && !isLocal ? version : undefined,
      lockError: lock?.error,
      storeError: store?.error,
    };
    return { lock: lockStatus, pinned: pin && pinStatus(pin, now, options.now()) };
  }

  async close(): Promise<void> {
    for (const round of this.#manual) round.giveUp();
    await this.#member.lock?.close();
  }

  problems(): CoordinationProblem[] {
    const { lock, store } = this.#member;
    const lockError = lock?.error;
    const storeError = store?.error;
    const problems: CoordinationProblem[] = [];
    if (lockError !== undefined) problems.push({ kind: 'lock-unavailable', error: lockError });
    if (storeError !== undefined) problems.push({ kind: 'store-unavailable', error: storeError });
    return problems;
  }
}
