import { createCustomEqual, type State } from 'fast-equals';

/**
 * Deep equality. Maps and Sets whose keys are primitive are compared by key. The library compares each entry with each of the
 * other value: for 40,000 entries that takes many seconds.
 */
export const deepEqual: (a: unknown, b: unknown) => boolean = createCustomEqual({
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
  state: State<undefined>,
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
