import type { ExecutionStatus, ValueStatus } from '../index.ts';
import { Refusal } from './refusals.ts';

// An operator decides on what the page or the terminal has shown. The request names that, and is refused when it is not in place any more.

/** The fields of a request that name it: see `ActionRequest`. */
interface Seen {
  readonly present: number | undefined;
  readonly since: number | undefined;
  readonly drop: boolean;
}

/** Instants are computed from ages: those of one load differ by this much, in milliseconds. */
const SAME_MS = 100;

/** @throws {Refusal} when the request does not name the version in place that was shown. */
export function seenVersion({ present }: Seen): number {
  if (present === undefined) throw new Refusal('present is missing: the version in place that was shown');
  return present;
}

/** @throws {Refusal} when the load under way is not the one that was shown. */
export function throwUnlessRunning(status: ExecutionStatus | undefined, { since }: Seen): void {
  throwUnless('the load', status?.runningSince, since);
}

/** @throws {Refusal} when a value is to be dropped, and it is not the one that was shown. */
export function throwUnlessInPlace(status: ValueStatus<unknown> | undefined, { drop, since }: Seen): void {
  const age = status?.age;
  if (drop) throwUnless('the value', age === undefined ? undefined : Date.now() - age, since);
}

/** Where there is nothing, the member says so itself. */
function throwUnless(what: string, now: number | undefined, seen: number | undefined): void {
  if (now === undefined) return;
  if (seen === undefined) throw new Refusal(`since is missing: the instant of ${what} that was shown`);
  if (Math.abs(now - seen) > SAME_MS)
    throw new Refusal(`${what} that was shown is over, another one is there: look at it again`);
}
