import type { Fleet, HeldOptions, MemberName } from '../data/fleet.ts';
import { NotEverywhereError, OptionError } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { Deferred } from '../time/deferred.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import { onAbort } from '../time/on-abort.ts';
import { showDuration } from '../time/show-duration.ts';
import type { BackendAccess, BackendReply } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import { fleetOf, named } from './fleet.ts';
import { readReport } from './fleet-report.ts';
import { thisHost } from './identity.ts';
import { type Missing, notHolding } from './not-holding.ts';
import { pollAfter } from './poll-delays.ts';
import type { StoredReport } from './store-contract.ts';
import type { Reporting, StoreReports } from './store-reports.ts';
import { storeUnavailable, unavailableCause } from './unavailable.ts';
import type { Poller, VersionPoll } from './version-poll.ts';
import { type WantedVersion, wantedVersion } from './wanted-version.ts';

/** The member that waits for a version to be held everywhere. */
export interface Waiting extends Poller {
  readonly options: Poller['options'] & MemberName;
  readonly propagateWithinMs: number;
  /** Aborted when it is closed. */
  readonly closing: LazyAbort;
}

/** The instances that use one store, by the reports that they have left there. */
export class StoreFleet {
  readonly #access: BackendAccess<StoreSteps>;
  readonly #checks: VersionPoll;
  readonly #reports: StoreReports;

  constructor(access: BackendAccess<StoreSteps>, checks: VersionPoll, reports: StoreReports) {
    this.#access = access;
    this.#checks = checks;
    this.#reports = reports;
  }

  /** The reports of this instance show it from now on. */
  join(member: Reporting, { options }: Poller): void {
    this.#reports.join(member, options.clock);
  }

  /** With the last one the report of this instance is taken back: at most one time-out of the store. Never rejects. */
  async leave(member: Reporting, poller: Poller): Promise<void> {
    if (this.#reports.leave(member)) await this.#checks.withdraw(poller);
  }

  /** Those with these members. Rejects with `StoreUnavailableError`. */
  async read(of: readonly MemberName[], asker: Poller): Promise<Fleet> {
    const asked = await this.#ask(asker);
    if (asked.kind === 'answered') return fleetOf(asked.answer, of, this.#reports.instance);
    throw storeUnavailable(asked.cause, asker.options.name);
  }

  /**
   * Resolves when each instance is known to hold a version of the member. Asks in growing pauses.
   *
   * @param held the version that it has itself; 0: none.
   */
  async everywhere(given: HeldOptions | undefined, held: number, member: Waiting): Promise<void> {
    const { options, closing, propagateWithinMs } = member;
    const { clock, name } = options;
    const wanted = wantedVersion(options, given, held, propagateWithinMs);
    const since = clock.monotonic();
    const until = since + wanted.timeoutMs;
    let isReported = false;
    for (;;) {
      if (closing.isAborted) throw closing.reason;
      isReported = await this.#checks.report(member, !isReported);
      const asked = await this.#ask(member);
      const isKnown = asked.kind === 'answered' && isReported;
      const missing = isKnown ? this.#missing(asked.answer, wanted, options) : undefined;
      if (missing?.length === 0) return;
      const now = clock.monotonic();
      const left = until - now;
      if (left <= 0 && missing !== undefined) throw notEverywhere(name, wanted, missing);
      const cause = asked.kind === 'answered' ? this.#checks.error : asked.cause;
      if (left <= 0) throw storeUnavailable(cause, name);
      await pause(Math.min(pollAfter(now - since), left), clock, closing.signal);
    }
  }

  /** This instance has left its report: where it is not among the reports, others may be missing too. */
  #missing(reports: readonly StoredReport[], { version }: WantedVersion, member: MemberName): Missing {
    if (reports.length === 0) throw keepsNone(member.name);
    const of = new Set([member.name]);
    const instances = reports
      .flatMap((report) => readReport(report, of) ?? [])
      .filter(({ isIdle }) => !isIdle);
    const id = this.#reports.instance;
    const isHere = instances.some((instance) => instance.id === id);
    const own = isHere ? [] : [{ id, host: thisHost(), version: undefined }];
    return [...own, ...notHolding(instances, version)];
  }

  async #ask({ options: { clock }, log }: Poller): Promise<BackendReply<readonly StoredReport[]>> {
    this.#reports.askedFor();
    const { steps, answers, limitMs, backgroundTimeoutMs } = this.#access;
    const limits = { silenceMs: limitMs, mostMs: backgroundTimeoutMs, step: 'reports' };
    const step = (): Promise<readonly StoredReport[]> => answers.wait(() => steps.reports(), clock, limits);
    const asked = await this.#access.ask(step, clock);
    if (asked.kind === 'failed') log.storeFailed(unavailableCause(asked.cause));
    if (asked.kind === 'answered') log.storeAnswered();
    return asked;
  }
}

/** The caller waits, so the process lives meanwhile. */
async function pause(ms: number, clock: Clock, closing: AbortSignal): Promise<void> {
  const over = new Deferred<void>();
  const timer = clock.setTimeout(() => over.resolve(), ms);
  timer.ref();
  const forget = onAbort(closing, () => over.resolve());
  await over.promise;
  timer.cancel();
  forget();
}

function keepsNone(cacheName: string): OptionError {
  const rule = 'must keep the reports of instances, to know what they hold';
  return new OptionError([{ option: 'store', rule, received: undefined }], { cacheName });
}

function notEverywhere(
  cacheName: string,
  { version, timeoutMs }: WantedVersion,
  missing: Missing,
): NotEverywhereError {
  const all = named(missing, ({ id, host, version: held }) => `${host} (${id}, ${shown(held)})`);
  const text = `${shown(version)} is not held by ${all} after ${showDuration(timeoutMs)}`;
  return new NotEverywhereError(text, { cacheName, version, missing });
}

function shown(version: number | undefined): string {
  return version === undefined ? 'no version' : `version ${version}`;
}
