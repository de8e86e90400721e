import type { BackendLabel, Commands } from './backend-access.ts';
import { BackendAccess, withStepTimeout } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import type { HintHost, HintMember, HintPort } from './hint-contract.ts';
import { StoreFleet } from './store-fleet.ts';
import type { StoreReports } from './store-reports.ts';
import { VersionPoll } from './version-poll.ts';

/** The access of all members to a store, with the checks and hints that they share and the reports of instances. */
export class StoreAccess extends BackendAccess<StoreSteps> implements HintHost {
  readonly hints: HintPort | undefined;
  readonly reports: StoreReports;
  readonly checks: VersionPoll;
  readonly fleet: StoreFleet;

  /** @param reports go with the reads and writes of the steps. The others as of {@link BackendAccess}. */
  constructor(
    steps: StoreSteps,
    reports: StoreReports,
    limitMs: number,
    explain?: (error: unknown) => unknown,
    commands?: Commands,
    label?: BackendLabel,
  ) {
    super(steps, limitMs, explain, commands, label);
    this.reports = reports;
    this.hints = steps.hints?.connect(this);
    this.checks = new VersionPoll(this, reports, this.hints);
    this.fleet = new StoreFleet(this, this.checks, reports);
  }

  checkWithin(ms: number): void {
    this.checks.checkWithin(ms);
  }

  async countInstances({ options: { clock } }: HintMember): Promise<number> {
    const reports = await this.run(() => withStepTimeout(() => this.steps.reports(), clock, this.limitMs));
    return reports.length;
  }
}
