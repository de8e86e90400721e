import { expect } from 'vitest';
import { isOptionError, type OptionError } from '../../../../src/index.ts';

/** The error as the one that tells of a broken rule; any other is a crash, and thrown on. */
export function optionErrorOf(error: unknown): OptionError {
  if (!isOptionError(error)) throw error;
  expect(error.message).toContain(`${error.option} ${error.rule}, received `);
  return error;
}
