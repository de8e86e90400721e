import type { LeaseLeft } from '../data/close-report.ts';
import type { SharedRuns } from '../data/executor-run.ts';
import type { Fleet, MemberName } from '../data/fleet.ts';
import type { KeyMark, KeysMark, NamedId } from '../data/mark.ts';
import type { VersionControl } from '../data/version-control.ts';
import type { ControlledMember } from '../engine/control.ts';
import type {
  ChecksStatus,
  CoordinatedRound,
  CoordinationProblem,
  CoordinationStatus,
  Coordinator,
  PinInForce,
  PolledEntry,
  PolledKeys,
  RoundHost,
  ShareRequest,
  VersionHost,
} from '../engine/coordinator.ts';
import type { Entry } from '../engine/entry.ts';
import { closedError } from '../engine/read-errors.ts';
import type { ClusterMember } from './cluster-member.ts';
import { type ClusterState, clusterStateOf } from './cluster-state.ts';
import { type Controls, controlsOf } from './controls.ts';
import { sharedVersion } from './held-version.ts';
import { KeyMarks } from './key-marks.ts';
import { ManualRound } from './manual-round.ts';
import { limitOf, pinnedError, pinStatus } from './pin.ts';
import { PolledValue } from './polled-value.ts';
import { ReportedKeys } from './reported-keys.ts';
import { ReportedTask } from './reported-task.ts';
import { Round } from './round.ts';
import type { StoreFleet } from './store-fleet.ts';
import type { Reporting } from './store-reports.ts';
import { unavailable } from './unavailable.ts';
import { EntryVersions } from './version-control.ts';
import type { VersionPoll } from './version-poll.ts';

/** Coordinates the executions of one member: begins its rounds and reports its state. */
export class MemberCoordinator implements Coordinator {
  readonly checks: VersionPoll | undefined;
  readonly #member: ClusterMember;
  /** Those of people that are under way. */
  readonly #manual: Set<ManualRound> = new Set();
  /** Its member in the reports of this instance. */
  #reporting: Reporting | undefined;
  #polled: PolledValue<unknown> | undefined;
  #marks: KeyMarks | undefined;
  #task: ReportedTask | undefined;
  /** Its settings on all instances, and itself. */
  #controlled: { readonly by: Controls; readonly host: ControlledMember } | undefined;

  constructor(member: ClusterMember) {
    this.#member = member;
    this.checks = member.checks;
  }

  follow<T>(host: PolledEntry<T>): void {
    const member = this.#member;
    if (member.fleet === undefined) return;
    if (member.reports !== undefined) {
      this.#task = new ReportedTask(member, host.entry as Entry<unknown>);
      this.#report(this.#task);
      return;
    }
    const polled = new PolledValue(member, host);
    this.#polled = polled as PolledValue<unknown>;
    this.#report(polled);
    this.checks?.join(polled, member, member.propagateWithinMs);
  }

