import type { CacheOptions } from '../cache/cache-options.ts';
import type { RefreshingCache } from '../cache/refreshing-cache.ts';
import type { TaskContext } from '../engine/load-context.ts';
import type { Absent, Kept, Loaded } from '../engine/load-result.ts';
import type { RefreshingValue, ValueOptions } from '../value/refreshing-value.ts';

/** Any load of {@link refreshing}. */
export type AnyLoad = (...args: never[]) => unknown;

type ValueIn<R> = R extends Loaded<infer T> ? T : R extends Kept | Absent ? never : R;

/** The type of the value that a load returns, sooner or later. */
export type LoadedBy<F extends AnyLoad> = ValueIn<Awaited<ReturnType<F>>>;

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

/** The methods that take arguments instead of a key. */
export const KEYED_METHODS = [
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

type KeyedMethod = (typeof KEYED_METHODS)[number];

/** The further arguments of {@link refreshing} for a load that is never called with arguments. */
export type WithoutArguments<F extends AnyLoad, Options> =
  Parameters<F> extends readonly [] ? [options?: Options] : [options: never];

/** The same for one that is always called with an argument. A context is none: only loads of the classes have one. */
export type WithArguments<F extends AnyLoad, Options> =
  Parameters<F> extends readonly [infer First, ...unknown[]]
    ? First extends TaskContext
      ? [options: 'a load with a context is one of RefreshingValue or RefreshingCache']
      : [options?: Options]
    : [options: never];
