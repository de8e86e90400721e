import type { Edit } from '../records.ts';

/** Whether a command takes or changes a lease, and carries no snapshot: sent late, it may leave a lease without a holder. */
export function isOfLease(ops: readonly (Edit['op'] | undefined)[]): boolean {
  return ops.some((op) => op === 'claim' || op === 'amend') && !ops.includes('put');
}