  #report(reporting: Reporting): void {
    this.#reporting = reporting;
    this.#member.fleet?.join(reporting, this.#member);
  }

  followKeys(keys: PolledKeys): void {
    const member = this.#member;
    if (this.checks === undefined) {
      this.#report(new ReportedKeys(member, keys));
      return;
    }
    const marks = new KeyMarks(member, keys);
    this.#marks = member.marks = marks;
    this.#report(marks);
    this.checks.join(marks, member, member.propagateWithinMs);
  }

  async register(): Promise<void> {
    await this.#member.lock?.register();
  }

  get runs(): SharedRuns | undefined {
    return this.#member.lock?.runs;
  }

  executed(): void {
    this.#task?.leave();
  }

  followControl(host: ControlledMember): void {
    const by = controlsOf(this.#member);
    if (by === undefined) return;
    this.#controlled = { by, host };
    by.join(host, this.#member);
  }

  async control(isPaused: boolean): Promise<void> {
    const member = this.#member;
    const { by, host } = this.#controlled ?? {};
    if (host !== undefined) await by?.publish({ host, member, name: member.options.name, isPaused });
  }

  async markKeys(mark: KeysMark): Promise<void> {
    await this.#marks?.publish(mark);
  }

  async markKey(entry: Entry<unknown>, mark: KeyMark['mark']): Promise<void> {
    const { newest, foundVersion } = clusterStateOf(entry);
    const at = mark === 'changed' ? Math.max(newest, foundVersion) : newest;
    await this.#marks?.publish({ of: 'key', id: entry.id as NamedId, mark, at });
  }

  isBehind(entry: Entry<unknown>, by: KeysMark['mark'], version: number, at: number): boolean {
    return clusterStateOf(entry).isBehind(entry, by, version, at);
  }

  invalidatedElsewhere(entry: Entry<unknown>, invalidate: () => void): void {
    const mark = this.#member.marks?.outOfDateUpTo(entry.id, entry.tags) ?? 0;
    clusterStateOf(entry).invalidatedElsewhere(entry, mark, invalidate);
  }

  expect(entry: Entry<unknown>, version: number): void {
    const state = clusterStateOf(entry);
    if (!state.isInvalidatedHere(entry)) state.expectedToken = version;
    state.round?.overtakenBy(version);
  }

  async takeOver<T>(host: PolledEntry<T>, version: number, isBehind: () => boolean): Promise<void> {
    const state = clusterStateOf(host.entry);
    const polled = new PolledValue(this.#member, host);
    for (;;) {
      await polled.adoptNewer(version);
      if (state.round === undefined || !isBehind()) return;
      await state.round.over;
    }
  }

  begin<T>(entry: Entry<T>, host: RoundHost): CoordinatedRound<T> {
    return new Round(this.#member, entry, host);
  }

  share(entry: Entry<unknown>, as?: ShareRequest): Promise<number | undefined> {
    const round = new ManualRound(this.#member, entry, as);
    this.#manual.add(round);
    void round.over.then(() => this.#manual.delete(round));
    return round.shared;
  }

  get store(): object | undefined {
    return this.#member.fleet;
  }

  async fleet(of: readonly MemberName[]): Promise<Fleet> {
    return (this.#member.fleet as StoreFleet).read(of, this.#member);
  }

  versions<T>(entry: Entry<T>, host: VersionHost<T>): VersionControl<T> {
    return new EntryVersions(this.#member, entry, host);
  }

  replaced(entry: Entry<unknown>): void {
    clusterStateOf(entry).happened({ on: 'set' });
  }

  packVersion({ cluster }: Entry<unknown>): number {
    return (cluster as ClusterState | undefined)?.packed ?? 0;
  }

  unpackVersion(entry: Entry<unknown>, packed: number): void {
    if (packed === 0 && !entry.isInvalidated) return;
    const state = clusterStateOf(entry);
    if (entry.isInvalidated) state.invalidatedAt = this.#member.options.clock.monotonic(); // at the latest
    state.packed = packed;
  }

  status({ cluster }: Entry<unknown>): CoordinationStatus {
    const { lock, store } = this.#member;
    const { options } = this.#member;
    const state = cluster as ClusterState | undefined;
    const { holder, round } = state ?? {};
    const version = state === undefined ? 0 : sharedVersion(state.held);
    const now = options.clock.monotonic();
    const pin = state?.pinAt(now);
    const lockStatus = {
      isHolder: round?.isHolder ?? false,
      holder: holder && { owner: holder.owner, host: holder.host },
      token: holder?.token,
      version: version || undefined,
      lockError: lock?.error,
      storeError: store?.error,
    };
    const pinned = pin && pinStatus(pin, now, options.now());
    return { lock: lockStatus, pinned, checks: this.#checksStatus(now) };
  }

  pinOf({ cluster }: Entry<unknown>): PinInForce | undefined {
    const { options } = this.#member;
    const pin = (cluster as ClusterState | undefined)?.pinAt(options.clock.monotonic());
    return pin && { limitMs: limitOf(pin, options.maxStalenessMs), error: () => pinnedError(options, pin) };
  }

  get #checkError(): Error | undefined {
    const { failingSince, error } = this.checks ?? {};
    return failingSince === undefined ? undefined : unavailable(error, this.#member.options.name);
  }

  #checksStatus(now: number): ChecksStatus | undefined {
    if (this.checks === undefined) return undefined;
    const wall = this.#member.options.now();
    const { checkedAt, failingSince } = this.checks;
    const instant = (at: number | undefined): number | undefined =>
      at === undefined ? undefined : Math.round(wall - (now - at));
    return { checkedAt: instant(checkedAt), failingSince: instant(failingSince), error: this.#checkError };
  }

  get leases(): readonly LeaseLeft[] {
    return this.#member.lock?.leases ?? [];
  }

  async close(): Promise<void> {
    const { closing, options } = this.#member;
    closing.abort(closedError(options.name));
    for (const round of this.#manual) round.giveUp();
    const { fleet, lock } = this.#member;
    const polled = this.#polled ?? this.#marks;
    if (polled !== undefined) this.checks?.leave(polled);
    await this.#task?.close();
    this.#controlled?.by.leave(this.#controlled.host);
    this.#marks?.close();
    await Promise.all([this.#reporting && fleet?.leave(this.#reporting, this.#member), lock?.close()]);
  }

  problems(): CoordinationProblem[] {
    const { lock, store } = this.#member;
    const lockError = lock?.error;
    const storeError = store?.error;
    const problems: CoordinationProblem[] = [];
    if (lockError !== undefined) problems.push({ what: 'lock', error: lockError });
    if (storeError !== undefined) problems.push({ what: 'store', error: storeError });
    const { failingSince } = this.checks ?? {};
    const error = this.#checkError;
    if (failingSince !== undefined && error !== undefined) {
      const forMs = this.#member.options.clock.monotonic() - failingSince;
      problems.push({ what: 'checks', error, forMs });
    }
    return problems;
  }
}
