import type { Fleet, MemberName } from '../data/fleet.ts';
import { NotEverywhereError, OptionError } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { Deferred } from '../time/deferred.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import { onAbort } from '../time/on-abort.ts';
import { showDuration } from '../time/show-duration.ts';
import { type Asked, type BackendAccess, limited } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import { fleetOf, named } from './fleet.ts';
import { readReport } from './fleet-report.ts';
import { thisHost } from './identity.ts';
import { type Missing, notHolding } from './not-holding.ts';
import { pollAfter } from './poll-delays.ts';
import type { Checker, StoreChecks } from './store-checks.ts';
import type { StoredReport } from './store-contract.ts';
import { storeUnavailable, unavailableCause } from './unavailable.ts';

/** A version that all instances are to hold. */
export interface WantedVersion {
  readonly member: MemberName;
  readonly version: number;
  readonly timeoutMs: number;
}

/** The instances that use one store, by the reports that they have left there. */
export class StoreFleet {
  readonly #access: BackendAccess<StoreSteps>;
  readonly #checks: StoreChecks;

  constructor(access: BackendAccess<StoreSteps>, checks: StoreChecks) {
    this.#access = access;
    this.#checks = checks;
  }

  /** Those with these members. Rejects with `StoreUnavailableError`. */
  async read(of: readonly MemberName[], asker: Checker): Promise<Fleet> {
    const asked = await this.#ask(asker);
    if (asked.kind === 'answered') return fleetOf(asked.answer, of);
    throw storeUnavailable(asked.cause, asker.options.name);
  }

  /**
   * Resolves when each instance is known to hold the version. Asks in growing pauses.
   *
   * @param closing rejects with its reason.
   */
  async everywhere(wanted: WantedVersion, asker: Checker, closing: LazyAbort): Promise<void> {
    const { clock, name: cacheName } = asker.options;
    const until = clock.monotonic() + wanted.timeoutMs;
    let isReported = false;
    for (let polls = 0; ; polls++) {
      isReported ||= await this.#checks.report(asker);
      const asked = await this.#ask(asker);
      const missing =
        asked.kind === 'answered' && isReported ? this.#missing(asked.answer, wanted, asker) : undefined;
      if (missing?.length === 0) return;
      const left = until - clock.monotonic();
      if (left <= 0) {
        if (missing !== undefined) throw notEverywhere(wanted, missing);
        throw storeUnavailable(asked.kind === 'answered' ? this.#checks.error : asked.cause, cacheName);
      }
      await pause(Math.min(pollAfter(polls), left), clock, closing.signal);
      if (closing.isAborted) throw closing.reason;
    }
  }

  /** This instance has left its report: where it is not among the reports, others may be missing too. */
  #missing(reports: readonly StoredReport[], { member, version }: WantedVersion, asker: Checker): Missing {
    if (reports.length === 0) throw keepsNone(asker.options.name);
    const instances = reports.flatMap((report) => readReport(report) ?? []);
    const id = this.#checks.instance;
    const isHere = instances.some((instance) => instance.id === id);
    const own = isHere ? [] : [{ id, host: thisHost(), version: undefined }];
    return [...own, ...notHolding(instances, member, version)];
  }

  async #ask({ options: { clock }, log }: Checker): Promise<Asked<readonly StoredReport[]>> {
    const { steps, limitMs } = this.#access;
    const step = (): Promise<readonly StoredReport[]> => limited(() => steps.reports(), clock, limitMs);
    const asked = await this.#access.ask(step, { clock, waitsForProbe: true });
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
  { member: { name }, version, timeoutMs }: WantedVersion,
  missing: Missing,
): NotEverywhereError {
  const all = named(missing, ({ id, host, version: held }) => `${host} (${id}, ${shown(held)})`);
  const text = `${shown(version)} is not held by ${all} after ${showDuration(timeoutMs)}`;
  return new NotEverywhereError(text, { cacheName: name, version, missing });
}

function shown(version: number | undefined): string {
  return version === undefined ? 'no version' : `version ${version}`;
}
