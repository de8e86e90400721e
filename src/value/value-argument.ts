import { OptionChecks } from '../option-checks.ts';
import type { ResolvedOptions } from '../options/resolve-options.ts';
import { isThenable } from '../time/deferred.ts';

/**
 * Checks a value that is put in by hand.
 *
 * @throws {OptionError} for `undefined` without `allowUndefined`, and for a promise, which is to be awaited first.
 */
export function checkValue({ name, allowUndefined }: ResolvedOptions, key: unknown, value: unknown): void {
  const checks = new OptionChecks(name, key);
  const isAllowed = value !== undefined || allowUndefined;
  checks.that(isAllowed, 'value', 'must not be undefined without allowUndefined', value);
  checks.that(!isThenable(value), 'value', 'must not be a promise', value);
  checks.done();
}
