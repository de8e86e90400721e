import type { Accept } from '../guard/accept.ts';
import { checkNumber, isNumber, OptionChecks } from '../option-checks.ts';
import { comparingGuard, percent, ROUNDING, type SizeOptions } from './sizes.ts';

/**
 * A guard that refuses a value which is smaller than the one before by more than this share of it.
 *
 * Accepts a value with none before it to compare with, or an empty one: combine it with `notEmpty()`. Many small steps add
 * up: each is compared with the value that was accepted last.
 *
 * @param share from 0 (it may not shrink) to 1 (it may become empty): 0.3 allows 700 after 1,000.
 * @throws {TicklessError} `OPTION` for another share; as a guard, for a value without a size.
 */
// biome-ignore lint/suspicious/noExplicitAny: a load that has a parameter without a type is inferred after its guards.
export function shrinksAtMost<T = any>(share: number, options?: SizeOptions<T>): Accept<T> {
  const checks = new OptionChecks('shrinksAtMost');
  checks.that(isNumber(share, 0, 1), 'share', 'must be a number from 0 to 1', share);
  const refusalOf = (size: number, before: number): string | undefined => {
    const shrinks = 1 - size / before;
    if (shrinks <= share + ROUNDING) return undefined;
    return `it shrinks by ${percent(shrinks)}, at most ${percent(share)} is allowed`;
  };
  return comparingGuard('shrinksAtMost', options, refusalOf, checks);
}

/**
 * A guard that refuses a value which is larger than the one before times this factor.
 *
 * Accepts a value with none before it to compare with, or an empty one.
 *
 * @param factor from 1 (it may not grow), finite: 2 allows 2,000 after 1,000.
 * @throws {TicklessError} `OPTION` for another factor; as a guard, for a value without a size.
 */
// biome-ignore lint/suspicious/noExplicitAny: a load that has a parameter without a type is inferred after its guards.
export function growsAtMost<T = any>(factor: number, options?: SizeOptions<T>): Accept<T> {
  const checks = new OptionChecks('growsAtMost');
  checkNumber(checks, 'factor', factor, 1);
  const refusalOf = (size: number, before: number): string | undefined => {
    const grows = size / before;
    if (grows <= factor + ROUNDING) return undefined;
    return `it grows to ${Number(grows.toPrecision(3))} times its size, at most ${factor} is allowed`;
  };
  return comparingGuard('growsAtMost', options, refusalOf, checks);
}
