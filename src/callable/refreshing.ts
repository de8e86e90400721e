import type { CacheOptions } from '../cache/cache-options.ts';
import { RefreshingCache } from '../cache/refreshing-cache.ts';
import type { TaskContext } from '../engine/load-context.ts';
import type { Absent, Kept, KeyedLoadReturn, Loaded } from '../engine/load-result.ts';
import type { TicklessError } from '../errors.ts';
import { isText, OptionChecks, ownOptions } from '../option-checks.ts';
import { optionError } from '../option-error.ts';
import { rejected } from '../time/deferred.ts';
import { RefreshingValue, type ValueOptions } from '../value/refreshing-value.ts';
import { keyOfArguments } from './key-of-arguments.ts';

/** Any function, called with any arguments. */
export type Call = (...args: unknown[]) => unknown;

/**
 * A function that keeps fresh what it returns. Without arguments it is a `RefreshingValue`, with arguments a
 * `RefreshingCache` with a key of all arguments; it takes the same options, and has the same members.
 *
 * ```ts
 * import { refreshing } from 'tickless';
 *
 * const rates = refreshing(async () => new Map([['USD', 1.08]]), { schedule: '10m' });
 * console.log((await rates()).get('USD')); // 1.08
 * console.log(rates.current.size, rates.inspect().state); // 1 fresh
 *
 * const city = refreshing(async (code: string) => `City of ${code}`, { max: 10_000 });
 * console.log(await city('1012')); // City of 1012
 * console.log(city.inspect('1012')?.state); // fresh
 * ```
 *
 * A call reads as `get` does: the first one waits for the load, later ones return at once. The load gets the arguments of
 * the call; one that needs its context (`signal`, `previous`) is a load of the class. A due reload gets the arguments of an earlier
 * call with the same key, so objects must not be changed after they were passed.
 *
 * Whether it is keyed follows from `load.length`, the number of parameters before the first default. Give `keyed` where the
 * load can be called with and without arguments (`(code = 'nl') => …`, `(...codes) => …`), and where another function wraps
 * it. A call with arguments of a function that is not keyed rejects with `OPTION`, and so does one with an argument
 * that has no key: see `keyOf`.
 *
 * @throws {TicklessError} `OPTION` naming every option that breaks a rule.
 */
export function refreshing<F extends AnyLoad>(
  load: F,
  ...options: WithoutArguments<F, RefreshingFunctionOptions<LoadedBy<F>> & { readonly keyed?: false }>
): RefreshingFunction<F>;
export function refreshing<F extends AnyLoad>(
  load: F,
  ...options: WithArguments<
    F,
    KeyedRefreshingFunctionOptions<Parameters<F>, LoadedBy<F>> & { readonly keyed?: true }
  >
): KeyedRefreshingFunction<F>;
export function refreshing<F extends AnyLoad>(
  load: F,
  options: KeyedRefreshingFunctionOptions<Parameters<F>, LoadedBy<F>> & { readonly keyed: true },
): KeyedRefreshingFunction<F>;
export function refreshing<F extends () => unknown>(
  load: F,
  options: RefreshingFunctionOptions<LoadedBy<F>> & { readonly keyed: false },
): RefreshingFunction<() => ReturnType<F>>;
export function refreshing(load: AnyLoad, options?: object): unknown {
  return refreshingBy(load as Call, options, { name: load?.name || 'refreshing', keyed: load?.length > 0 });
}

