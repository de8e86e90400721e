/** An object literal or `Object.create(null)`, also of another realm; not an instance of a class. */
export function isPlainObject(thing: unknown): thing is Record<string, unknown> {
  if (Object.prototype.toString.call(thing) !== '[object Object]') return false;
  const prototype: unknown = Object.getPrototypeOf(thing);
  if (prototype === null) return true;
  // `Object.prototype`, of any realm. The prototype of a class that extends `null` has no `isPrototypeOf` of its own.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}
