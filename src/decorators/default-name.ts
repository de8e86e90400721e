import { checked } from '../option-checks.ts';
import type { Decorated } from './decorate.ts';
import { makerOf, type PerInstance } from './per-instance.ts';

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
