import type { ShareRequest } from '../engine/coordinator.ts';
import { inDetachedContext } from '../engine/detached-context.ts';
import type { Entry } from '../engine/entry.ts';
import { closedError } from '../engine/read-errors.ts';
import { reasonOf, TicklessError } from '../errors.ts';
import { Deferred } from '../time/deferred.ts';
import { showDuration } from '../time/show-duration.ts';
import { PATIENT } from './backend-patience.ts';
import type { SnapshotChange } from './backend-steps.ts';
import { Change } from './change.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf, type RoundUnderWay } from './cluster-state.ts';
import { thisHost, thisProcess } from './identity.ts';
import type { MemberStore } from './member-store.ts';
import { pinnedError } from './pin.ts';
import { held, type PublishRecord, publish, publishRecord } from './publication.ts';
import { RemoteSnapshots } from './remote-snapshots.ts';
import { SerialRound } from './serial-round.ts';
import type { Settle } from './snapshot-writer.ts';
import { unavailable } from './unavailable.ts';

/**
 * A round without a load: a value that was set by hand, or a mark, is published under a version of its own, which is newer than the
 * result of any load before. It is one command, and waits for no lease: a load under way elsewhere loses its own, so that its result is
 * not published.
 */
export class ManualRound extends SerialRound<unknown> {
  readonly isLoading: boolean = false;
  /** Resolves with the version when the store has it. Rejects with `BACKEND_DOWN`, `PINNED` or `CLOSED`. */
  readonly shared: Promise<number>;
  readonly #until: number;
  readonly #givenUp: Deferred<never> = new Deferred();
  #isGivenUp = false;
  #hasEnded = false;

  /**
   * @param entry the value is in place, with its times.
   * @param as see {@link Coordinator.share}.
   */
  constructor(member: ClusterMember, entry: Entry<unknown>, as: ShareRequest = {}) {
    super(member, entry);
    const { clock, timeoutMs } = member.options;
    this.#until = clock.monotonic() + timeoutMs;
    if ('unpinned' in as) member.timing.expected(entry);
    const record = recordOf(member, entry, as);
    const change = new Change(
      {
        expected: expectedBy(as),
        sparesPinned: record.mark !== undefined,
        pins: record.pin !== undefined,
      },
      () => (this.#isGivenUp ? 0 : this.#until - clock.monotonic()),
    );
    this.shared = inDetachedContext(() => this.#share(record, change));
    const end = (): void => this.end();
    this.shared.then(end, end);
  }

  /** For the load that it supersedes. */
  previous(): ReturnType<RoundUnderWay['previous']> {
    return this.before?.previous();
  }

  /** A value that a person has set is as fresh as a caller can ask for. */
  requireFresh(): void {}

  /** The value of a person is newer than the store once it is published. One that could not be published stands against nothing. */
  allowsAdoption(version: number): boolean {
    return this.#hasEnded && this.before?.allowsAdoption(version) !== false;
  }

  overtakenBy(version: number): void {
    this.before?.overtakenBy(version);
  }

  get writing(): Promise<void> {
    return this.published;
  }

  fenced(): void {
    this.before?.fenced();
  }

  get mayFence(): boolean {
    return !this.#hasEnded || this.before?.mayFence === true;
  }

  /** Ends it unless its command is under way: it rejects with `CLOSED`. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#givenUp.reject(this.#closed());
  }

  async #share(record: PublishRecord, change: Change): Promise<number> {
    const { member, entry, state } = this;
    const store = member.store as MemberStore;
    await this.#othersAreWritten();
    const settle: Settle = async (made, name) => {
      const { payload } = made as Extract<SnapshotChange, { readonly as: 'write' }>;
      const dueIn = Math.max(0, record.dueAt - member.options.clock.monotonic());
      return { written: await store.change(name, payload, change.request(dueIn)), isReleased: false };
    };
    for (;;) {
      const { as, version } = await publish(member, store, entry, record, change, settle);
      this.hasPublished();
      if (as === 'shared') {
        this.fenced();
        held(member, entry, record.dueAt);
        state.holder = { owner: thisProcess(), host: thisHost(), token: version };
        return version;
      }
      if (this.#isGivenUp) throw this.#closed();
      if (as === 'unwritten') throw this.#unwritten(record);
      if (record.mark !== undefined) await this.#throwIfPinned();
      if (record.mark === undefined || change.isConditional)
        throw this.#unpublished('the backend has a newer version');
    }
  }

  /** A mark has no value of its own: its error is that of the backend. */
  #unwritten({ mark }: PublishRecord): TicklessError {
    const { store, options } = this.member;
    const { error } = store ?? {};
    if (error === undefined) return this.#unpublished('the backend could not be written to');
    if (mark !== undefined) return unavailable(error, options.name, this.entry.key);
    return this.#unpublished(reasonOf(error), error.cause);
  }

  #unpublished(why: string, cause?: unknown): TicklessError {
    const about = { member: this.member.options.name, key: this.entry.key, cause };
    return new TicklessError('BACKEND_DOWN', `the value is not published: ${why}`, about);
  }

