import type { Entry } from '../engine/entry.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { CHECK_CLOCKS_EVERY_MS } from '../time/step-watch.ts';
import { PIN_CHECK_MS, type Pin } from './pin.ts';
import { sharedStateOf } from './shared-state.ts';

/** The version in place is pinned: it is not due before the next check, for which no group looks ahead. */
export function keepUntilCheck(
  entry: Entry<unknown>,
  { untilAt }: Pin,
  { clock, now }: ResolvedOptions,
): void {
  const at = clock.monotonic();
  const forMs = Math.min(PIN_CHECK_MS, untilAt - at);
  entry.clearFailures();
  entry.coolDownUntil = Number.NEGATIVE_INFINITY;
  entry.isInvalidated = entry.isScheduled = false;
  entry.nextExecuteTime = now() + Math.ceil(forMs);
  entry.setDue(at + forMs, at, at + CHECK_CLOCKS_EVERY_MS);
  entry.deferredUntil = entry.dueAt;
}

/** The next read looks for the version that is to be served. @param now the monotonic clock. */
export function checkAtNextRead(entry: Entry<unknown>, now: number): void {
  entry.deferredUntil = Number.NEGATIVE_INFINITY;
  entry.setDue(now, now);
}

/** The pin that is known here is over: the version that had it is due, and its age limit applies again. */
export function endPin(entry: Entry<unknown>, { maxStalenessMs, clock }: ResolvedOptions): void {
  const state = sharedStateOf(entry);
  const { pin, isUnpublished } = state;
  state.pin = undefined;
  if (pin === undefined || isUnpublished) return;
  entry.maxStalenessOverrideMs = pin.maxStalenessMs;
  entry.maxStalenessMs = pin.maxStalenessMs ?? maxStalenessMs;
  checkAtNextRead(entry, clock.monotonic());
}
