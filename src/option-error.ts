import { type ErrorDetails, show, TicklessError } from './errors.ts';
import { firstFew, printable } from './printable.ts';

/** One invalid option. */
export interface OptionProblem {
  /** The option, with its path: `retry.minTimeout`. */
  readonly option: string;
  /** The rule, as a text that follows the name of the option: `must be a duration over 0`. */
  readonly rule: string;
  /** The invalid value. */
  readonly received: unknown;
}

/** Bounds of the message: there may be many problems, and each may be long. */
const MOST_PROBLEMS = 20;
const LONGEST_RECEIVED = 200;

/** The error of invalid options, in the order of their documentation. */
export function optionError(problems: readonly OptionProblem[], details: ErrorDetails): TicklessError {
  return new TicklessError('OPTION', firstFew(problems, MOST_PROBLEMS, describe, '; '), details);
}

function describe({ option, rule, received }: OptionProblem): string {
  return `${option} ${rule}, received ${printable(show(received), LONGEST_RECEIVED)}`;
}
