/** An object literal or `Object.create(null)`, also of another realm; not an instance of a class. */
export function isPlainObject(thing: unknown): thing is Record<string, unknown> {
  if (Object.prototype.toString.call(thing) !== '[object Object]') return false;
  const prototype: unknown = Object.getPrototypeOf(thing);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
