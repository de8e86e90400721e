/** A step takes at most this part of the deadline, so that most of it is left for the load. */
const PART_OF_DEADLINE = 0.25;

/**
 * Where a store and a lock are asked in turn, this part of the time-out is for the store: so a reader without a value
 * waits for one time-out where both are down.
 */
const PART_OF_STORE = 0.75;

/** How long the load at hand waits for a backend. */
export interface BackendPatience {
  /** It waits while a backend that was down is probed. Else it goes on without the backend, and is the probe behind. */
  readonly waitsForProbe: boolean;
  /** When its first backend was asked (monotonic), where a reader without a value waits; `undefined`: none does. */
  readonly startedAt: number | undefined;
}

/** How long a read of the store may take, in milliseconds. @param limitMs the limit of the backend. */
export function readLimitMs(
  limitMs: number,
  timeoutMs: number,
  { startedAt }: BackendPatience,
  hasLock: boolean,
): number {
  const part = startedAt !== undefined && hasLock ? PART_OF_STORE : 1;
  return Math.min(limitMs * part, timeoutMs * PART_OF_DEADLINE);
}

/**
 * How long the slices of a large value get a turn of the event loop each, in milliseconds; then they get fewer.
 *
 * @param leftMs until the work has to be done: of the deadline of a load, or of its lease, which is not extended meanwhile.
 */
export function turnsLimitMs(leftMs: number): number {
  return leftMs * PART_OF_DEADLINE;
}

/** How long all tries of an acquire may take, in milliseconds. @param limitMs the limit of the backend. */
export function acquireLimitMs(
  limitMs: number,
  timeoutMs: number,
  { startedAt }: BackendPatience,
  now: number,
): number {
  const spentMs = startedAt === undefined ? 0 : now - startedAt;
  const leftMs = limitMs - Math.min(spentMs, limitMs * PART_OF_STORE);
  return Math.min(leftMs, timeoutMs * PART_OF_DEADLINE);
}
