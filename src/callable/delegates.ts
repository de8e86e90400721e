/** A function that reads a member. */
export interface HasMember {
  readonly member: object;
}

type Methods = Record<PropertyKey, (...args: unknown[]) => unknown>;

/** For subclasses only. */
const LEFT_OUT: readonly PropertyKey[] = ['constructor', 'nextExecuteTime'];

/**
 * The prototype of functions that have the public methods and getters of a class, called on their `member`.
 *
 * @param keyed the methods whose first parameter, a key, is an array of the arguments here.
 */
export function delegates(
  member: { readonly prototype: object },
  keyed: readonly PropertyKey[] = [],
): object {
  const methods = Object.create(Function.prototype) as object;
  for (let from = member.prototype; from !== Object.prototype; from = Object.getPrototypeOf(from) as object) {
    for (const name of Reflect.ownKeys(from)) {
      if (LEFT_OUT.includes(name) || Object.hasOwn(methods, name)) continue;
      const isGetter = Object.getOwnPropertyDescriptor(from, name)?.get !== undefined;
      const get = { get: getter(name) };
      Object.defineProperty(methods, name, isGetter ? get : { value: method(name, keyed.includes(name)) });
    }
  }
  return methods;
}

function getter(name: PropertyKey): (this: HasMember) => unknown {
  return function (this: HasMember) {
    return (this.member as Methods)[name];
  };
}

function method(name: PropertyKey, isKeyed: boolean): (this: HasMember, ...args: unknown[]) => unknown {
  return function (this: HasMember, ...args: unknown[]) {
    const member = this.member as Methods;
    return isKeyed ? member[name]?.(args) : member[name]?.(...args);
  };
}
