import { BackendAccess, limited } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import type { HintHost, HintMember, HintPort } from './hint-contract.ts';
import { StoreChecks } from './store-checks.ts';
import { StoreFleet } from './store-fleet.ts';

/** The access of all members to a store, with the checks and hints that they share and the reports of instances. */
export class StoreAccess extends BackendAccess<StoreSteps> implements HintHost {
  readonly hints: HintPort | undefined = this.steps.hints?.connect(this);
  readonly checks: StoreChecks = new StoreChecks(this, this.hints);
  readonly fleet: StoreFleet = new StoreFleet(this, this.checks);

  checkWithin(ms: number): void {
    this.checks.checkWithin(ms);
  }

  async countInstances({ options: { clock } }: HintMember): Promise<number> {
    const reports = await this.run(() => limited(() => this.steps.reports(), clock, this.limitMs));
    return reports.length;
  }
}
