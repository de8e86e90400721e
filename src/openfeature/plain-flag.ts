import { showKey } from '../errors.ts';
import { constant, FLAG_VALUE_RULE, type Flag, faulty, isFlagValue } from './flag.ts';
import { Reason } from './sdk.ts';

/** A flag that is its value. */
export function plainFlag(value: unknown): Flag {
  if (!isFlagValue(value)) return faulty(value, `must be ${FLAG_VALUE_RULE}, not ${showKey(value)}`);
  return constant(value, { value, reason: Reason.STATIC });
}
