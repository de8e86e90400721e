import type {
  AnyLoad,
  KeyedRefreshingFunction,
  KeyedRefreshingFunctionOptions,
  RefreshingFunction,
} from '../callable/refreshing.ts';
import { type Call, refreshingBy } from '../callable/refreshing.ts';
import { ownOptions } from '../option-checks.ts';
import type { StandardSchema } from '../schema.ts';
import { type AsyncMethod, type Decorated, type DecoratorContext, decorator } from './decorate.ts';
import { claimName, madeFor, nameFor, optionsOf, PerInstance } from './per-instance.ts';

/**
 * The options of `@refreshing`: those of the function `refreshing`. A decorator does not know the types of its method, so
 * parameters of functions here (`keyOf`, `accept`, `sizeOf`) have to be annotated. `name` is by default the names of class
 * and method, `Cities.city`: give one where a build renames classes and there is a `backend` or a `lock`. `Cities.city`
 * that `Villages` overrides, and calls by `super`, is `Cities.city of Villages` there. With a `lock`, a `store`, a `backend` or a `group` these need one: a
 * class without a name, a second class with the name of another one, symbols with one description, private methods of classes
 * that extend each other, and methods that override each other inside another decorator.
 */
export interface RefreshingDecoratorOptions
  extends Omit<KeyedRefreshingFunctionOptions<never[], never>, 'schema' | 'required'> {
  readonly schema?: StandardSchema<unknown> | undefined;
  /**
   * `ready()` of the group waits for the first success. Only with `group`. A required value or cache is made with its instance, not with
   * its first use: a broken rule makes the constructor throw. Where the options are a function of the instance, it is made right
   * after the constructor, by a microtask, or with the first use if the function throws until then. With
   * `experimentalDecorators` the class needs {@link requiredMembers}. @default false
   */
  readonly required?: boolean | undefined;
  /** Of a getter, or a method without parameters: see `RefreshingValue`. */
  readonly initial?: unknown;
}

/** A decorator of methods and getters that return a promise. */
export interface RefreshingDecorator {
  /** Of a method, by the standard. */
  <M extends AsyncMethod>(method: M, context: DecoratorContext<'method'>): M;
  /** Of a getter, by the standard. */
  <V extends Promise<unknown>>(getter: () => V, context: DecoratorContext<'getter'>): () => V;
  /** Of either, with `experimentalDecorators`. */
  <M extends Promise<unknown> | AsyncMethod>(
    prototype: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): TypedPropertyDescriptor<M>;
}

/**
 * Keeps fresh what a method or getter returns, for each instance apart: as the function `refreshing` does, with the arguments
 * of the method as the key.
 *
 * ```ts ignore
 * class Cities {
 *   constructor(readonly source: Source) {}
 *
 *   @refreshing({ schedule: '10m', max: 10_000 })
 *   async city(code: string): Promise<string> {
 *     return this.source.city(code);
 *   }
 *
 *   @refreshing<Cities>((cities) => ({ name: `countries of ${cities.source.name}`, store: cities.source.store }))
 *   get countries(): Promise<string[]> {
 *     return this.source.countries();
 *   }
 * }
 * ```
 *
 * For standard decorators and `experimentalDecorators`. A value or cache is made with the first use of an instance (one that is `required` with the
 * instance), and collected with it; a `group`
 * holds its members, and so the instance, until it is closed. {@link refreshingOf} returns it.
 *
 * Options that break a rule make the first use throw an `OPTION` error: they may depend on the instance, of which a function is
 * asked with the first use, and right after the constructor for `required`.
 *
 * @throws {TypeError} on anything but a method or a getter.
 */
export function refreshing<This extends object>(
  options?: RefreshingDecoratorOptions | ((instance: This) => RefreshingDecoratorOptions),
): RefreshingDecorator {
  return decorator('refreshing', ['method', 'getter'], (decorated) => {
    const made: PerInstance<Call> = new PerInstance(
      'refreshing',
      decorated,
      (instance) =>
        make(decorated, instance, optionsOf(options, instance), nameFor(instance, decorated, made)),
      (instance) => ownOptions(optionsOf(options, instance))?.required === true,
    );
    const makeRequired = (instance: object): void => made.makeRequired(instance);
    decorated.onInstance?.(typeof options === 'function' ? afterConstructor(makeRequired) : makeRequired);
    return made.mark(function (this: unknown, ...args: unknown[]) {
      return made.of(this)(...args);
    });
  });
}

/** Its options may read fields that have no value before. The first use throws what is thrown here. */
function afterConstructor(act: (instance: object) => void): (instance: object) => void {
  return (instance) =>
    void Promise.resolve()
      .then(() => act(instance))
      .catch(() => {});
}

function make(
  { original, kind, name }: Decorated,
  instance: object,
  options: RefreshingDecoratorOptions | undefined,
  known: string | undefined,
): Call {
  const load = (...args: unknown[]): unknown => (original as Call).apply(instance, args);
  const given = ownOptions(options ?? ({} as RefreshingDecoratorOptions));
  if (known !== undefined && given.name === undefined)
    claimName(instance, known, [given.backend, given.lock, given.group]);
  return refreshingBy(load, options, {
    name: known ?? `class.${name}`,
    isShareable: known !== undefined,
    keyed: kind === 'method' && original.length > 0,
  });
}

/** The function of {@link refreshing} behind a property of type `M`. */
export type RefreshingOf<M> = M extends AnyLoad
  ? Parameters<M> extends readonly []
    ? RefreshingFunction<M>
    : KeyedRefreshingFunction<M>
  : RefreshingFunction<() => M>;

/**
 * The function behind a decorated method or getter of an instance, with the members of its value or cache:
 * `refreshingOf(cities, 'city').inspect('1012')`, `await refreshingOf(cities, 'countries').close()`. Starts no load.
 *
 * @throws {TypeError} when the property is not decorated with `@refreshing`.
 * @throws {TicklessError} `OPTION` when it is made now, and an option breaks a rule.
 */
export function refreshingOf<T extends object, K extends keyof T>(instance: T, name: K): RefreshingOf<T[K]> {
  return madeFor('refreshing', instance, name) as RefreshingOf<T[K]>;
}
