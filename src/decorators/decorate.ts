import type { Call } from '../callable/refreshing.ts';

/** A decorated method or getter. */
export interface Decorated {
  readonly original: (this: object) => unknown;
  readonly kind: 'method' | 'getter';
  readonly name: string;
  readonly key: PropertyKey;
  /** The prototype, class or instance that declares it. `undefined`: not known, as by the standard. */
  readonly home: object | undefined;
  /** Its name is private: `#name`. */
  readonly isPrivate: boolean;
  /**
   * Calls a function with each instance while that is made, before its fields have values: of the standard only. With
   * `experimentalDecorators` a decorator does not learn of instances.
   */
  readonly onInstance?: ((act: (instance: object) => void) => void) | undefined;
}

/** A method that returns a promise. */
export type AsyncMethod = (...args: never[]) => Promise<unknown>;

/** The context of a decorator of the standard, as far as it matters here. */
export interface DecoratorContext<Kind extends Decorated['kind']> {
  readonly kind: Kind;
  readonly name: string | symbol;
}

/** The same as it comes. */
interface AnyContext {
  readonly kind: string;
  readonly name: PropertyKey;
  readonly private?: boolean;
  addInitializer?(initializer: (this: object) => void): void;
}

/** Returns the function that takes the place of the original. */
type Replace = (decorated: Decorated) => Call;

/**
 * A decorator of both kinds: of the standard, which is called with the function and a context, and of
 * `experimentalDecorators`, which is called with a prototype, a name and a descriptor.
 *
 * @param about its name, for errors.
 * @throws {TypeError} on anything but a method or one of `kinds`.
 */
export function decorator(about: string, kinds: readonly Decorated['kind'][], replace: Replace): never {
  const checked = (
    original: unknown,
    kind: string,
    key: PropertyKey,
    from: Pick<Decorated, 'home' | 'isPrivate' | 'onInstance'>,
  ): Call => {
    if (typeof original !== 'function' || !kinds.includes(kind as Decorated['kind'])) {
      throw new TypeError(
        `@${about} must decorate a ${kinds.join(' or a ')}, but ${String(key)} is a ${kind}`,
      );
    }
    const known = { original: original as Call, kind: kind as Decorated['kind'], name: String(key), key };
    const decorated: Decorated = { ...known, ...from };
    return alike(replace(decorated), decorated.original);
  };
  const decorate = (
    target: unknown,
    nameOrContext: PropertyKey | AnyContext,
    descriptor?: PropertyDescriptor,
  ): unknown => {
    if (typeof nameOrContext === 'object') {
      const context = nameOrContext;
      const onInstance: Decorated['onInstance'] = (act) =>
        context.addInitializer?.(function (this: object) {
          act(this);
        });
      const from = { home: undefined, isPrivate: context.private === true, onInstance };
      return checked(target, context.kind, context.name, from);
    }
    const from = { home: target as object, isPrivate: false };
    const { get, value } = descriptor ?? {};
    if (get !== undefined) return { ...descriptor, get: checked(get, 'getter', nameOrContext, from) };
    const kind = descriptor === undefined ? 'field' : 'method';
    return { ...descriptor, value: checked(value, kind, nameOrContext, from) };
  };
  return decorate as never;
}

/** Metadata of reflect-metadata, as far as it is there: a scheduler finds its methods by it, in whatever order decorators stand. */
interface ReflectMetadata {
  getOwnMetadataKeys?(target: object): unknown[];
  getOwnMetadata?(key: unknown, target: object): unknown;
  defineMetadata?(key: unknown, value: unknown, target: object): void;
}

/** Gives the replacement the name, the number of parameters and the metadata of the original. */
export function alike<F extends { readonly name: string; readonly length: number }>(
  replacement: F,
  original: F,
): F {
  for (const name of ['name', 'length'] as const) {
    Object.defineProperty(replacement, name, { value: original[name], configurable: true });
  }
  const reflect = Reflect as ReflectMetadata;
  for (const key of reflect.getOwnMetadataKeys?.(original) ?? []) {
    reflect.defineMetadata?.(key, reflect.getOwnMetadata?.(key, original), replacement);
  }
  return replacement;
}
