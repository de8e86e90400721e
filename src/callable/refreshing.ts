import { RefreshingCache } from '../cache/refreshing-cache.ts';
import type { KeyedLoadReturn } from '../engine/load-result.ts';
import type { TicklessError } from '../errors.ts';
import { isText, OptionChecks, ownOptions } from '../option-checks.ts';
import { optionError } from '../option-error.ts';
import { rejected } from '../time/deferred.ts';
import { RefreshingValue } from '../value/refreshing-value.ts';
import {
  type AnyLoad,
  KEYED_METHODS,
  type KeyedRefreshingFunction,
  type KeyedRefreshingFunctionOptions,
  type LoadedBy,
  type RefreshingFunction,
  type RefreshingFunctionOptions,
  type WithArguments,
  type WithoutArguments,
} from './callable-types.ts';
import { delegates, type HasMember } from './delegates.ts';
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

const OF_VALUE = /* @__PURE__ */ delegates(RefreshingValue);
const OF_CACHE = /* @__PURE__ */ delegates(RefreshingCache, KEYED_METHODS);

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
