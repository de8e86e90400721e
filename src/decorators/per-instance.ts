import type { Call } from '../callable/refreshing.ts';
import { checked } from '../option-checks.ts';
import { ignoreThenable, isThenable } from '../time/deferred.ts';
import type { Decorated } from './decorate.ts';

const madeBy: unique symbol = Symbol('tickless.decorated');

/** One thing per instance, made with its first use. It is held by its instance alone: both are collected together. */
export class PerInstance<T> {
  /** The name of the decorator. */
  readonly decorator: string;
  readonly #made: WeakMap<object, T> = new WeakMap();
  readonly #make: (instance: object) => T;
  readonly #name: string;
  readonly #isRequired: (instance: object) => boolean;

  /** @param isRequired whether it is made as soon as there is an instance. */
  constructor(
    decorator: string,
    { name }: Decorated,
    make: (instance: object) => T,
    isRequired: (instance: object) => boolean = () => false,
  ) {
    this.decorator = decorator;
    this.#name = name;
    this.#make = make;
    this.#isRequired = isRequired;
  }

  /** Makes that of an instance now, where it is required. */
  makeRequired(instance: object): void {
    if (this.#isRequired(instance)) this.of(instance);
  }

  /** @throws {TypeError} when it is not an object: the method was taken from its instance. */
  of(instance: unknown): T {
    const isObject = typeof instance === 'object' ? instance !== null : typeof instance === 'function';
    if (!isObject) throw new TypeError(`${this.#name} was called without its instance`);
    const made = this.#made.get(instance as object) ?? this.#make(instance as object);
    this.#made.set(instance as object, made);
    return made;
  }

  /** That of an instance, where it has been made. */
  peek(instance: object): T | undefined {
    return this.#made.get(instance);
  }

  /** Marks the function that takes the place of a decorated one, for {@link madeFor}. */
  mark(replacement: Call): Call {
    return Object.defineProperty(replacement, madeBy, { value: this });
  }
}

/**
 * The thing of an instance behind a decorated method or getter.
 *
 * @param decorator the name of the decorator, for errors.
 * @throws {TypeError} when the property is not decorated by it.
 */
export function madeFor(decorator: string, instance: object, name: PropertyKey): unknown {
  let owner: object | null = instance;
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object | null;
  const descriptor = owner === null ? undefined : Object.getOwnPropertyDescriptor(owner, name);
  const made = makerOf(descriptor);
  if (made?.decorator !== decorator)
    throw new TypeError(`${String(name)} is not decorated with @${decorator}`);
  return made.of(instance);
}

/** The maker of the things of all instances, behind a decorated method or getter; `undefined`: it is not decorated. */
export function makerOf(descriptor: PropertyDescriptor | undefined): PerInstance<unknown> | undefined {
  const marked = (descriptor?.get ?? descriptor?.value) as { [madeBy]?: PerInstance<unknown> } | undefined;
  return marked?.[madeBy];
}

/** Makes all that is required on an instance: of its own class, and of those that this one extends. */
export function makeAllRequired(instance: object, owner: object | null): void {
  for (let one = owner; one !== null; one = Object.getPrototypeOf(one) as object | null) {
    const descriptors = Object.values(Object.getOwnPropertyDescriptors(one));
    for (const descriptor of descriptors) makerOf(descriptor)?.makeRequired(instance);
  }
}

/** The options of one instance: given to all, or computed from it. @throws {TicklessError} `OPTION` for a promise. */
export function optionsOf<O>(
  options: O | ((instance: never) => O) | undefined,
  instance: object,
): O | undefined {
  if (typeof options !== 'function') return options;
  const computed = ignoreThenable((options as (given: object) => O)(instance));
  const isOptions = !isThenable(computed);
  checked('a decorator', (checks) => checks.that(isOptions, 'options', 'must not be a promise', computed));
  return computed;
}

// The name of a method by default must be that of one method alone: a lock or a snapshot that two of them share is wrong for one.

/**
 * The default name: `Class.method`, by the class of the instance. Where another method overrides it, which may call it by `super`,
 * the class that declares it names it too: `Base.method of Class`. A static method beside a method of the same name is `static Class.method`.
 *
 * `undefined`: there is none. The class has no name, or another method of the instance could have the same one: private methods
 * of classes that extend each other, symbols with one description, and overridden ones inside another decorator.
 */
export function nameFor(
  instance: object,
  decorated: Decorated,
  made: PerInstance<unknown>,
): string | undefined {
  const { key, name, home } = decorated;
  const own = nameOf(classOf(instance));
  const chain = chainOf(instance);
  if (own === undefined || hasTwin(chain, decorated)) return undefined;
  const owners = chain.filter((one) => Object.hasOwn(one, key));
  const at = owners.findIndex(
    (one) => one === home || makerOf(Object.getOwnPropertyDescriptor(one, key)) === made,
  );
  if (at > 0) {
    const names = owners.slice(1).map((one) => nameOf(classOf(one)));
    const declaring = names[at - 1];
    const isOne = declaring !== undefined && names.indexOf(declaring) === names.lastIndexOf(declaring);
    return isOne ? `${declaring}.${name} of ${own}` : undefined;
  }
  if (at < 0 && owners.length > 1) return undefined;
  const isStatic = typeof instance === 'function' && key in Object(instance.prototype);
  return isStatic ? `static ${own}.${name}` : `${own}.${name}`;
}

/** The classes that have names at a lock, a store or a group, by those names. */
const namedAt = new WeakMap<object, Map<string, WeakRef<object>>>();

/**
 * Notes that the class of the instance has that default name at the lock, store, backend or group of its options.
 *
 * @throws {TicklessError} `OPTION` when another class has it there.
 */
export function claimName(instance: object, name: string, at: readonly unknown[]): void {
  const owner = classOf(instance) as object;
  for (const shared of at) {
    if (typeof shared !== 'object' || shared === null) continue;
    const names = namedAt.get(shared) ?? new Map<string, WeakRef<object>>();
    const other = names.get(name)?.deref();
    const isOwn = other === undefined || other === owner;
    const rule = `must be given: another class than this one has the name ${name} there by default`;
    checked('a decorator', (checks) => checks.that(isOwn, 'name', rule, undefined));
    namedAt.set(shared, names.set(name, new WeakRef(owner)));
  }
}

/** Another member of the instance could have the same name as text. */
function hasTwin(chain: readonly object[], { key, isPrivate }: Decorated): boolean {
  if (isPrivate) return chain.length > (typeof chain[0] === 'function' ? 1 : 2); // the instance, and its one class
  if (typeof key !== 'symbol') return false;
  const isTwin = (other: PropertyKey): boolean => other !== key && String(other) === String(key);
  return chain.some((one) => Reflect.ownKeys(one).some(isTwin));
}

/** An instance with its prototypes, or a class with those that it extends. */
function chainOf(instance: object): object[] {
  const chain: object[] = [];
  const isEnd = (one: object): boolean => one === Object.prototype || one === Function.prototype;
  for (let one: object | null = instance; one !== null && !isEnd(one); one = Object.getPrototypeOf(one))
    chain.push(one);
  return chain;
}

function classOf(one: object): unknown {
  return typeof one === 'function' ? one : one.constructor;
}

function nameOf(owner: unknown): string | undefined {
  const name: unknown = (owner as { readonly name?: unknown } | undefined)?.name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
