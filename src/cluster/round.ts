import { coolDownMs } from '../engine/cool-down.ts';
import type { CompletedLoad, CoordinatedRound, RemoteResult, RoundHost } from '../engine/coordinator.ts';
import { type Entry, keyOf } from '../engine/entry.ts';

import type { LoadContext } from '../engine/load-context.ts';
import type { FlightScope } from '../engine/load-handle.ts';
import { isTicklessError, TicklessError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { Admission } from './admission.ts';
import { PATIENT } from './backend-patience.ts';
import type { ClusterMember } from './cluster-member.ts';
import { type ComparedResult, compareResult, versionToConfirm } from './equal-result.ts';
import type { HeldLease, LossReason } from './held-lease.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';
import { type PublishRecord, publishAndRelease, publishRecord } from './publication.ts';
import { RemoteSnapshots } from './remote-snapshots.ts';
import { SerialRound } from './serial-round.ts';

/**
 * The cluster's part of one execution, around its tries:
 *
 *  1. {@link run} adopts a snapshot that is there, or asks for the lease (`Admission`). `acquired`: the tries begin, the lease is
 *     extended while they run. `held` or `done`: the snapshot of another instance is adopted, or waited for;
 *  2. the loader applies the result, and readers go on;
 *  3. {@link complete} publishes the result with the token and releases the lease as done until the next due time; or
 *     {@link fail} releases it as failed;
 *  4. if the flight is ended from outside (`invalidate`, the deadline, `close`) the lease is released when the load has
 *     settled, not before: two would run. A load that never settles keeps it until it expires.
 *
 * The next round of the entry begins when this one is {@link over}.
 */
export class Round<T> extends SerialRound<T> implements CoordinatedRound<T> {
  readonly #host: RoundHost;
  readonly #admission: Admission<T>;
  #remote: RemoteResult<T> | undefined;
  /** The step that it waits for, outside of the admission. */
  #step: string | undefined;
  /** The tries are under way. */
  #isLoading = false;
  #isAborted = false;
  /** The tries are over, and the loader has not applied their result yet. */
  #hasResult = false;
  #isCompleted = false;
  #isEnded = false;
  #isLossReported = false;
  /** The lease, where a person of this instance has ended it. */
  #ended: HeldLease | undefined;
  /** Whether the store has a newer version, where the lease was taken. */
  #look: Promise<void> | undefined;
  /** The result, where it was compared with the version in place. */
  #compared: ComparedResult<unknown> | undefined;

  constructor(member: ClusterMember, entry: Entry<T>, host: RoundHost) {
    super(member, entry);
    this.#host = host;
    this.#admission = new Admission(member, entry, host, (lease) => {
      this.lease = lease;
    });
  }

  get remote(): RemoteResult<T> | undefined {
    return this.#remote;
  }

  get isFreshRequired(): boolean {
    return this.#admission.isFreshRequired;
  }

  override get isLoading(): boolean {
    return this.#isLoading;
  }

  override get writing(): Promise<void> | undefined {
    return this.#isCompleted ? this.published : this.before?.writing;
  }

  /** For people. `undefined` once the tries are under way, or before anything is asked. */
  get waitedFor(): string | undefined {
    return this.#isLoading ? undefined : (this.#step ?? this.#admission.waitedFor);
  }

  get token(): number | undefined {
    return this.lease?.id.token;
  }

  /** The lease that its load has begun under. */
  get #began(): HeldLease | undefined {
    return this.lease ?? this.#ended;
  }

  get bytes(): number | undefined {
    return this.#compared?.bytes;
  }

  /** A caller joins that requires a fresh load: earlier snapshots of other instances no longer count. */
  requireFresh(): void {
    this.#admission.requireFresh();
  }

  /** A load without a lease is in no order with the versions of others. The result of one that was aborted is dropped. */
  allowsAdoption(version: number): boolean {
    if (this.#remote !== undefined || this.#hasResult || this.#isCompleted) return false;
    if (this.#isLoading) return this.#isAborted || version < (this.#began?.token ?? 0);
    return this.before?.allowsAdoption(version) !== false;
  }

  overtakenBy(version: number): void {
    const isLoading = this.#isLoading && !this.#isAborted && !this.#hasResult && !this.#isCompleted;
    if (isLoading && version > (this.#began?.token ?? Infinity)) this.#overtaken(undefined);
  }

  /** The load answers those that wait for it, unless it was aborted. */
  fenced(): void {
    if (this.#isCompleted || this.#isEnded) return;
    this.#ended = this.lease;
    this.lease?.taken();
    this.lease = undefined;
    if (this.#isAborted) this.end();
  }

  get mayFence(): boolean {
    return this.before?.mayFence === true;
  }

  previous(): Promise<LoadContext['previous']> {
    return this.#admission.snapshots.last();
  }

  async run<R>(tries: () => Promise<R>, { signal, drainDeadline, sleep }: FlightScope): Promise<R> {
    const aborted = (): void => {
      this.#isAborted = true;
      this.hasPublished(); // its result will be dropped
      if (isFailure(signal.reason)) this.#admission.expectAgain();
      if (this.#hasResult) this.#abandon(signal.reason);
    };
    signal.addEventListener('abort', aborted);
    const { invalidatedAt } = this.state;
    try {
      if (this.before !== undefined)
        this.#step = 'waiting for the end of the round before (publish, release)';
      await this.before?.over;
      this.before = undefined;
      if (this.member.marks !== undefined) this.#step = 'waiting for the marks in the backend (versions)';
      await this.member.marks?.known(); // before it begins: marks that were published before do not concern its result
      this.#step = undefined;
      signal.throwIfAborted();
      // Also where a snapshot is adopted: invalidations before have led here. One that came here since is answered by a load only.
      if (this.state.invalidatedAt === invalidatedAt) this.#host.began();
      this.#remote = await this.#admission.run(signal, sleep);
      if (this.#remote !== undefined) {
        this.state.foundVersion = this.#remote.version ?? this.state.foundVersion;
        if (this.lease === undefined) this.end();
        else void this.release(() => ({ as: 'abandoned' })).then(() => this.end());
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
    const abortedWhileLoading = (): void => {
      if (this.lease === undefined) this.end();
      else if (isTicklessError(signal.reason, 'TIMED_OUT')) this.lease.stop(() => this.end());
      else this.lease.renewUntil(drainDeadline(), () => this.end());
    };
    signal.addEventListener('abort', abortedWhileLoading);
    this.lease?.renew((reason, cause) => {
      const wasAborted = signal.aborted;
      if (reason === 'taken' && this.state.round?.mayFence) this.fenced();
      else if (reason === 'taken' && !wasAborted) this.#look = this.#lookBeyond(cause);
      else this.#lost(reason, cause);
      if (wasAborted) this.end(); // there is no flight any longer that could fail
    });
    this.#host.began();
    this.#isLoading = true;
    try {
      const inPlace = this.entry.promise;
      const result = await tries();
      if (inPlace === undefined || inPlace !== this.entry.promise) return result;
      const compared = await compareResult(this.member, this.entry, result, this.lease);
      this.#compared = compared;
      return compared === undefined ? result : compared.result;
    } finally {
      if (this.#look !== undefined) await this.#look;
      if (!signal.aborted && this.lease?.isLost) this.#lost('expired', undefined);
      this.#isLoading = false;
      this.#hasResult = true;
      if (signal.aborted) this.#abandon(signal.reason);
    }
  }

  complete(completed: CompletedLoad): Promise<void> {
    this.#hasResult = false;
    this.#isCompleted = true;
    this.lease?.stop(); // it is extended while a load runs, not after
    const { store } = this.member;
    const token = this.#began?.token;
    if (token === undefined && this.state.held.pin !== undefined)
      this.state.happened({ on: 'given up', isInPlace: false }); // it was dropped
    const kept = completed.isKept ? versionToConfirm(this.member, this.entry, this.token) : undefined;
    if (kept === undefined) this.state.happened({ on: 'loaded', token, isShared: store !== undefined });
    const record = publishRecord(this.member, this.entry, completed);
    const isForced = this.#host.trigger === 'forced';
    const encoded = this.#compared?.value === record.value ? this.#compared?.body : undefined;
    void this.#publishAndRelease({ ...record, isForced, kept, encoded }).then(() => this.end());
    return this.over;
  }

  discard(): Promise<void> {
    this.#hasResult = false;
    this.lease?.stop();
    void this.release(() => ({ as: 'abandoned' })).then(() => this.end());
    return this.over;
  }

  fail(error: Error): Promise<void> {
    if (this.#isCompleted) return this.over;
    this.#hasResult = false;
    this.#admission.expectAgain();
    void Promise.resolve()
      .then(() => this.release(this.#failure(error)))
      .then(() => this.end());
    return this.over;
  }

  #lost(reason: LossReason, cause: unknown): void {
    this.lease?.stop();
    this.#host.fail(this.#reportLoss(reason, cause));
  }

  /** A person may have ended the lease on another instance: the store has a newer version then, or a mark. */
  async #lookBeyond(cause: unknown): Promise<void> {
    const at = (): number => -Infinity;
    const snapshots = new RemoteSnapshots(this.member, this.entry, true, () => PATIENT, at);
    const { adoption, isThere } = await snapshots.newer();
    if (this.#isAborted) return;
    const mark = this.state.unappliedMark;
    if (!isThere && mark === undefined) this.#lost('taken', cause);
    else {
      this.state.expectedToken = adoption?.version;
      this.#overtaken(cause);
    }
  }

  #overtaken(cause: unknown): void {
    this.lease?.taken();
    this.#host.overtaken(this.#reportLoss('taken', cause));
    this.end();
  }

  #reportLoss(reason: LossReason, cause: unknown): TicklessError {
    this.#isLossReported = true;
    const { token } = this.#began as HeldLease;
    const details = { member: this.member.options.name, key: this.entry.key, cause };
    const error = new TicklessError('LEASE_LOST', LOSSES[reason], details);
    this.member.events.round({ outcome: 'lost', token, error, ...keyOf(this.entry) });
    return error;
  }

  async #publishAndRelease(record: PublishRecord): Promise<void> {
    const lease = this.lease;
    if (lease === undefined) return; // loaded without the lock: not published
    await Promise.resolve(); // codec and clients do not run on the stack of the load
    await publishAndRelease(this.member, this.entry, record, lease, (outcome, bytes) => {
      if (bytes !== undefined) this.#host.published(bytes);
      if (outcome === 'unwritten' && lease.isLost && !this.#isLossReported)
        this.#reportLoss(lease.isTaken ? 'taken' : 'expired', undefined);
      this.hasPublished();
    });
  }

  /** The outcome, as of the moment at which the release is sent. */
  #failure(error: unknown): () => ReleaseOutcome {
    const { coolDown, random, clock } = this.member.options;
    const { coolDownUntil } = this.entry; // a person may end it here, while the release waits for the lock
    // Another connection may help, so others may try soon. Of a refused value they would load the same.
    const holdFor = (): number =>
      isTicklessError(error, 'REFUSED')
        ? Math.max(0, coolDownUntil - clock.monotonic())
        : coolDownMs(coolDown, 1, random());
    return () => ({
      as: 'failed',
      holdFor: Math.min(holdFor(), LONGEST_LEASE_MS),
      error: messageOf(error).slice(0, 500),
    });
  }

  /** The flight was ended from outside, or no load can begin: no load runs. */
  #abandon(reason: unknown): void {
    if (this.#isEnded) return;
    if (isFailure(reason)) this.#admission.expectAgain(); // the admission may have gone on after the abort
    this.#hasResult = false;
    void this.release(isFailure(reason) ? this.#failure(reason) : () => ({ as: 'abandoned' })).then(() =>
      this.end(),
    );
  }

  protected override end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    super.end();
    this.#host.over();
  }
}

/** An execution that was aborted for this reason has failed: at its deadline, or by `cancel()`. */
function isFailure(reason: unknown): boolean {
  return isTicklessError(reason, 'TIMED_OUT') || isTicklessError(reason, 'LOAD_FAILED');
}

const LOSSES: Readonly<Record<LossReason, string>> = {
  expired: 'the lease has expired: this process was paused for too long',
  taken:
    'the lease is lost: it has expired at the backend, was released by an operator, or ended by a change of a person',
  unreachable: 'the lease has expired: the backend could not be reached to extend it',
};
