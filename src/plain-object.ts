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

/** A method of the object or of its class; `undefined`: it has none but one that a bug elsewhere has given to every object. */
export function methodOf<T extends object, Name extends keyof T>(thing: T, name: Name): T[Name] | undefined {
  const method = thing[name];
  const ofAll = (Object.prototype as Partial<T>)[name];
  return typeof method === 'function' && method !== ofAll ? method : undefined;
}
