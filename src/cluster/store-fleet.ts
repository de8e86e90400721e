import type { Fleet, MemberName } from '../data/fleet.ts';
import type { BackendAccess, BackendReply } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import { fleetOf } from './fleet.ts';
import type { StoredReport } from './store-contract.ts';
import type { Reporting, StoreReports } from './store-reports.ts';
import { unavailable, unavailableCause } from './unavailable.ts';
import type { Poller, VersionPoll } from './version-poll.ts';

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

  /** Those with these members. Rejects with `BACKEND_DOWN`. */
  async read(of: readonly MemberName[], asker: Poller): Promise<Fleet> {
    const asked = await this.#ask(asker);
    if (asked.kind === 'answered') return fleetOf(asked.answer, of, this.#reports.instance);
    throw unavailable(asked.cause, asker.options.name);
  }

  async #ask({ options: { clock }, log }: Poller): Promise<BackendReply<readonly StoredReport[]>> {
    const { steps, answers, limitMs, backgroundTimeoutMs } = this.#access;
    const limits = { silenceMs: limitMs, mostMs: backgroundTimeoutMs, step: 'reports' };
    const step = (): Promise<readonly StoredReport[]> => answers.wait(() => steps.reports(), clock, limits);
    const asked = await this.#access.ask(step, clock);
    if (asked.kind === 'failed') log.storeFailed(unavailableCause(asked.cause));
    if (asked.kind === 'answered') log.storeAnswered();
    return asked;
  }
}
