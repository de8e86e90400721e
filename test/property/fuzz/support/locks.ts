import { isLockUnavailableError } from '../../../../src/index.ts';
import { createLock, type Lock } from '../../../../src/lock/create-lock.ts';
import type { LockBackend } from '../../../../src/lock/lock-backend.ts';
import { expectReadable } from './hostile.ts';

export const lockOf = (engine: LockBackend): Lock =>
  createLock(engine, {}, { longestName: undefined, options: [] });

/** The answer of a step, or that it could not be had, with a reason that people can read. */
export async function answered<R>(step: Promise<R>): Promise<R | undefined> {
  try {
    return await step;
  } catch (error) {
    if (!isLockUnavailableError(error)) throw error;
    expectReadable(error.message);
    return undefined;
  }
}
