import type { Entry } from '../engine/entry.ts';

/** While somebody waits for what another instance loads: the first pause, its growth, and the longest, in milliseconds. */
const FIRST_POLL_MS = 25;
const POLL_GROWTH = 1.5;
const LONGEST_POLL_MS = 1000;
const SHORTEST_POLL_MS = 1;

/** While nobody waits: not sooner than this part of the period, but no later than a second for it. */
const PART_OF_PERIOD = 0.25;
const LONGEST_FLOOR_MS = 1000;

/**
 * The pause before the lock is asked again, for who waits.
 *
 * @param looks how often it was asked before.
 * @param retryAfter what the lock has said, if it is sooner; of a thousandth of a millisecond a lock may speak for ever.
 */
export function pollAfter(looks: number, retryAfter: number = Infinity): number {
  const poll = Math.min(LONGEST_POLL_MS, FIRST_POLL_MS * POLL_GROWTH ** looks);
  return Math.min(poll, Math.max(retryAfter, SHORTEST_POLL_MS));
}

/**
 * When to look for the snapshot of a load that runs elsewhere, in milliseconds: when it should have come, judging by how
 * long the last one took. One look is to be enough; each costs a command.
 */
export function lookAgainAfter(
  { last, dueAt, loadedAt }: Entry<unknown>,
  { retryAfter, heldFor }: { readonly retryAfter: number; readonly heldFor: number },
): number {
  const took = last === undefined ? 0 : last.endedAt - last.startedAt;
  const period = dueAt - loadedAt;
  const floor = period > 0 && period < Infinity ? period * PART_OF_PERIOD : LONGEST_FLOOR_MS;
  const expected = 2 * took - heldFor;
  return Math.min(retryAfter, Math.max(expected, Math.min(floor, LONGEST_FLOOR_MS)));
}
