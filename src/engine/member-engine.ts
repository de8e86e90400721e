import type { CloseReport } from '../data/close-report.ts';
import type { VersionControl } from '../data/version-control.ts';
import { reasonOf, TicklessError } from '../errors.ts';
import { cutOffLine } from '../observe/cut-off-line.ts';
import type { WaitUntil } from '../observe/wait-until.ts';
import type { Schedule, ScheduleLike } from '../schedule/schedule.ts';
import { scheduleArgument } from '../schedule/to-schedule.ts';
import { Deferred, ignoreRejection, rejected, voided } from '../time/deferred.ts';
import type { Coordinator, PolledEntry, ShareRequest } from './coordinator.ts';
import { decide, isBusy, isDeferred, isDue, type RunState, startableFrom } from './decide.ts';
import type { Entry } from './entry.ts';
import { Loader, nextTrigger } from './loader.ts';
import type { ScopeOptions } from './member-control.ts';
import { control } from './member-control.ts';
import { isOnStack, ownLoadError, unlessOwn } from './own-load.ts';
import { bothTriggers, neverTriggers, type PiggybackTrigger } from './piggyback-trigger.ts';
import { closedError, coolingDownError, readError } from './read-errors.ts';
import { type ForcedLoad, NOT_SEEN } from './refused.ts';
import { type ExecutionStatus, executionStatus } from './status.ts';

/**
 * The engine under executors, values and caches: requests, forced loads, invalidation, closing. `Reader` has the reads. It
 * has no entries of its own, so that it serves one value as well as a million keys.
 */
export class MemberEngine<T> extends Loader<T> {
  /** Puts a schedule into place: for its one entry, or for all keys. Its owner sets it. @param given the same, as it was given. */
  putSchedule: (schedule: Schedule, given: ScheduleLike) => void = () => {};
  #closing: Deferred<CloseReport> | undefined;

  get runState(): RunState {
    return this.rules.runState;
  }

  /** Reads start other members of the group from now on. */
  setPiggyback(piggyback: PiggybackTrigger): void {
    const { checks } = this.coordinator ?? {};
    this.rules.piggyback = checks === undefined ? piggyback : bothTriggers(piggyback, checks.trigger);
  }

  /** The entry follows other instances between its loads: see {@link Coordinator.follow}. */
  follow(entry: Entry<T>): void {
    this.coordinator?.follow(this.polled(entry));
  }

  /** The entry as the coordinator changes it between its loads. */
  polled(entry: Entry<T>): PolledEntry<T> {
    return {
      entry,
      adopt: (remote) => {
        if (this.runState !== 'closed') this.adopt(entry, remote);
      },
      invalidate: (drop) => {
        if (this.runState !== 'closed') this.#outdate(entry, drop);
      },
    };
  }

  /** Starts the entry if it is due. Waits if the caller wants to, or by default before the first success. */
  /** @param signal ends the wait. */
  requestStart(
    entry: Entry<T>,
    wait: boolean | undefined,
    waitUntil: WaitUntil | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    const { name, clock } = this.options;
    const { rules } = this;
    const { runState } = rules;
    if (runState === 'closed') return rejected(closedError(name, entry.key));
    const now = this.checkClocks(entry);
    const waits = wait ?? !entry.isLoaded;
    const decision = decide(entry, rules, now);
    const isToStart = decision !== 'serve' && decision !== 'reject';
    const startsToWait = waits && isDeferred(entry, runState, clock.monotonic());
    const mayStart = !isBusy(entry) && (isToStart || startsToWait);
    let next: Promise<void> = DONE;
    if (waits && (mayStart || entry.flight !== undefined)) next = voided(this.next(entry, signal));
    else if (mayStart && entry.isLoaded) this.startBehind(entry);
    else if (mayStart) this.startNow(entry, nextTrigger(entry), true);
    else if (waits && !entry.isLoaded) next = rejected(readError(entry, rules, this.options));
    else if (waits && runState === 'open' && isDue(entry, clock.monotonic())) {
      next = rejected(coolingDownError(entry, this.options));
    }
    this.callWaitUntil(entry, waitUntil);
    this.triggerPiggyback();
    return next;
  }

