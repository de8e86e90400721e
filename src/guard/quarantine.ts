import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import type { Quarantined } from '../engine/quarantined.ts';
import { ValueRejectedError } from '../errors.ts';
import { ignoreRejection } from '../time/deferred.ts';

/** At most this number of keys of a cache have a candidate; a further one takes the place of the oldest. */
const MOST_KEPT = 100;

/** The refused candidates of a member. Each is remembered by its entry, and forgotten with the next value of that. */
export class Quarantine<T> {
  readonly #maxSize: number;
  /** The entries with a candidate, the oldest first. Some may have lost it since. */
  readonly #kept: Set<Entry<T>> = new Set();

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** @param candidate `undefined`: the schema refuses it. @param now epoch milliseconds. */
  keep(
    entry: Entry<T>,
    { reason, size }: ValueRejectedError,
    candidate: Quarantined<T>['candidate'],
    now: number,
  ): void {
    const since = entry.quarantined?.status.since ?? now;
    const status = { reason, since, loadedAt: now, size };
    const isLarge = (size ?? 0) > this.#maxSize;
    const note = isLarge ? `its size is over ${this.#maxSize} (maxQuarantined)` : 'the schema refuses it';
    this.#kept.delete(entry);
    if (candidate === undefined || isLarge) {
      entry.quarantined = { status: { ...status, note }, candidate: undefined };
      return;
    }
    entry.quarantined = { status, candidate };
    this.#kept.add(entry);
    const [oldest] = this.#kept;
    if (this.#kept.size <= MOST_KEPT || oldest === undefined) return;
    this.#kept.delete(oldest);
    if (oldest.quarantined?.candidate === undefined) return;
    const left = { ...oldest.quarantined.status, note: `those of ${MOST_KEPT} other keys are newer` };
    oldest.quarantined = { status: left, candidate: undefined };
  }
}

/**
 * Takes the candidate of an entry as its value, and publishes it.
 *
 * @param prepareOf called first; the result is called right before the value is in place.
 */
export function acceptQuarantined<T>(
  engine: MemberEngine<T>,
  entry: Entry<T>,
  prepareOf?: (candidate: NonNullable<Quarantined<T>['candidate']>) => () => void,
): Promise<boolean> {
  const accept = async (): Promise<boolean> => {
    const { quarantined } = entry;
    if (quarantined === undefined) return false;
    engine.throwIfClosed(entry);
    const { status, candidate } = quarantined;
    const { name, membership } = engine.options;
    if (candidate === undefined) {
      const { reason, size, note } = status;
      const about = { reason: `${reason}; it is not kept: ${note}`, size, previousSize: undefined };
      throw new ValueRejectedError({ cacheName: name, key: entry.key, ...about });
    }
    engine.set(entry, candidate.value, prepareOf?.(candidate));
    if (!membership?.hasStore) return true;
    try {
      await engine.share(entry);
    } catch (error) {
      if (entry.value === candidate.value) entry.quarantined ??= quarantined; // to be tried again
      throw error;
    }
    return true;
  };
  return ignoreRejection(accept());
}

/** Forgets the candidate of an entry. @returns whether there was one. */
export function discardQuarantined(entry: Entry<unknown>): boolean {
  const had = entry.quarantined !== undefined;
  entry.quarantined = undefined;
  return had;
}
