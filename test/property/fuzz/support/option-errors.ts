import { expect } from 'vitest';
import { isOptionError, type OptionError } from '../../../../src/index.ts';

/** Narrows an error to `OptionError`; rethrows any other. */
export function optionErrorOf(error: unknown): OptionError {
  if (!isOptionError(error)) throw error;
  expect(error.message).toContain(`${error.option} ${error.rule}, received `);
  return error;
}