  /**
   * Starts a load of an entry that is not being read: it is due, or will be within `aheadMs`.
   *
   * @param until it must have been startable no later than this instant.
   * @returns whether a load was started and is under way: a listener may have ended it at once.
   */
  startAhead(entry: Entry<T>, until: number, aheadMs: number = 0): boolean {
    this.checkClocks(entry);
    if (this.rules.runState !== 'open' || startableFrom(entry, aheadMs) > until) return false;
    this.startBehind(entry);
    return entry.flight !== undefined;
  }

  /**
   * Loads now, due or not, cooling down or not. Joins the load under way. The result of a shared entry is published, as
   * far as it can be, when this resolves; readers that joined are served before.
   *
   * @param isForAll it is to reach all instances: rejects if it could not be published.
   * @param force the digest of a refused value that is to pass the guard: rejects if another one is in place then.
   */
  refresh(entry: Entry<T>, isForAll: boolean = false, force?: string): Promise<T> {
    if (this.rules.runState === 'closed' && entry.flight === undefined) {
      return rejected(closedError(this.options.name, entry.key));
    }
    this.initial?.();
    const next = force === undefined ? this.next(entry, undefined, 'forced') : this.#forced(entry, force);
    const { coordinator } = this;
    if (coordinator === undefined) return next;
    const published = async (value: T): Promise<T> => {
      await entry.cluster?.published;
      const { version, lockError, storeError } = coordinator.status(entry).lock;
      if (isForAll && version === undefined) throw this.#unpublished(entry, lockError ?? storeError);
      return value;
    };
    return ignoreRejection(next.then(published));
  }

