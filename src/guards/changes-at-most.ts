import { type ElementOf, ownIdOf } from '../data/id-of.ts';
import { keyFieldOf } from '../data/key-field.ts';
import type { Accept, AcceptDetails } from '../guard/accept.ts';
import { ownSizeOf } from '../guard/size.ts';
import { checkNumber, OptionChecks, ownOptions } from '../option-checks.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { candidateSize, countingGuard, percent, previousSize, ROUNDING, type SizeOptions } from './sizes.ts';

/** The options of {@link changesAtMost}. */
export interface ChangeOptions<T> extends Omit<SizeOptions<T>, 'idOf'> {
  /**
   * The identity of an element of an array or a `Set` that is an object, such as its code; the console compares a refused list by it. Not
   * beside `sizeOf`. @default a field `id`, `code`, `key` or `name` that tells the elements of both lists apart; without one they are
   * only counted: objects that were loaded anew are never the same
   */
  readonly idOf?: ((element: ElementOf<T>) => unknown) | undefined;
}

/**
 * A guard that refuses a value in which more than this share of the value before was replaced: elements that came, or
 * elements that went, whichever are more. It sees a list of another country that is as long as the right one.
 *
 * A `Map` and a plain object are compared by their keys, a `Set` and an array by their elements (`idOf`). Whether the
 * value under a key has changed is not looked at. With `sizeOf` only sizes are compared. Accepts a value with none before
 * it to compare with, or an empty one.
 *
 * @param share from 0 (nothing may come or go), finite: 0.5 allows 50 new and 50 lost elements after 100.
 * @throws {TicklessError} `OPTION` for another share; as a guard, for a value without a size.
 */
// biome-ignore lint/suspicious/noExplicitAny: a load that has a parameter without a type is inferred after its guards.
export function changesAtMost<T = any>(share: number, options?: ChangeOptions<T>): Accept<T> {
  const checks = new OptionChecks('changesAtMost');
  const { sizeOf, idOf } = ownOptions(options ?? {});
  checkNumber(checks, 'share', share, 0);
  checks.that(sizeOf === undefined || idOf === undefined, 'idOf', 'must not be given beside sizeOf', idOf);
  const guard: Accept<T> = (candidate, { previous }) => {
    const size = candidateSize('changesAtMost', candidate, sizeOf);
    const before = previous && previousSize(previous.value, sizeOf);
    if (!previous || !before) return true;
    const kept = sizeOf === undefined ? keptOf(previous.value, candidate, idOf) : Math.min(size, before);
    const changes = Math.max(size - kept, before - kept) / before;
    if (changes <= share + ROUNDING) return true;
    return `${percent(changes)} of it changes, at most ${percent(share)} is allowed`;
  };
  return countingGuard(options, guard, checks);
}

/** The number of elements that both have. An element that occurs twice counts twice. */
function keptOf(before: unknown, after: unknown, idOf: ChangeOptions<unknown>['idOf']): number {
  const [earlier, later] = [elementsOf(before), elementsOf(after)];
  if (earlier !== undefined && later !== undefined && idOf === undefined) {
    const field = keyFieldOf(earlier, later);
    if (field !== undefined) return keptOf(earlier, later, (row) => row[field]);
  }
  const counts = new Map<unknown, number>();
  for (const id of idsOf(before, idOf)) counts.set(id, (counts.get(id) ?? 0) + 1);
  let kept = 0;
  for (const id of idsOf(after, idOf)) {
    const left = counts.get(id) ?? 0;
    if (left === 0) continue;
    counts.set(id, left - 1);
    kept += 1;
  }
  return kept;
}

/** Objects without an identity are all the same. */
const OBJECT = {};

function idsOf(value: unknown, idOf: ChangeOptions<unknown>['idOf']): Iterable<unknown> {
  if (Object.prototype.toString.call(value) === '[object Map]')
    return (value as ReadonlyMap<unknown, unknown>).keys();
  const elements = elementsOf(value);
  if (elements === undefined) return Object.keys(value as object);
  return elements.map((element) => {
    const isObject = typeof element === 'object' && element !== null;
    if (!isObject) return element;
    return idOf === undefined ? OBJECT : ignoreThenable(idOf(element as never));
  });
}

/** Those of an array or a `Set`. */
function elementsOf(value: unknown): readonly unknown[] | undefined {
  const isSet = Object.prototype.toString.call(value) === '[object Set]';
  return isSet ? [...(value as ReadonlySet<unknown>)] : Array.isArray(value) ? value : undefined;
}

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
