/**
 * A value as JSON, if decoding gives the same value again.
 *
 * @throws {TypeError} for values that JSON would change: a `Map`, a `Date`, an instance of a class, `NaN`, -0, `undefined`.
 * Some changes are accepted, because readers see no difference: an object without a prototype gets one; symbols as keys,
 * and properties of an array beside its elements, are left out.
 */
export function strictJson(value: unknown): string {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key) {
    const held = this[key]; // before any toJSON()
    const lossy = lossyKind(held);
    if (lossy !== undefined)
      throw new TypeError(`JSON can't keep ${lossy}${key === '' ? '' : ` (at ${key})`}`);
    return held;
  });
  return text;
}

/** Describes a value that JSON can't keep. */
function lossyKind(value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? undefined : `${value}`;
    case 'bigint':
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    case 'undefined':
      return 'undefined';
    case 'object':
      return value === null || isPlain(value)
        ? undefined
        : `a ${value.constructor?.name ?? 'special object'}`;
    default:
      return undefined;
  }
}

function isPlain(value: object): boolean {
  // By the length of the chain, not by identity: the object may come from another realm (a worker, vm, an iframe).
  const prototype = Object.getPrototypeOf(value);
  const base = Array.isArray(value) && prototype !== null ? Object.getPrototypeOf(prototype) : prototype;
  return base === null || Object.getPrototypeOf(base) === null;
}