  /** A load under way has begun without it: another one follows. */
  async #forced(entry: Entry<T>, digest: string): Promise<T> {
    const { name: member } = this.options;
    const { key } = entry;
    if (isOnStack([entry])) throw ownLoadError(member, key);
    const forced: ForcedLoad = { digest, isPassed: false };
    this.supersede(entry, 'invalidate');
    entry.forced = forced;
    try {
      const value = await this.next(entry, undefined, 'forced');
      if (forced.isPassed) return value;
      throw new TicklessError('REFUSED', `value refused: ${NOT_SEEN}`, { member, key });
    } finally {
      if (entry.forced === forced) entry.forced = undefined;
    }
  }

  #unpublished({ key }: Entry<T>, why: Error | undefined): TicklessError {
    const about = { member: this.options.name, key, cause: why?.cause };
    const reason = why === undefined ? '' : `: ${reasonOf(why)}`;
    return new TicklessError(
      'BACKEND_DOWN',
      `the value was loaded here, and is not published${reason}`,
      about,
    );
  }

  /** Makes the entry due at once. A load under way answers those that wait already, and no caller from now on. */
  invalidate(entry: Entry<T>, drop: boolean): void {
    this.supersede(entry, drop ? 'drop' : 'invalidate');
    this.#outdate(entry, drop);
  }

  /** The value in place is out of date. The result of a load under way is not. */
  #outdate(entry: Entry<T>, drop: boolean): void {
    this.timing.invalidated(entry);
    if (drop) {
      entry.forgetValue();
      this.initial = undefined;
    }
    this.owner?.changed(entry);
  }

  /** Publishes the value in place, or a mark, for all instances: see {@link Coordinator.share}. `close()` waits for it. */
  share(entry: Entry<T>, as?: ShareRequest): Promise<number | undefined> {
    if (this.runState === 'closed') return rejected(closedError(this.options.name, entry.key));
    const shared = (this.coordinator as Coordinator).share(entry, as);
    const end = this.untilClosed(shared, () => this.owner?.changed(entry));
    return unlessOwn([entry], this.options.name, end);
  }

  /** `close()` waits for the end of that work, whose promise may be dropped. */
  untilClosed<R>(work: Promise<R>, ended: () => void = () => {}): Promise<R> {
    const { active } = this;
    const over = (): void => {
      active.rounds.delete(work);
      ended();
      active.ended();
    };
    active.rounds.add(work);
    work.then(over, over);
    return ignoreRejection(work);
  }

  /** The versions of an entry in its store; `undefined` without a lock and a store. */
  versions(entry: Entry<T>): VersionControl<T> | undefined {
    const { coordinator } = this;
    return coordinator?.versions(entry, {
      put: (value, edition) => {
        this.throwIfClosed(entry);
        this.put(entry, value, undefined, edition);
        return this.changes.publishing();
      },
      invalidate: (drop) => {
        this.throwIfClosed(entry);
        this.invalidate(entry, drop);
      },
      share: (as) => this.share(entry, as),
      refuseOwnLoad: () => {
        if (isOnStack([entry])) throw ownLoadError(this.options.name, entry.key);
      },
    });
  }

  /** For what a person replaces by a method that waits. @throws {TicklessError} `CLOSED` after `close()`. */
  throwIfClosed({ key }: Entry<T>): void {
    if (this.runState === 'closed')
      throw closedError(this.options.name, key, 'is closed, nothing was changed');
  }

  /** Pauses or resumes it: see {@link control}. */
  control(isPaused: boolean, options: ScopeOptions | undefined): Promise<void> {
    return control(this, isPaused, options);
  }

  /** Replaces the schedule: due times are computed anew from the last executions. @throws {TicklessError} `OPTION` when it is not one. */
  reschedule(schedule: ScheduleLike): void {
    this.putSchedule(scheduleArgument(this.options.name, schedule), schedule);
  }

  pause(): void {
    this.#setRunState('open', 'paused');
  }

  resume(): void {
    this.#setRunState('paused', 'open');
  }

  #setRunState(from: RunState, to: 'open' | 'paused'): void {
    if (this.rules.runState !== from) return;
    this.rules.runState = to;
    this.owner?.stateChanged(); // before listeners run, which may start what is due
    this.events.emit(to === 'open' ? 'resumed' : 'paused', {});
  }

  /**
   * Starts no more loads, waits for those under way, then aborts them. Every call returns the same promise. Never rejects.
   *
   * @param isTold a line is logged where something is cut off.
   */
  close(timeoutMs: number, isTold: boolean = true): Promise<CloseReport> {
    if (this.#closing !== undefined) return this.#closing.promise;
    const closing = new Deferred<CloseReport>();
    this.#closing = closing; // before listeners run, which may call this again
    this.rules.runState = 'closed';
    this.rules.piggyback = neverTriggers;
    this.owner?.stateChanged();
    this.drain(timeoutMs).then((report) => {
      const line = isTold ? cutOffLine(report, timeoutMs) : undefined;
      if (line !== undefined) this.options.logger.warn(line);
      this.events.emit('closed', {});
      this.events.clear();
      closing.resolve(report);
    });
    return closing.promise;
  }

  /** See `register` of members. */
  register(): Promise<void> {
    if (this.runState === 'closed') return rejected(closedError(this.options.name));
    return ignoreRejection(this.coordinator?.register() ?? DONE);
  }

  /** The result of a method that waits for all loads under way, or at once an error if one of them calls it. */
  unlessOwn<R>(result: Promise<R>): Promise<R> {
    return unlessOwn(this.active.entries, this.options.name, result);
  }

  /** The state of the entry at this instant. Starts nothing. */
  inspect(entry: Entry<T>): ExecutionStatus {
    const now = this.options.clock.monotonic();
    this.compareClocks(entry, now);
    const { timing, coordinator, rules } = this;
    const nextExecuteTime = timing.nextExecuteTime(entry, now);
    const cluster = coordinator?.status(entry);
    const { name } = this.options;
    const offset = this.options.now() - now; // of the wall clock, now
    return executionStatus(entry, name, rules.runState, nextExecuteTime, now, offset, cluster, this.events);
  }
}

const DONE: Promise<void> = /* @__PURE__ */ Promise.resolve();
