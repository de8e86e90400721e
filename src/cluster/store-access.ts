import { BackendAccess } from './backend-access.ts';
import type { StoreSteps } from './backend-steps.ts';
import { StoreChecks } from './store-checks.ts';

/** The access of all members to a store, with the checks that they share. */
export class StoreAccess extends BackendAccess<StoreSteps> {
  readonly checks: StoreChecks = new StoreChecks(this);
}
