import { expect } from 'vitest';
import { optionsIn } from '../../../support/option-errors.ts';

/** The first option of an `OPTION` error, and its message; rethrows any other error. */
export function optionErrorOf(error: unknown): { option: string; message: string } {
  const [option = ''] = optionsIn(error);
  const { message } = error as Error;
  expect(message).toMatch(/ (must|is) .*, received /s);
  return { option, message };
}
