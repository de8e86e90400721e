import type { VersionMaker } from '../data/version-record.ts';
import type { ShareRequest } from '../engine/coordinator.ts';
import { inDetachedContext } from '../engine/detached-context.ts';
import type { Entry } from '../engine/entry.ts';
import { closedError } from '../engine/read-errors.ts';
import { TicklessError } from '../errors.ts';
import { Deferred } from '../time/deferred.ts';
import { setSharedTimeout } from '../time/shared-timer.ts';
import { showDuration } from '../time/show-duration.ts';
import { PATIENT } from './backend-patience.ts';
import type { ClusterMember } from './cluster-member.ts';
import type { RoundUnderWay } from './cluster-state.ts';
import type { HeldLease } from './held-lease.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import type { MemberLock } from './member-lock.ts';
import { type Pin, pinnedError } from './pin.ts';
import { releaseOf } from './pin-check.ts';
import { pollAfter } from './poll-delays.ts';
import { type Published, type PublishRecord, publishRecord } from './publication.ts';
import { RemoteSnapshots } from './remote-snapshots.ts';
import { SerialRound } from './serial-round.ts';
import { withoutResult } from './without-result.ts';

/**
 * A round without a load: a value that was set by hand, or a mark, is published under a token of its own, so that it is newer
 * than the result of any load before. It begins when the round before it is over, and ignores the hold of a round that is done.
 */
export class ManualRound extends SerialRound<unknown> {
  readonly isLoading: boolean = false;
  /** Resolves when the store has the value, with the token if there is a lock. Rejects with `BACKEND_DOWN` or `CLOSED`. */
  readonly shared: Promise<number | undefined>;
  readonly #until: number;
  /** It is published only where the store has no newer version than the person has seen. */
  readonly #isAsSeen: boolean;
  #isGivenUp = false;
  /** It waits for the end of the round before, and for nothing else. */
  #hasEnded = false;
  /** Ends a wait. */
  #wake: (() => void) | undefined;

  /**
   * @param entry the value is in place, with its times.
   * @param as see {@link Coordinator.share}.
   * @param prepare changes the value when the lease is held, whose token it gets; if it rejects nothing is published.
   */
  constructor(
    member: ClusterMember,
    entry: Entry<unknown>,
    as?: ShareRequest,
    prepare?: (token: number) => Promise<void>,
  ) {
    super(member, entry);
    const { clock, timeoutMs } = member.options;
    const now = clock.monotonic();
    const request = typeof as === 'object' ? as : {};
    const isUnpinned = 'unpinned' in request;
    if (as === 'due' || isUnpinned) member.timing.expected(entry);
    const mark = as === 'invalidated' || as === 'dropped' ? as : undefined;
    this.#until = now + timeoutMs;
    this.#isAsSeen = isUnpinned || as === 'pinned-as-seen';
    const recordNow = (): PublishRecord => {
      const about = { isAbsent: false, isKept: false, took: 0 };
      const origin = isUnpinned ? request.unpinned : request;
      const by = { isManual: true, mark, made: makerOf(as), origin };
      const record = { ...publishRecord(member, entry, about, this.state.newest), ...by };
      const { pin } = this.state.held;
      return isPinned(as) && pin !== undefined ? pinned(record, pin) : record;
    };
    const record = recordNow();
    const prepared = async (token: number): Promise<PublishRecord> => {
      if (prepare === undefined) return record;
      await prepare(token);
      return recordNow();
    };
    this.shared = inDetachedContext(() => this.#share(prepared));
    const end = (): void => this.end();
    this.shared.then(end, end);
  }

  /** For the load that it waits for. */
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

  /** Ends it unless it has its lease: it rejects with `CLOSED`. One that has it goes on to its end, which is near. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#wake?.();
  }

  async #share(prepared: (token: number) => Promise<PublishRecord>): Promise<number | undefined> {
    const { lock, options } = this.member;
    await this.#beforeEnds();
    this.before = undefined;
    for (;;) {
      if (lock !== undefined) {
        this.lease = await this.#acquire(lock);
        this.lease.renew(() => {}, this.#until); // a codec may be slow
      }
      const record = await this.#recordOf(prepared);
      if (record.mark !== undefined) await this.#throwIfPinned();
      else if (this.#isAsSeen) await this.#throwIfReplaced();
      let outcome: Published | undefined;
      let isLost = false;
      await this.publish(record, (published) => {
        outcome = published;
        isLost = this.lease?.isLost === true;
      });
      if (outcome !== 'shared')
        throw this.#unpublished(
          outcome === 'overtaken' ? 'the backend has a newer version' : 'the backend could not be written to',
        );
      // Another instance may have taken over before that was written: it would load, and replace what is to be pinned.
      if (record.pin === undefined || !(isLost || this.lease?.isTaken)) return this.lease?.id.token;
      if (options.clock.monotonic() >= this.#until) throw this.#tooLate('its lease had ended before');
    }
  }

  #unpublished(why: string): TicklessError {
    const { store, options } = this.member;
    const { error } = store ?? {};
    const about = { member: options.name, key: this.entry.key, cause: error?.cause };
    return new TicklessError('BACKEND_DOWN', `the value is not published: ${error?.message ?? why}`, about);
  }

  async #recordOf(prepared: (token: number) => Promise<PublishRecord>): Promise<PublishRecord> {
    try {
      return await prepared(this.lease?.id.token ?? 0);
    } catch (error) {
      await this.#giveBack(() => this.#withoutResult());
      throw error;
    }
  }

  /** Waits while another instance loads: its result is older than this value. */
  async #acquire(lock: MemberLock): Promise<HeldLease> {
    const { clock } = this.member.options;
    const since = clock.monotonic();
    for (;;) {
      const answer = await lock.acquire(this.entry, true, () => PATIENT);
      if (this.#isGivenUp && answer.kind === 'acquired')
        await lock.release(answer.lease, () => this.#withoutResult());
      this.#throwIfGivenUp();
      if (answer.kind === 'acquired') return answer.lease;
      if (answer.kind === 'unavailable') throw answer.error;
      if (clock.monotonic() >= this.#until) throw this.#tooLate(`${answer.owner} holds the lease`);
      await this.#wait(pollAfter(clock.monotonic() - since, answer.retryAfter));
    }
  }

  /** Its lease has ignored a hold, which may be that of a pinned version. */
  #withoutResult(): ReleaseOutcome {
    return withoutResult(this.member.store?.keepsVersions === true);
  }

  /** Only people replace a pinned version. The pin may be of another instance, and not be known here yet. */
  async #throwIfPinned(): Promise<void> {
    const { options, mayBePinned } = this.member;
    if (!mayBePinned) return;
    const { pin: found, wasRead } = await this.#newer();
    const pin = found ?? this.state.pinAt(options.clock.monotonic());
    if (pin === undefined && wasRead) return;
    if (pin === undefined) return this.#refuse('it is not known whether a version is pinned');
    await this.#giveBack(() => releaseOf(pin.untilAt, options.clock.monotonic()));
    throw pinnedError(options, pin);
  }

  /** Another person may have published a version since, which has ended the pin. */
  async #throwIfReplaced(): Promise<void> {
    const { isThere, wasRead } = await this.#newer();
    if (isThere) return this.#refuse('the backend has a newer version');
    if (!wasRead) return this.#refuse('it is not known whether the backend has a newer version');
  }

