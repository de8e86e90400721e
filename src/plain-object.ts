/** An object literal or `Object.create(null)`, also of another realm; not an instance of a class. */
export function isPlainObject(thing: unknown): thing is Record<string, unknown> {
  if (Object.prototype.toString.call(thing) !== '[object Object]') return false;
  const prototype: unknown = Object.getPrototypeOf(thing);
  return prototype === null || isObjectPrototype(prototype);
}

/** It is `Object.prototype`, of any realm (a worker, vm, an iframe); not that of a class, also of one that extends `null`. */
export function isObjectPrototype(thing: unknown): boolean {
  if (thing === Object.prototype) return true;
  return Object.getPrototypeOf(thing) === null && Object.hasOwn(thing as object, 'isPrototypeOf');
}
