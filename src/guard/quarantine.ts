import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { digestOf, type Quarantined, type SeenQuarantine } from '../engine/quarantined.ts';

import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import { printable } from '../printable.ts';
import { ignoreRejection } from '../time/deferred.ts';
import { type RefusedValue, refusedError } from './refused-error.ts';

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
    { reason, size, previousSize }: RefusedValue,
    candidate: Quarantined<T>['candidate'],
    now: number,
  ): void {
    const since = entry.quarantined?.status.since ?? now;
    const status = { reason: printable(reason), since, loadedAt: now, size };
    const isLarge = (size ?? 0) > this.#maxSize;
    const note = isLarge ? `its size is over ${this.#maxSize} (maxQuarantined)` : 'the schema refuses it';
    this.#kept.delete(entry);
    if (candidate === undefined || isLarge) {
      entry.quarantined = { status: { ...status, note }, previousSize, candidate: undefined };
      return;
    }
    entry.quarantined = { status, previousSize, candidate };
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
 * @param seen the one that was looked at.
 * @param prepareOf called first; the result is called right before the value is in place.
 */
export function acceptQuarantined<T>(
  engine: MemberEngine<T>,
  entry: Entry<T>,
  seen: SeenQuarantine | undefined,
  prepareOf?: (candidate: NonNullable<Quarantined<T>['candidate']>) => () => void,
): Promise<boolean> {
  const accept = async (): Promise<boolean> => {
    const { quarantined } = entry;
    if (!isThere(entry, quarantined, seen, engine.options.name)) return false;
    engine.throwIfClosed(entry);
    const { status, candidate } = quarantined;
    const { name, membership } = engine.options;
    if (candidate === undefined) {
      const { reason, size, note } = status;
      throw refusedError(
        { reason: `${reason}; it is not kept: ${note}`, size },
        { member: name, key: entry.key },
      );
    }
    const isSeen = seen?.digest !== undefined;
    if (isSeen && membership?.hasStore) {
      await engine.versions(entry)?.refuseNewer('digest');
      if (entry.quarantined !== quarantined) return accept(); // refused meanwhile, or accepted
    }
    engine.set(entry, candidate.value, prepareOf?.(candidate));
    if (!membership?.hasStore) return true;
    try {
      await engine.share(entry, isSeen ? 'set-as-seen' : undefined);
    } catch (error) {
      if (entry.value === candidate.value) entry.quarantined ??= quarantined; // to be tried again
      throw error;
    }
    return true;
  };
  return ignoreRejection(accept());
}

/** Forgets the candidate of an entry. @param seen the one that was looked at. @returns whether there was one. */
export function discardQuarantined(
  { options: { name } }: Pick<MemberEngine<never>, 'options'>,
  entry: Entry<unknown>,
  seen: SeenQuarantine | undefined,
): boolean {
  const had = isThere(entry, entry.quarantined, seen, name);
  entry.quarantined = undefined;
  return had;
}

/** Whether a value is in quarantine. @throws {TicklessError} `OPTION` where it is not the one that was looked at. */
function isThere(
  { key }: Entry<unknown>,
  quarantined: Quarantined<unknown> | undefined,
  seen: SeenQuarantine | undefined,
  name: string,
): quarantined is Quarantined<unknown> {
  namesArgument(name, seen, ['digest']);
  const { digest } = ownOptions(seen ?? {});
  if (quarantined === undefined || digest === undefined) return quarantined !== undefined;
  const checks = new OptionChecks(name, key);
  const { reason, size } = quarantined.status;
  const which = `${size === undefined ? '' : `of size ${size}, `}${reason}`;
  const rule = `must be that of the value which was refused last (${which}): look at it again`;
  checks.that(digest === digestOf(quarantined), 'digest', rule, digest);
  checks.done();
  return true;
}