  #closed(): TicklessError {
    const { name } = this.member.options;
    return closedError(name, this.entry.key, 'was closed before the value was published');
  }

  /** Only people replace a pinned version. The pin may be of another instance, and not be known here yet. */
  async #throwIfPinned(): Promise<void> {
    const { options } = this.member;
    const validSince = (): number => -Infinity;
    const snapshots = new RemoteSnapshots(this.member, this.entry, false, () => PATIENT, validSince);
    const { pin = this.state.pinAt(options.clock.monotonic()) } = await snapshots.newer();
    if (pin !== undefined) throw pinnedError(options, pin);
    if (!snapshots.wasRead) throw this.#unpublished('a version is pinned');
  }

  /** A result that is being written here is older, and so is a change before this one. A load under way is not waited for. */
  async #othersAreWritten(): Promise<void> {
    const writing = this.before?.writing;
    if (writing === undefined) return;
    const { clock, name, timeoutMs } = this.member.options;
    const late = (): void => {
      const why = `the value was not published within ${showDuration(timeoutMs)}: the one before it has not been written`;
      this.#givenUp.reject(new TicklessError('BACKEND_DOWN', why, { member: name, key: this.entry.key }));
    };
    const timer = clock.setTimeout(late, timeoutMs);
    timer.ref(); // the caller waits too, so the process lives meanwhile
    try {
      await Promise.race([writing, this.#givenUp.promise]);
    } finally {
      timer.cancel();
    }
  }

  /** The next round begins when this one is over, and the one before it. */
  protected override end(): void {
    this.#hasEnded = true;
    this.hasPublished();
    if (this.before === undefined) super.end();
    else void this.before.over.then(() => super.end());
  }
}

/** An entry as it is now, and how it is published. */
function recordOf(member: ClusterMember, entry: Entry<unknown>, as: ShareRequest): PublishRecord {
  const about = { isAbsent: false, isKept: false, took: 0 };
  const { held } = clusterStateOf(entry);
  const record = { ...publishRecord(member, entry, about), isManual: true };
  if ('markedOver' in as) return { ...record, mark: as.mark, made: 'invalidate' };
  if ('unpinned' in as) return { ...record, made: 'unpin', origin: as.unpinned };
  if (!('pinnedOver' in as)) return { ...record, made: 'set', origin: as };
  const { pin } = held;
  // No load replaces it before the pin is over.
  const pinned = pin && { pin, dueAt: pin.untilAt, isDueTimeOverridden: true };
  return { ...record, ...pinned, made: 'rollback' };
}

function expectedBy(as: ShareRequest): number | undefined {
  if ('markedOver' in as) return as.markedOver;
  if ('unpinned' in as) return as.over;
  return 'pinnedOver' in as ? as.pinnedOver : undefined;
}
