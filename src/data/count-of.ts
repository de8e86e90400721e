import { isPlainObject } from '../plain-object.ts';

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
      return isPlainObject(value) ? Object.keys(value as object).length : undefined;
    default:
      return undefined;
  }
}
