import { isPlainObject } from '../plain-object.ts';
import { ignoreThenable } from '../time/deferred.ts';

/** Returns what tells a record of an array from the others: its code, say. Records with the same id count as one, the last. */
export type IdOf = (record: never) => unknown;

/**
 * The parts of a value under their ids: the entries of a Map or a plain object, the members of a Set, the elements of an
 * array. Elements that are objects have the ids that `idOf` returns.
 *
 * @returns a Map of its own, or the value where it is a Map; `undefined` for any other value, and for an array of objects
 *   without `idOf`.
 */
export function itemsOf(value: unknown, idOf?: IdOf): ReadonlyMap<unknown, unknown> | undefined {
  if (value instanceof Map) return value;
  if (value instanceof Set) return new Map(value.entries());
  if (Array.isArray(value)) return elementsOf(value, idOf as ((record: unknown) => unknown) | undefined);
  if (isPlainObject(value)) return new Map(Object.entries(value));
  return undefined;
}

function elementsOf(
  elements: readonly unknown[],
  idOf: ((record: unknown) => unknown) | undefined,
): ReadonlyMap<unknown, unknown> | undefined {
  const items = new Map<unknown, unknown>();
  for (const element of elements) {
    const isRecord = typeof element === 'object' && element !== null;
    if (isRecord && idOf === undefined) return undefined;
    items.set(isRecord ? ignoreThenable(idOf?.(element)) : element, element);
  }
  return items;
}
