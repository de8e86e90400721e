import { isAnswer } from '../engine/load-result.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { OptionChecks } from '../option-checks.ts';
import { ignoreThenable, isThenable } from '../time/deferred.ts';

/**
 * Checks a value that is set by hand.
 *
 * @throws {TicklessError} `OPTION` for `undefined` without `allowUndefined`, and for a promise, which must be awaited first, and for what only
 *   loads return: `keep()`, `loaded()`, `absent()`.
 */
export function checkValue({ name, allowUndefined }: ResolvedOptions, key: unknown, value: unknown): void {
  const checks = new OptionChecks(name, key);
  const isAllowed = value !== undefined || allowUndefined;
  checks.that(isAllowed, 'value', 'must not be undefined without allowUndefined', value);
  checks.that(!isThenable(ignoreThenable(value)), 'value', 'must not be a promise', value);
  checks.that(!isAnswer(value), 'value', 'must not be the result of keep(), loaded() or absent()', value);
  checks.done();
}
