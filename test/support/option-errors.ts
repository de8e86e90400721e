import { expect } from 'vitest';
import { isTicklessError } from '../../src/index.ts';

/** For `toMatchObject`: the error whose first option is this one, with this beginning of its rule. */
export function ofOption(option: string, rule: string = ''): { code: 'OPTION'; message: string } {
  return { code: 'OPTION', message: expect.stringContaining(`: ${option} ${rule}`) };
}

/** The options that an error is about, in their order, with the rule and the received value of each. Rethrows any other error. */
export function problemsIn(error: unknown): { option: string; rule: string; received: string }[] {
  if (!isTicklessError(error, 'OPTION')) throw error;
  const told = error.message.slice(error.message.indexOf(': ') + 2);
  return told.split(/; (?=\S+ (?:must|is|needs) )/).map((one) => {
    const [, option = '', rule = '', received = ''] = /^(\S+) (.*), received (.*)$/s.exec(one) ?? [];
    return { option, rule, received };
  });
}

/** The options that an error is about, in their order. */
export function optionsIn(error: unknown): string[] {
  return problemsIn(error).map(({ option }) => option);
}
