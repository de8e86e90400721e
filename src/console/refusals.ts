import { isClosedError, isOptionError, isPinnedError } from '../index.ts';

/** It can't be done to this member: a text for the operator. Thrown before anything is changed. */
export class Refusal extends Error {}

/** Nothing was changed: it can't be done to this member, or not now. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Refusal || isOptionError(error) || isPinnedError(error) || isClosedError(error);
}