/** The same for a load whose name and parameters are those of another function. */
export function refreshingBy(
  load: Call,
  options: object | undefined,
  defaults: {
    readonly name: string;
    /** It may name a lock, a snapshot and a member of a group. */
    readonly isShareable?: boolean;
    readonly keyed: boolean;
  },
): Call & HasMember {
  const {
    name,
    keyed = defaults.keyed,
    keyOf,
    ...rest
  } = ownOptions(options ?? {}) as Partial<KeyedRefreshingFunctionOptions<unknown[], unknown>>;
  const known = name ?? defaults.name;
  const checks = new OptionChecks(isText(known) ? known : 'refreshing');
  checks.function('load', load);
  for (const option of ['load', 'loadMany', 'batchSize']) {
    const received = (ownOptions(rest) as Record<string, unknown>)[option];
    const isItself = 'must not be given: the load is the function itself';
    checks.that(received === undefined, option, isItself, received);
  }
  checks.oneOf('keyed', keyed, [true, false]);
  if (keyOf !== undefined) checks.function('keyOf', keyOf);
  const hasKeys =
    'is for a function with arguments: of one whose parameters all have defaults, or are a rest, give keyed: true';
  checks.that(keyOf === undefined || keyed !== false, 'keyOf', hasKeys, keyOf);
  const { backend, lock, group } = ownOptions(rest);
  const isShared = [backend, lock, group].some((one) => one !== undefined && one !== false);
  const rule = 'must be given with a backend, a lock or a group: that of a function may change in a build';
  checks.that(name !== undefined || !isShared || defaults.isShareable === true, 'name', rule, name);
  checks.done();
  const given = { ...rest, name: known };
  return keyed ? keyedFunction(load, given, keyOf) : valueFunction(load, given);
}

/** The methods that take arguments instead of a key. */
const KEYED_METHODS = [
  'get',
  'read',
  'getIfPresent',
  'current',
  'peek',
  'inspect',
  'refresh',
  'invalidate',
  'delete',
  'cancel',
] as const;

function valueFunction(load: Call, options: { readonly name: string }): Call & HasMember {
  const member = new RefreshingValue<unknown>({ ...options, load: () => load() });
  const read = (...args: unknown[]): Promise<unknown> =>
    args.length === 0 ? member.get() : rejected(unexpected(options.name, args));
  return callable(read, member, OF_VALUE, options.name);
}

function keyedFunction(
  load: Call,
  options: { readonly name: string },
  keyOf: ((...args: unknown[]) => string | number | bigint | boolean) | undefined,
): Call & HasMember {
  const { name } = options;
  const member = new RefreshingCache<unknown[], unknown>({
    ...options,
    load: (args: unknown[]) => load(...args) as KeyedLoadReturn<unknown>,
    keyOf: (args) => {
      if (!Array.isArray(args)) throw noArguments(name, args);
      return keyOf === undefined ? keyOfArguments(name, args) : keyOf(...(args as unknown[]));
    },
  });
  return callable((...args) => member.get(args), member, OF_CACHE, name);
}

function callable(read: Call, member: object, methods: object, name: string): Call & HasMember {
  Object.setPrototypeOf(read, methods);
  Object.defineProperty(read, 'name', { value: name, configurable: true });
  return Object.assign(read, { member });
}

function unexpected(member: string, received: readonly unknown[]): TicklessError {
  const rule =
    'must be true for calls with arguments: the load has no parameter before its first default, so there is one value';
  return optionError([{ option: 'keyed', rule, received }], { member });
}

function noArguments(member: string, received: unknown): TicklessError {
  const rule = "must be an array with the arguments of a call, such as ['1012']";
  return optionError([{ option: 'key', rule, received }], { member });
}

/** Any load of {@link refreshing}. */
export type AnyLoad = (...args: never[]) => unknown;

type ValueIn<R> = R extends Loaded<infer T> ? T : R extends Kept | Absent ? never : R;

/** The type of the value that a load returns, sooner or later. */
type LoadedBy<F extends AnyLoad> = ValueIn<Awaited<ReturnType<F>>>;

/** The load itself where it returns a promise of the value, so that its documentation and generics are kept. */
type CallOf<F extends AnyLoad> =
  ReturnType<F> extends Promise<LoadedBy<F>> ? F : (...args: Parameters<F>) => Promise<LoadedBy<F>>;

