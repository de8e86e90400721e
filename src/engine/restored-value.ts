import type { ValueMeta } from '../data/value-meta.ts';
import { isAbsentError } from '../errors.ts';
import type { StoredHeaders } from '../schedule/stored-headers.ts';
import type { Entry } from './entry.ts';
import type { MemberEngine } from './member-engine.ts';

/** A value that was loaded before this process had it, checked, with its age now. */
export interface RestoredValue<T> {
  readonly value: T;
  readonly ageMs: number;
  /** Epoch milliseconds; an instant that has passed is due. */
  readonly nextExecuteTime: number;
  /** The age limit that the load returned with it, if any. */
  readonly maxStalenessMs: number | undefined;
  /** The `meta` of its load. */
  readonly meta?: ValueMeta | undefined;
  /** Of its response. */
  readonly headers?: StoredHeaders | undefined;
  /** See {@link LastExecution}. @default false */
  readonly isLimitScheduled?: boolean;
  /** It is due whatever the schedule says, and no load has returned it. @default false */
  readonly isInitial?: boolean;
}

/**
 * Puts it into place, with its age, unless the value that is held is younger. A load under way goes on.
 *
 * @param prepare called right before the value is in place.
 * @returns whether it was taken.
 */
export function putRestored<T>(
  { options, loader, timing, coordinator }: MemberEngine<T>,
  entry: Entry<T>,
  {
    value,
    ageMs,
    nextExecuteTime,
    maxStalenessMs,
    meta,
    headers,
    isLimitScheduled = false,
    isInitial = false,
  }: RestoredValue<T>,
  prepare?: () => void,
): boolean {
  if (entry.isLoaded && options.clock.monotonic() - entry.loadedAt <= ageMs) return false;
  if (isAbsentError(entry.lastError)) timing.invalidated(entry); // the source has it after all
  loader.changes.note(entry, value, 'restored', undefined);
  prepare?.();
  entry.putValue(value, isInitial);
  if (options.membership?.hasStore) coordinator?.replaced(entry);
  timing.restored(entry, ageMs, nextExecuteTime, maxStalenessMs, 0, { meta, headers, isLimitScheduled });
  loader.inPlace(entry);
  return true;
}
