import type { BackendLabel, Commands } from './backend-access.ts';
import { BackendAccess, withStepTimeout } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import type { SignalHost, SignalMember, SignalPort } from './signal-contract.ts';
import { StoreFleet } from './store-fleet.ts';
import type { StoreReports } from './store-reports.ts';
import { VersionPoll } from './version-poll.ts';

/** The access of all members to a store, with the checks and signals that they share and the reports of instances. */
export class StoreAccess extends BackendAccess<StoreSteps> implements SignalHost {
  readonly signals: SignalPort | undefined;
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
    this.signals = steps.signals?.portOf(this);
    this.checks = new VersionPoll(this, reports, this.signals);
    this.fleet = new StoreFleet(this, this.checks, reports);
  }

  checkWithin(ms: number): void {
    this.checks.checkWithin(ms);
  }

  async countInstances({ options: { clock } }: SignalMember): Promise<number> {
    const reports = await this.run(() => withStepTimeout(() => this.steps.reports(), clock, this.limitMs));
    return reports.length;
  }
}
