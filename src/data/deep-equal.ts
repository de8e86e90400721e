import { createCustomEqual, type State } from 'fast-equals';

/** From this many pairs of parts on those of objects are remembered; smaller values do not need it. */
const REMEMBERED_FROM = 1000;

/**
 * Pairs of parts that were compared in vain: a difference in an array or an object ends the comparison, but a member of a Set, or an
 * object as a key, is compared with each of the other value. About a second.
 */
const MOST_IN_VAIN = 10_000_000;

/**
 * The pairs of objects that a comparison has found equal, or compares now: a value may contain itself, or the same part many
 * times. A pair counts as equal while it is compared; those found within it are forgotten if it turns out to differ.
 */
class ComparedPairs {
  #count = 0;
  #inVain = 0;
  readonly #pairs: Map<unknown, Set<unknown>> = new Map();
  readonly #inOrder: (readonly [unknown, unknown])[] = [];

  areEqual(a: unknown, b: unknown, compare: () => boolean): boolean {
    this.#count += 1;
    const isOfObjects = typeof a === 'object' && typeof b === 'object';
    if (!isOfObjects) return compare();
    if (this.#inVain > MOST_IN_VAIN) return false;
    const begun = this.#count;
    const isEqual = begun < REMEMBERED_FROM ? compare() : this.#remembered(a, b, compare);
    if (!isEqual) this.#inVain += this.#count - begun + 1;
    return isEqual;
  }

  #remembered(a: unknown, b: unknown, compare: () => boolean): boolean {
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
 * Deep equality, also of values that contain themselves. Members of Sets and keys of Maps that are objects are compared with those of the
 * same outline ({@link outlineOf}); where that takes longer than a second, the values count as different.
 */
export const deepEqual: (a: unknown, b: unknown) => boolean = createCustomEqual<ComparedPairs>({
  createState: () => ({ meta: new ComparedPairs() }),
  createInternalComparator: (compare) => (a, b, _keyA, _keyB, _parentA, _parentB, state) =>
    state.meta.areEqual(a, b, () => compare(a, b, state)),
  createCustomConfig: () => ({
    areMapsEqual: (a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>, state) =>
      areAllPrimitive(a.keys()) ? haveEqualValues(a, b, state) : haveEqualEntries([...a], [...b], state),
    areSetsEqual: (a: ReadonlySet<unknown>, b: ReadonlySet<unknown>, state) =>
      areAllPrimitive(a)
        ? haveSameMembers(a, b)
        : haveEqualEntries([...a.entries()], [...b.entries()], state),
  }),
});

type Entry = readonly [key: unknown, value: unknown];

/** Each entry of the one has another one of the other. */
function haveEqualEntries(a: readonly Entry[], b: readonly Entry[], state: State<ComparedPairs>): boolean {
  if (a.length !== b.length) return false;
  const candidates = new Map<unknown, Entry[]>();
  for (const entry of b) {
    const outline = outlineOf(entry[0]);
    const alike = candidates.get(outline);
    if (alike === undefined) candidates.set(outline, [entry]);
    else alike.push(entry);
  }
  const areEqual = (one: unknown, other: unknown): boolean =>
    state.equals(one, other, undefined, undefined, a, b, state);
  return a.every(([key, value]) => {
    const alike = candidates.get(outlineOf(key)) ?? [];
    const at = alike.findIndex(([other, held]) => areEqual(key, other) && areEqual(value, held));
    if (at >= 0) alike.splice(at, 1);
    return at >= 0;
  });
}

/** A text that is the same for equal objects, and mostly another one for others: their properties that are primitive. */
function outlineOf(thing: unknown): unknown {
  if (typeof thing !== 'object' || thing === null) return thing;
  const isPlain = Object.prototype.toString.call(thing) === '[object Object]';
  if (!isPlain && !Array.isArray(thing)) return 'other';
  const parts = Object.entries(thing).flatMap(([name, part]) =>
    typeof part === 'object' || part === undefined ? [] : [`${name}=${typeof part}:${String(part)}`],
  );
  return parts.sort().join();
}

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
