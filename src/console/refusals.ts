import { type ErrorCode, isTicklessError } from '../index.ts';

/** It can't be done to this member: a text for the operator. Thrown before anything is changed. */
export class Refusal extends Error {}

const REFUSALS: readonly ErrorCode[] = ['OPTION', 'PINNED', 'CLOSED'];

/** Nothing was changed: it can't be done to this member, or not now. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Refusal || (isTicklessError(error) && REFUSALS.includes(error.code));
}
