import { inDetachedContext } from '../engine/detached-context.ts';
import { PiggybackTrigger } from '../engine/piggyback-trigger.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { isTicklessError } from '../errors.ts';
import { passToPlatform } from '../observe/wait-until.ts';
import { type BackendAccess, withStepTimeout } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import type { ClusterLog } from './cluster-log.ts';
import type { SignalPort } from './signal-contract.ts';
import type { InstanceReport } from './store-contract.ts';
import type { StoreReports } from './store-reports.ts';
import { unavailableCause } from './unavailable.ts';
import { WeakMembers } from './weak-members.ts';

/** A name that checks of the store ask about: the snapshot of a value, the invalidation log of a cache. */
export interface PolledName {
  /** The version that is known here; `undefined`: nothing here could be older than the store. */
  readonly knownVersion: number | undefined;
  /** As which the store is asked about it; `undefined`: its members are gone. */
  readonly poller: Poller | undefined;
  /** Its name at the backend. Rejects where the backend does not accept it. */
  nameAtBackend(): Promise<string>;
  /** The store has a newer version: takes it over. Never rejects. */
  adoptNewer(version: number): Promise<void>;
}

/** The member whose options and log a command uses. */
export interface Poller {
  readonly options: Pick<ResolvedOptions, 'name' | 'clock' | 'random' | 'logger' | 'waitUntil'>;
  readonly log: ClusterLog;
  readonly store: { noteOutage(): void } | undefined;
}

/** How many names one command asks about. */
const MOST_NAMES = 500;

/** Checks come earlier than they must by up to this share of the time, so that instances do not fall into step. */
const SPREAD = 0.2;

/** However many signals there are, checks begin at least this far apart, in milliseconds. */
const LEAST_APART_MS = 20;

/**
 * Asks the store, behind reads, which of the members of this instance have a newer version there: one command for all
 * members that use the store object, at most one per `propagateWithin`.
 *
 * A read at or after the instant of its {@link trigger} starts a check; a fresh read before it costs one comparison. Where nothing is read
 * nothing is asked. While a check is under way no other begins, and one that fails is not repeated before the next is due.
 *
 * In the same command the instance leaves a report of its members, when it has changed or the last one is to be renewed.
 */
export class VersionPoll {
  readonly trigger: PiggybackTrigger = new PiggybackTrigger((now) => this.read(now));
  /** Why the last check had no answer; `undefined`: it had one. */
  error: unknown;
  /** Since when changes of other instances are not known (monotonic); `undefined`: they are. */
  failingSince: number | undefined;
  /** When the last check began that had an answer (monotonic); `undefined`: none had. */
  checkedAt: number | undefined;
  readonly #access: BackendAccess<StoreSteps>;
  readonly #signals: SignalPort | undefined;
  /** Each with the time within which its changes are to be known. */
  readonly #members: WeakMembers<PolledName, number> = new WeakMembers();
  readonly #reports: StoreReports;
  #underWay: Promise<void> | undefined;
  #beganAt = -Infinity;
  #dueAt = Infinity;
  /** When one is to begin that a signal has asked for. It leaves `#dueAt` as it is, or all instances would fall into step. */
  #signalledAt = Infinity;

  constructor(access: BackendAccess<StoreSteps>, reports: StoreReports, signals: SignalPort | undefined) {
    this.#access = access;
    this.#reports = reports;
    this.#signals = signals;
  }

  /** Checks ask about it too, from now on. The first one of an instance comes at any time within `withinMs`. */
  join(polled: PolledName, poller: Poller, withinMs: number): void {
    const { clock, random } = poller.options;
    this.#members.set(polled, withinMs);
    if (withinMs < this.#withinMs) {
      this.#reports.checksEveryMs = withinMs;
      this.#dueAt = Math.min(this.#dueAt, clock.monotonic() + random() * this.#pauseMs(random));
      this.#plan();
    }
    this.#signals?.listen(poller);
  }

  /** Checks do not ask about it any longer. */
  leave(polled: PolledName): void {
    this.#members.delete(polled);
    this.#reports.checksEveryMs = Math.min(...Array.from(this.#members, ([, withinMs]) => withinMs));
    if (this.#first === undefined) this.#stop();
  }

  /** No member takes part any longer. */
  #stop(): void {
    this.trigger.readsFrom = this.#dueAt = this.#signalledAt = Infinity;
    this.#signals?.stop();
  }

  /** Those that take part, and how each asks. */
  *#pollers(): Generator<readonly [PolledName, Poller]> {
    for (const [polled] of this.#members) if (polled.poller !== undefined) yield [polled, polled.poller];
  }