/** The options of {@link refreshing} for a load without arguments: those of `RefreshingValue`. None is required. */
export interface RefreshingFunctionOptions<T> extends Omit<ValueOptions<T>, 'load' | 'name'> {
  /**
   * In errors, events and log lines, and the name of the lock. Required with a `lock`, a `store` or a `group`: the name of
   * a function may change when the code is minified. @default the name of the load, or 'refreshing'
   */
  readonly name?: string | undefined;
  /**
   * Whether each combination of arguments has a value of its own. To be given where the load can be called with and
   * without arguments, since JavaScript counts neither parameters with a default nor `...rest`.
   * @default true for a load with a parameter before the first default (`load.length`)
   */
  readonly keyed?: boolean | undefined;
}

/** The options of {@link refreshing} for a load with arguments: those of `RefreshingCache`. None is required. */
export interface KeyedRefreshingFunctionOptions<A extends readonly unknown[], T>
  extends Omit<CacheOptions<A, T>, 'load' | 'loadMany' | 'batchSize' | 'name' | 'keyOf'>,
    Pick<RefreshingFunctionOptions<T>, 'name' | 'keyed'> {
  /**
   * The key of a call: calls with the same key share a value. Choose it where arguments are not primitives, dates, or plain
   * objects and arrays of them, or where some of them do not matter. Called at each read; it should be quick.
   * @default a text of all arguments; one string, number, bigint or boolean is its own key
   */
  readonly keyOf?: ((...args: A) => string | number | bigint | boolean) | undefined;
}

/** A function that returns a value that is kept fresh, with the members of {@link RefreshingValue}. */
export type RefreshingFunction<F extends AnyLoad> = CallOf<F> &
  Pick<RefreshingValue<LoadedBy<F>>, keyof RefreshingValue<unknown>> & {
    /** The value behind it. */
    readonly member: RefreshingValue<LoadedBy<F>>;
  };

/**
 * A function that returns the value of its arguments, which is kept fresh, with the members of {@link RefreshingCache}. The
 * methods here take the arguments of a call. The others take keys, which are arrays of arguments: `set(['1012'], value)`;
 * so do all methods of `member`, which have options: `member.get(['1012'], { patience: 100 })`.
 */
export type KeyedRefreshingFunction<F extends AnyLoad> = CallOf<F> &
  Omit<Keyed<F>, KeyedMethod> &
  ByArguments<Parameters<F>, LoadedBy<F>> & {
    /** The cache behind it. Its keys are arrays of arguments. */
    readonly member: RefreshingCache<Parameters<F>, LoadedBy<F>>;
  };

type Keyed<F extends AnyLoad> = Pick<
  RefreshingCache<Parameters<F>, LoadedBy<F>>,
  keyof RefreshingCache<unknown, unknown>
>;

type ByArguments<A extends readonly unknown[], T> = {
  [M in KeyedMethod]: (...args: A) => ReturnType<RefreshingCache<A, T>[M]>;
};

type KeyedMethod = (typeof KEYED_METHODS)[number];

/** The further arguments of {@link refreshing} for a load that is never called with arguments. */
type WithoutArguments<F extends AnyLoad, Options> =
  Parameters<F> extends readonly [] ? [options?: Options] : [options: never];

/** The same for one that is always called with an argument. A context is none: only loads of the classes have one. */
type WithArguments<F extends AnyLoad, Options> =
  Parameters<F> extends readonly [infer First, ...unknown[]]
    ? First extends TaskContext
      ? [options: 'a load with a context is one of RefreshingValue or RefreshingCache']
      : [options?: Options]
    : [options: never];

/** A function that reads a member. */
interface HasMember {
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
function delegates(member: { readonly prototype: object }, keyed: readonly PropertyKey[] = []): object {
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

const OF_VALUE = /* @__PURE__ */ delegates(RefreshingValue);
const OF_CACHE = /* @__PURE__ */ delegates(RefreshingCache, KEYED_METHODS);
