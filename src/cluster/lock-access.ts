import { BackendAccess, type BackendLabel, type Commands } from './backend-access.ts';
import type { LockSteps } from './backend-steps.ts';

/**
 * The access of all members to a lock.
 *
 * @param explain as of {@link BackendAccess}, and `commands` and `label`.
 */
export function lockAccess(
  steps: LockSteps,
  limitMs: number,
  explain?: (error: unknown) => unknown,
  commands?: Commands,
  label?: BackendLabel,
): BackendAccess<LockSteps> {
  let isChecked = false;
  const urgent: LockSteps = {
    leaseFor: steps.leaseFor,
    longestName: steps.longestName,
    acquire: (request) => steps.acquire(request),
    extend: (lease, leaseFor) => access.runUrgent(() => steps.extend(lease, leaseFor)),
    release: (lease, outcome) => steps.release(lease, outcome),
    settle: steps.settle?.bind(steps),
    inspect: (name) => steps.inspect(name),
    runs: steps.runs,
    async warning() {
      if (isChecked) return undefined;
      isChecked = true;
      return steps.warning?.().catch(() => undefined); // no right to ask
    },
  };
  const access = new BackendAccess(urgent, limitMs, explain, commands, label);
  return access;
}
