import { BackendAccess } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import { StoreChecks } from './store-checks.ts';
import { StoreFleet } from './store-fleet.ts';

/** The access of all members to a store, with the checks that they share and the reports of instances. */
export class StoreAccess extends BackendAccess<StoreSteps> {
  readonly checks: StoreChecks = new StoreChecks(this);
  readonly fleet: StoreFleet = new StoreFleet(this, this.checks);
}
