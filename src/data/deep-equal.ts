import { createCustomEqual, type State } from 'fast-equals';

/** From this many pairs of objects on they are remembered; smaller values do not need it. */
const REMEMBERED_FROM = 1000;

/**
 * The pairs of objects that a comparison has found equal, or compares now: a value may contain itself, or the same part many
 * times. A pair counts as equal while it is compared; those found within it are forgotten if it turns out to differ.
 */
class ComparedPairs {
  #count = 0;
  readonly #pairs: Map<unknown, Set<unknown>> = new Map();
  readonly #inOrder: (readonly [unknown, unknown])[] = [];

  areEqual(a: unknown, b: unknown, compare: () => boolean): boolean {
    if (typeof a !== 'object' || typeof b !== 'object') return compare();
    this.#count += 1;
    if (this.#count < REMEMBERED_FROM) return compare();
    if (this.#pairs.get(a)?.has(b)) return true;
    const before = this.#inOrder.length;
    const others = this.#pairs.get(a) ?? new Set();
    this.#pairs.set(a, others.add(b));
    this.#inOrder.push([a, b]);
    const isEqual = compare();
    if (!isEqual)
      for (const [one, other] of this.#inOrder.splice(before)) this.#pairs.get(one)?.delete(other);
    return isEqual;
  }
}

/**
 * Deep equality, also of values that contain themselves. Maps and Sets whose keys are primitive are compared by key. The library
 * compares each entry with each of the other value: for 40,000 entries that takes many seconds.
 */
export const deepEqual: (a: unknown, b: unknown) => boolean = createCustomEqual<ComparedPairs>({
  createState: () => ({ meta: new ComparedPairs() }),
  createInternalComparator: (compare) => (a, b, _keyA, _keyB, _parentA, _parentB, state) =>
    state.meta.areEqual(a, b, () => compare(a, b, state)),
  createCustomConfig: ({ areMapsEqual, areSetsEqual }) => ({
    areMapsEqual: (a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>, state) =>
      areAllPrimitive(a.keys()) ? haveEqualValues(a, b, state) : areMapsEqual(a, b, state),
    areSetsEqual: (a: ReadonlySet<unknown>, b: ReadonlySet<unknown>, state) =>
      areAllPrimitive(a) ? haveSameMembers(a, b) : areSetsEqual(a, b, state),
  }),
});

function areAllPrimitive(keys: Iterable<unknown>): boolean {
  for (const key of keys) {
    if (typeof key === 'function' || (typeof key === 'object' && key !== null)) return false;
  }
  return true;
}

function haveEqualValues(
  a: ReadonlyMap<unknown, unknown>,
  b: ReadonlyMap<unknown, unknown>,
  state: State<ComparedPairs>,
): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    if (!b.has(key) || !state.equals(value, b.get(key), key, key, a, b, state)) return false;
  }
  return true;
}

function haveSameMembers(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const member of a) if (!b.has(member)) return false;
  return true;
}
