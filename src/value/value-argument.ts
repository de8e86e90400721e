import { isAnswer } from '../engine/load-result.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { OptionChecks } from '../option-checks.ts';
import { ignoreThenable, isThenable } from '../time/deferred.ts';

/**
 * Checks a value that is set by hand.
 *
 * @throws {TicklessError} `OPTION` for `undefined`, for a promise, which must be awaited first, and for what only
 *   loads return: `keep()`, `loaded()`, `absent()`.
 */
export function checkValue({ name }: Pick<ResolvedOptions, 'name'>, key: unknown, value: unknown): void {
  const checks = new OptionChecks(name, key);
  checks.that(value !== undefined, 'value', 'must not be undefined', value);
  checks.that(!isThenable(ignoreThenable(value)), 'value', 'must not be a promise', value);
  checks.that(!isAnswer(value), 'value', 'must not be the result of keep(), loaded() or absent()', value);
  checks.done();
}
