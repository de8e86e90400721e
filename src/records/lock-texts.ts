import type { LockRecord } from '../cluster/lock-contract.ts';

/** The holder of a lease. For people: the backend does not look at it. */
export type LockHolder = Pick<LockRecord, 'owner' | 'host'>;

/** How a round has ended. */
export interface LockEnd extends Pick<LockRecord, 'state'> {
  readonly error?: string | undefined;
  readonly confirms?: string | undefined;
}

/** Longer error texts are cut. In UTF-16 code units. */
const MAX_ERROR_LENGTH = 16_000;

/** The text of the record of a lock. */
export function holderText({ owner, host }: LockHolder): string {
  return JSON.stringify({ owner, host });
}

/** Its note. */
export function endText({ state, error, confirms }: LockEnd): string {
  return JSON.stringify({ state, error: error?.slice(0, MAX_ERROR_LENGTH), confirms });
}
