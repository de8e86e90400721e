import { countOf } from '../data/count-of.ts';
import type { ElementOf } from '../data/id-of.ts';
import type { Accept } from '../guard/accept.ts';
import { checkNumber, isNumber, OptionChecks, ownOptions } from '../option-checks.ts';
import { ignoreThenable } from '../time/deferred.ts';

/** The options of guards that count. */
export interface SizeOptions<T> {
  /**
   * The size of a value, a finite number from 0. @default the number of elements of an array, a `Map` or a `Set`, of
   * properties of a plain object; any other value is an `OPTION` error
   */
  readonly sizeOf?: ((value: T) => number) | undefined;
  /**
   * The identity of an element of an array or a `Set` that is an object, such as its code: the console compares a refused list by it.
   * @default a field `id`, `code`, `key` or `name` that tells the elements of both lists apart, else the content
   */
  readonly idOf?: ((element: ElementOf<T>) => unknown) | undefined;
}

/** The size of a candidate. @throws {TicklessError} `OPTION` when it has none, or `sizeOf` returns what is not a size. */
export function candidateSize<T>(guard: string, candidate: T, sizeOf: SizeOptions<T>['sizeOf']): number {
  const size = sizeOf === undefined ? countOf(candidate) : ignoreThenable(sizeOf(candidate));
  const checks = new OptionChecks(guard);
  const isSize = isNumber(size, 0, Number.MAX_VALUE);
  if (sizeOf === undefined) {
    const rule = 'must be given for a value that is not an array, a Map, a Set or a plain object';
    checks.that(isSize, 'sizeOf', rule, candidate);
  } else checks.that(isSize, 'sizeOf', 'must return a finite number of 0 or more', size);
  checks.done();
  return size as number;
}

/**
 * Makes a guard that counts, which says how to `accept`.
 *
 * @throws {TicklessError} `OPTION` for options that are none.
 */
export function countingGuard<T, O extends SizeOptions<T>>(
  options: O | undefined,
  guard: Accept<T>,
  checks: OptionChecks,
): Accept<T> {
  const own = ownOptions(options ?? ({} as O));
  const given = own as Readonly<Record<string, unknown>>;
  checks.names('', given, ['sizeOf', 'idOf']);
  const named = Object.entries(given).filter(([, one]) => one !== undefined);
  for (const [name, one] of named) checks.function(name, one);
  checks.done();
  return Object.assign(guard, Object.fromEntries(named));
}

/** A guard that compares the size of a candidate with that of the value before. Without one, or an empty one, it accepts. */
function comparingGuard<T>(
  name: string,
  options: SizeOptions<T> | undefined,
  refusalOf: (size: number, previousSize: number) => string | undefined,
  checks: OptionChecks,
): Accept<T> {
  const { sizeOf } = ownOptions(options ?? {});
  const guard: Accept<T> = (candidate, { previous }) => {
    const size = candidateSize(name, candidate, sizeOf);
    const before = previous && previousSize(previous.value, sizeOf);
    return (before && refusalOf(size, before)) || true;
  };
  return countingGuard(options, guard, checks);
}

/** `undefined`: it has none, so there is nothing to compare with. */
export function previousSize<T>(value: T, sizeOf: SizeOptions<T>['sizeOf']): number | undefined {
  return sizeOf === undefined ? countOf(value) : ignoreThenable(sizeOf(value));
}

/** A share for people: `53 %`, `30.1 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}

/** Sizes are compared as shares: 29 of 100 is not more than 0.29. */
export const ROUNDING = 1e-9;

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
