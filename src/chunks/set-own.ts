/** Sets an own property, also one named `__proto__`. */
export function setOwn(object: object, key: string, value: unknown): void {
  if (key !== '__proto__') (object as Record<string, unknown>)[key] = value;
  else Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}
