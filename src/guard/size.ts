/**
 * The number of elements of an array, a `Map` or a `Set`, the number of properties of a plain object. `undefined` for
 * anything else. Also of another realm.
 */
export function countOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  switch (Object.prototype.toString.call(value)) {
    case '[object Map]':
    case '[object Set]':
      return (value as ReadonlySet<unknown>).size;
    case '[object Object]':
      return isRecord(value as object) ? Object.keys(value as object).length : undefined;
    default:
      return undefined;
  }
}

/** An object literal or `Object.create(null)`, not an instance of a class. */
function isRecord(thing: object): boolean {
  const prototype = Object.getPrototypeOf(thing);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
