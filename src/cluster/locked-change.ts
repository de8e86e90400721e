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
import { pollAfter } from './poll-delays.ts';
import { type Published, type PublishRecord, publishRecord } from './publication.ts';
import { SerialRound } from './serial-round.ts';
import { withoutResult } from './without-result.ts';

/**
 * A round without a load: a value that was set by hand, or a mark, is published under a token of its own, so that it is newer
 * than the result of any load before. It begins when the round before it is over, and ignores the hold of a round that is done.
 */
export class LockedChange extends SerialRound<unknown> {
  readonly isLoading: boolean = false;
  /** Resolves when the store has the value, with the token if there is a lock. Rejects with `BACKEND_DOWN` or `CLOSED`. */
  readonly shared: Promise<number | undefined>;
  readonly #until: number;
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
    _as: 'due',
    prepare?: (token: number) => Promise<void>,
  ) {
    super(member, entry);
    const { clock, timeoutMs } = member.options;
    const now = clock.monotonic();
    member.timing.expected(entry);
    this.#until = now + timeoutMs;
    const recordNow = (): PublishRecord => {
      const about = { isAbsent: false, isKept: false, took: 0 };
      const record = publishRecord(member, entry, about, this.state.newest);
      return { ...record, isManual: true, made: 'set' };
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

  get writing(): Promise<void> {
    return this.published;
  }

  fenced(): void {
    this.before?.fenced();
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
