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
