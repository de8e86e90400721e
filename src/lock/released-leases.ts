import type { LeaseEnd } from './lock-backend.ts';

/**
 * The answers to a release of several leases, where the backend only counts those that it has released, and is asked
 * afterwards which leases have ended.
 *
 * @param count how many the backend has released.
 * @param ended the names whose records show the given end.
 * @returns the answers by name; none for a lease that was not released.
 */
export function releasedLeases(
  ends: readonly LeaseEnd[],
  count: number,
  ended: ReadonlySet<string>,
): ReadonlyMap<string, boolean | Error> {
  const answers: Map<string, boolean | Error> = new Map();
  for (const { lease } of ends) {
    if (ended.has(lease.name)) answers.set(lease.name, true);
    // Some of the others were released too, and acquired again before the backend was asked.
    else if (ended.size < count) answers.set(lease.name, new Error(UNKNOWN));
  }
  return answers;
}

const UNKNOWN = 'whether the lease was released is unknown: its name was acquired again at once';
