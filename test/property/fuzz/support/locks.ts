import { isTicklessError } from '../../../../src/index.ts';
import type { Lock } from '../../../../src/records/lock/create-lock.ts';
import type { Records } from '../../../../src/records/records.ts';
import { lockOn } from '../../../support/parts.ts';
import { expectReadable } from './hostile.ts';

export const lockOf = (records: Records): Lock =>
  lockOn(records, {}, { longestName: undefined, options: [] });

/** The answer of a step, or that it could not be had, with a reason that people can read. */
export async function answered<R>(step: Promise<R>): Promise<R | undefined> {
  try {
    return await step;
  } catch (error) {
    if (!isTicklessError(error, 'BACKEND_DOWN')) throw error;
    expectReadable(error.message);
    return undefined;
  }
}
