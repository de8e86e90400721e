import type { Accept } from '../guard/accept.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { candidateSize, countingGuard, type SizeOptions } from './sizes.ts';

/**
 * A guard that refuses a value of the size 0.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { notEmpty } from 'tickless/guards';
 *
 * const value = new RefreshingValue({ name: 'prices', load: () => [], accept: notEmpty(), logger: false });
 * await value.get().catch((error) => console.log(error.message)); // prints: prices: value refused: it is empty (size 0)
 * ```
 *
 * @throws {TicklessError} `OPTION` for options that are none; as a guard, for a value without a size.
 */
export function notEmpty<T = unknown>(options?: SizeOptions<T>): Accept<T> {
  const { sizeOf } = ownOptions(options ?? {});
  const guard: Accept<T> = (candidate) => candidateSize('notEmpty', candidate, sizeOf) > 0 || 'it is empty';
  return countingGuard(options, guard, new OptionChecks('notEmpty'));
}
