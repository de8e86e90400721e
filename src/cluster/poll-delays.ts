import type { Entry } from '../engine/entry.ts';

/** While a caller waits for the load of another instance: the first pause, its growth, and the longest, in milliseconds. */
const FIRST_POLL_MS = 25;
const POLL_GROWTH = 1.5;
/** A backend that answers this often stays trusted: else one key would ask before the others, each time. */
const LONGEST_POLL_MS = 950;
const SHORTEST_POLL_MS = 1;

/** While no caller waits: not sooner than this part of the period, and this part counts for at most a second. */
const PART_OF_PERIOD = 0.25;
const LONGEST_FLOOR_MS = 1000;

/**
 * The pause before the lock is asked again while a caller waits. It follows from the time, however often was asked in it: those who
 * wait for the same load have the same pause. And it may be shorter by half, where others ask by then: of two with the same pause,
 * at whatever instants they ask, one finds the other so, and they ask together from then on. With less than half both could ask
 * at a pace of their own for ever.
 *
 * @param waitedMs since before it was asked first.
 * @param retryAfter the lock's own answer, if it is sooner; at least a millisecond, or a lock could keep a caller busy for ever.
 */
export function pollAfter(waitedMs: number, retryAfter: number = Infinity): number {
  // As many pauses as come to about that time.
  const polls = Math.round(
    Math.log1p((waitedMs * (POLL_GROWTH - 1)) / FIRST_POLL_MS) / Math.log(POLL_GROWTH),
  );
  const poll = Math.min(LONGEST_POLL_MS, FIRST_POLL_MS * POLL_GROWTH ** polls);
  return Math.min(poll, Math.max(retryAfter, SHORTEST_POLL_MS));
}

/**
 * When to check for the snapshot of a load that runs elsewhere, in milliseconds: twice the length of the last load after
 * its start. One check should be enough; each costs a command. A value that is out of date by a mark is not kept for a part
 * of its period: without an expectation it is checked whenever the holder has taken half as long again.
 */
export function recheckAfter(
  { last, dueAt, loadedAt, isInvalidated }: Entry<unknown>,
  { retryAfter, heldFor }: { readonly retryAfter: number; readonly heldFor: number },
): number {
  const took = last === undefined ? 0 : last.endedAt - last.startedAt;
  const period = dueAt - loadedAt;
  const ofPeriod = period > 0 && period < Infinity ? period * PART_OF_PERIOD : LONGEST_FLOOR_MS;
  const floor = isInvalidated ? Math.max(FIRST_POLL_MS, heldFor * (POLL_GROWTH - 1)) : ofPeriod;
  const expected = 2 * took - heldFor;
  return Math.min(retryAfter, Math.max(expected, Math.min(floor, LONGEST_FLOOR_MS)));
}
