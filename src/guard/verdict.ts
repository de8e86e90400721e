import { showKey } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';

/** Why a guard refuses, from what it has returned instead of `true`; with the error that it has returned, if it is one. */
export function refusalOf(verdict: unknown): [reason: string, cause?: unknown] {
  if (verdict instanceof Error) return [messageOf(verdict), verdict];
  if (typeof verdict === 'string' && verdict !== '') return [verdict];
  return [`accept returned ${showKey(verdict)}, expected true or a reason`];
}
