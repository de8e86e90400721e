/**
 * A value as JSON, if it comes back from there as what it was.
 *
 * @throws {TypeError} for what JSON would silently turn into something else: a `Map`, a `Date`, an instance of a class,
 * `NaN`, `undefined` in an array. Not told, since it makes no difference to who reads values: -0 comes back as 0, an
 * object without a prototype with one; symbols as keys, and properties of an array beside its elements, are no part of it.
 */
export function strictJson(value: unknown): string {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key) {
    const held = this[key]; // before any toJSON()
    const what = whatJsonCannotKeep(held, Array.isArray(this));
    if (what !== undefined) throw new TypeError(`JSON can't keep ${what}${key === '' ? '' : ` (at ${key})`}`);
    return held;
  });
  if (text === undefined) throw new TypeError("JSON can't keep undefined");
  return text;
}

function whatJsonCannotKeep(value: unknown, isInArray: boolean): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : `${value}`;
    case 'bigint':
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    case 'undefined':
      return isInArray ? 'undefined in an array' : undefined; // a property without a value is none
    case 'object':
      return value === null || isPlain(value)
        ? undefined
        : `a ${value.constructor?.name ?? 'special object'}`;
    default:
      return undefined;
  }
}

function isPlain(value: object): boolean {
  // By the length of the chain, not by identity: it may be of another realm (a worker, vm, an iframe).
  const prototype = Object.getPrototypeOf(value);
  const base = Array.isArray(value) && prototype !== null ? Object.getPrototypeOf(prototype) : prototype;
  return base === null || Object.getPrototypeOf(base) === null;
}
