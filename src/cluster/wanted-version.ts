import type { HeldOptions, MemberName } from '../data/fleet.ts';
import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';

/** A version that all instances are to hold. */
export interface WantedVersion {
  readonly version: number;
  /** How long to wait for that, in milliseconds. */
  readonly timeoutMs: number;
}

/** The least time to wait. */
const SHORTEST_MS = 10_000;

/** A version is taken over with one check and reported with the next. */
const WAITS_CHECKS = 3;

/**
 * The checked options of `everywhere`.
 *
 * @param held the version of the value in place; 0: it has none.
 * @param withinMs the time between two checks; `Infinity`: there are none.
 * @throws {OptionError}
 */
export function wantedVersion(
  { name }: Pick<MemberName, 'name'>,
  given: HeldOptions | undefined,
  held: number,
  withinMs: number,
): WantedVersion {
  namesArgument(name, given, ['version', 'timeout']);
  const { version, timeout = Math.max(SHORTEST_MS, WAITS_CHECKS * withinMs) } = ownOptions(given ?? {});
  const checks = new OptionChecks(name);
  const isChecked = withinMs < Infinity;
  checks.that(isChecked, 'propagateWithin', 'must be given, to know what other instances hold', undefined);
  const wanted = version ?? held;
  const rule = version === undefined ? 'must be given: the value in place has none' : 'must be a version';
  checks.that(Number.isSafeInteger(wanted) && wanted > 0, 'version', rule, version);
  const timeoutMs = checks.durationFromZero('timeout', timeout);
  checks.done();
  return { version: wanted, timeoutMs };
}
