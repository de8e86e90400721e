import { ownIdOf } from '../data/id-of.ts';
import type { Accept, AcceptDetails } from '../guard/accept.ts';
import { ownSizeOf } from '../guard/size.ts';
import { OptionChecks } from '../option-checks.ts';

/**
 * A guard that accepts what all of these accept. They are asked in their order, one after the other; the first refusal is
 * the answer, and the others are not asked. It is synchronous if they are. Without guards it accepts any value.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 * import { every, notEmpty, shrinksAtMost } from 'tickless/guards';
 *
 * const editions = [['apple', 'pear', 'plum'], ['apple']];
 * const accept = every(notEmpty(), shrinksAtMost(0.3));
 * const value = new RefreshingValue({ name: 'prices', load: () => editions.shift() ?? [], accept, logger: false });
 * await value.get();
 * await value.refresh().catch((error) => console.log(error.message));
 * // prints: prices: value refused: it shrinks by 66.7 %, at most 30 % is allowed (size 1, before 3)
 * ```
 *
 * A guard that is written here gets the type of the value: that of the class (`new RefreshingValue<Prices>`), else inferred from
 * `load`. Where `load` has a parameter without a type, which compilers look at last, it is `any`: write
 * `({ signal }: LoadContext) => …` there, or `(prices: Prices) => …` here.
 *
 * @throws {TicklessError} `OPTION` when one is not a function.
 */
// biome-ignore lint/suspicious/noExplicitAny: a load that has a parameter without a type is inferred after its guards.
export function every<T = any>(...guards: readonly Accept<T>[]): Accept<T> {
  const checks = new OptionChecks('every');
  for (const [index, guard] of guards.entries()) checks.function(`guards[${index}]`, guard);
  checks.done();
  const sizeOf = guards.map(ownSizeOf).find((one) => one !== undefined);
  const idOf = guards.map(ownIdOf).find((one) => one !== undefined);
  const accept: Accept<T> = (candidate, details) => ask(guards, candidate, details);
  return Object.assign(accept, sizeOf && { sizeOf }, idOf && { idOf });
}

function ask<T>(
  [first, ...others]: readonly Accept<T>[],
  candidate: T,
  details: AcceptDetails<T>,
): ReturnType<Accept<T>> {
  if (first === undefined) return true;
  const next = (verdict: Verdict): ReturnType<Accept<T>> =>
    verdict === true ? ask(others, candidate, details) : verdict;
  const verdict = first(candidate, details);
  return isVerdict(verdict) ? next(verdict) : Promise.resolve(verdict).then(next);
}

type Verdict = Awaited<ReturnType<Accept>>;

function isVerdict(verdict: ReturnType<Accept>): verdict is Verdict {
  return typeof verdict !== 'object' || verdict === null || !('then' in verdict);
}