  get #first(): Poller | undefined {
    const [first] = this.#pollers();
    return first?.[1];
  }

  /** The last member has left: takes the report of this instance back. At most one time-out of the store; never rejects. */
  async withdraw(poller: Poller): Promise<void> {
    const withdraw = async (): Promise<void> => {
      await this.#underWay; // it may leave a report
      const report = await this.#reports.withdrawal();
      if (report !== undefined) await this.#ask([], poller, report);
    };
    await withStepTimeout(withdraw, poller.options.clock, this.#access.limitMs).catch(() => {});
  }

  get #withinMs(): number {
    return this.#reports.checksEveryMs;
  }

  /**
   * Leaves a report now. Rejects with an `OPTION` error of the store only.
   *
   * @param isForced in any case; else if it says something new, or the last one is to be renewed.
   * @returns whether the store has answered.
   */
  async report(poller: Poller, isForced: boolean): Promise<boolean> {
    const now = poller.options.clock.monotonic();
    const next = this.#reports.next(now, isForced);
    if (next === undefined) return true;
    const answer = await this.#ask([], poller, next.report);
    if (answer !== undefined) next.left();
    return answer !== undefined;
  }

  /**
   * Something has changed elsewhere: the next read after a random part of that time, in milliseconds, starts a check. While
   * one is under way, which may have asked before, one more follows it. Nothing changes where a check is planned by then.
   */
  checkWithin(ms: number): void {
    const first = this.#first;
    if (first === undefined) {
      this.#stop(); // they were collected
      return;
    }
    const { clock, random } = first.options;
    const now = clock.monotonic();
    const limitMs = Math.min(ms, this.#withinMs);
    if (Math.min(this.#dueAt, this.#signalledAt) <= now + limitMs) return;
    this.#signalledAt = Math.max(now + random() * limitMs, this.#beganAt + LEAST_APART_MS);
    this.#plan();
  }

  read(now: number): void {
    if (now < this.trigger.readsFrom) return;
    const first = this.#first;
    if (first === undefined) return;
    this.#beganAt = now;
    if (now >= this.#dueAt) this.#dueAt = Infinity;
    this.#signalledAt = Infinity;
    this.trigger.readsFrom = Infinity;
    this.#signals?.listen(first); // where that has ended
    this.#underWay = inDetachedContext(() => this.#check(first)).finally(() => {
      this.#underWay = undefined;
      const { random } = first.options;
      this.#dueAt = Math.min(this.#dueAt, now + this.#pauseMs(random));
      this.#plan();
    });
    this.#passToPlatform(this.#underWay);
  }

  /** A platform that would freeze the process, or drop what a request has begun, waits for it. */
  #passToPlatform(work: Promise<void>): void {
    const all = Array.from(this.#pollers(), ([, { options }]) => options);
    const { waitUntil, logger } = all.find((options) => options.waitUntil !== undefined) ?? {};
    if (waitUntil !== undefined && logger !== undefined) passToPlatform(waitUntil, work, logger);
  }

  /** From one check to the next. */
  #pauseMs(random: () => number): number {
    return this.#withinMs * (1 - SPREAD * random());
  }

  #plan(): void {
    const isWanted = this.#underWay === undefined && this.#first !== undefined;
    this.trigger.readsFrom = isWanted ? Math.min(this.#dueAt, this.#signalledAt) : Infinity;
  }

  /** Never rejects. */
  async #check(poller: Poller): Promise<void> {
    const { clock } = poller.options;
    await Promise.resolve(); // behind the reader
    const startedAt = clock.monotonic();
    try {
      const named = await this.#named();
      let failure: Error | undefined;
      let next = this.#reports.next(clock.monotonic());
      for (let from = 0; from < named.length || next !== undefined; from += MOST_NAMES) {
        const asked = named.slice(from, from + MOST_NAMES);
        const answer = await this.#ask(asked, poller, next?.report);
        if (answer === undefined) {
          this.failingSince ??= this.checkedAt ?? startedAt;
          return;
        }
        next?.left();
        next = undefined;
        for (const [index, [, all]] of asked.entries()) {
          const version = answer[index] ?? 0;
          if (version instanceof Error) {
            failure = version; // of that name alone
            continue;
          }
          for (const polled of all)
            if (version > (polled.knownVersion ?? version)) this.#passToPlatform(polled.adoptNewer(version));
        }
      }
      if (failure !== undefined) throw failure;
      this.checkedAt = startedAt;
      this.error = this.failingSince = undefined;
    } catch (error) {
      this.error = error;
      this.failingSince ??= this.checkedAt ?? startedAt;
    }
  }

  /** Those that may be older than the store, by their names: several instances of a test may share a store object. */
  async #named(): Promise<(readonly [string, readonly PolledName[]])[]> {
    const byName = new Map<string, PolledName[]>();
    const all = Array.from(this.#pollers(), async ([polled]) => {
      if (polled.knownVersion === undefined) return;
      try {
        const name = await polled.nameAtBackend();
        byName.set(name, [...(byName.get(name) ?? []), polled]);
      } catch (error) {
        if (!isTicklessError(error, 'OPTION')) throw error; // its loads report it
      }
    });
    await Promise.all(all);
    return [...byName];
  }

  async #ask(
    asked: readonly (readonly [string, unknown])[],
    { options: { clock }, log }: Poller,
    report: InstanceReport | undefined,
  ): Promise<readonly (number | Error)[] | undefined> {
    const { steps, answers, limitMs, backgroundTimeoutMs } = this.#access;
    const names = asked.map(([name]) => name);
    const limits = { silenceMs: limitMs, mostMs: backgroundTimeoutMs, step: 'versions' };
    const step = (): Promise<readonly (number | Error)[]> =>
      answers.wait(() => steps.versions(names, report), clock, limits);
    let answer = await this.#access.ask(step, clock);
    // Its pause may be longer than the time within which changes are to be known.
    if (answer.kind === 'open') answer = await this.#access.askAgain(step, clock);
    for (const [, { store }] of this.#pollers()) store?.noteOutage();
    if (answer.kind === 'answered') {
      log.storeAnswered();
      return answer.answer;
    }
    this.error = answer.cause;
    if (answer.kind === 'failed') log.storeFailed(unavailableCause(answer.cause));
    return undefined;
  }
}