  async #newer() {
    const snapshots = new RemoteSnapshots(
      this.member,
      this.entry,
      false,
      () => PATIENT,
      () => -Infinity,
    );
    return { ...(await snapshots.newer()), wasRead: snapshots.wasRead };
  }

  /** Gives the lease back. Rejects. */
  async #refuse(why: string): Promise<never> {
    await this.#giveBack(() => this.#withoutResult());
    throw this.#unpublished(why);
  }

  async #giveBack(end: () => ReleaseOutcome): Promise<void> {
    const released = this.release(end);
    this.lease = undefined;
    await released;
  }

  async #beforeEnds(): Promise<void> {
    const over = this.before?.over;
    if (over === undefined) return;
    const isOver = await this.#wait(this.#until - this.member.options.clock.monotonic(), over);
    if (!isOver) throw this.#tooLate('the load before it has not ended');
  }

  /** Waits, until that is over at the latest. The caller waits too, so the process lives meanwhile. @returns whether it is over. */
  async #wait(ms: number, over?: Promise<void>): Promise<boolean> {
    const ended = new Deferred<boolean>();
    const wake = (): void => ended.resolve(false);
    const timer = setSharedTimeout(this.member.options.clock, wake, ms, over === undefined ? ms / 2 : 0);
    timer.ref();
    this.#wake = wake;
    void over?.then(() => ended.resolve(true));
    const isOver = await ended.promise;
    timer.cancel();
    this.#throwIfGivenUp();
    return isOver;
  }

  #throwIfGivenUp(): void {
    if (!this.#isGivenUp) return;
    const { name } = this.member.options;
    throw closedError(name, this.entry.key, 'was closed before the value was published');
  }

  #tooLate(why: string): TicklessError {
    const { name, timeoutMs } = this.member.options;
    const text = `the value was not published within ${showDuration(timeoutMs)}: ${why}`;
    return new TicklessError('BACKEND_DOWN', text, { member: name, key: this.entry.key });
  }

  /** The next round begins when this one is over, and the one before it. */
  protected override end(): void {
    this.#hasEnded = true;
    this.hasPublished();
    if (this.before === undefined) super.end();
    else void this.before.over.then(() => super.end());
  }
}

/** The record of a version that no load replaces before the pin is over. */
function pinned(record: PublishRecord, pin: Pin): PublishRecord {
  return { ...record, pin, dueAt: pin.untilAt, isDueTimeOverridden: true };
}

function isPinned(as: ShareRequest | undefined): boolean {
  return as === 'pinned' || as === 'pinned-as-seen';
}

function makerOf(as: ShareRequest | undefined): VersionMaker {
  if (isPinned(as)) return 'rollback';
  if (typeof as === 'object') return 'unpinned' in as ? 'unpin' : 'set';
  return as === undefined ? 'set' : 'invalidate';
}
