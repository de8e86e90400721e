import type { FactoryProvider, InjectionToken } from '@nestjs/common';
import {
  type CacheOptions,
  RefreshGroup,
  type RefreshingCache,
  type RefreshingValue,
  type ValueOptions,
} from '../index.ts';

/** The options of {@link provideValue}: those of `RefreshingValue`. */
export interface ProvidedValueOptions<T> extends Omit<ValueOptions<T>, 'name' | 'group'> {
  /** @default the text of the token: a string, the description of a symbol, the name of a class */
  readonly name?: string | undefined;
}

/** The options of {@link provideCache}: those of `RefreshingCache`. */
export type ProvidedCacheOptions<K, V> = Omit<CacheOptions<K, V>, 'name' | 'group'> &
  Pick<ProvidedValueOptions<V>, 'name'>;

/** Options, or a function that makes them of what is injected. */
type Given<O, D extends unknown[]> = O | ((...dependencies: D) => O | Promise<O>);

/**
 * A provider of a `RefreshingValue` in the group of `TicklessModule`, for `TicklessModule.forFeature` or the `providers` of a
 * module.
 *
 * ```ts ignore
 * const RATES = Symbol('rates');
 * provideValue(RATES, (source: Source) => ({ load: () => source.rates(), schedule: '10m' }), [Source]);
 *
 * class Shop {
 *   constructor(@Inject(RATES) readonly rates: RefreshingValue<Rates>) {}
 * }
 * ```
 *
 * @param token what it is injected by: a string, a symbol, or a class. `abstract class ExchangeRates extends RefreshingValue<Rates> {}`
 * is a token whose type is known where it is injected.
 * @param options those of the value, or a function that returns them (or a promise of them).
 * @param inject the tokens of the arguments of that function.
 */
export function provideValue<T, D extends unknown[]>(
  token: InjectionToken,
  options: Given<ProvidedValueOptions<T>, D>,
  inject: InjectionToken[] = [],
): FactoryProvider<RefreshingValue<T>> {
  return provider(token, options, inject, (group, given) => group.value<T>(given as ValueOptions<T>));
}

/** The same for a `RefreshingCache`. As {@link provideValue}. */
export function provideCache<K, V, D extends unknown[]>(
  token: InjectionToken,
  options: Given<ProvidedCacheOptions<K, V>, D>,
  inject: InjectionToken[] = [],
): FactoryProvider<RefreshingCache<K, V>> {
  return provider(token, options, inject, (group, given) =>
    group.cache<K, V>(given as Parameters<typeof group.cache<K, V>>[0]),
  );
}

function provider<O extends object, D extends unknown[], M>(
  token: InjectionToken,
  options: Given<O, D>,
  inject: InjectionToken[],
  make: (group: RefreshGroup, options: O & { readonly name: string }) => M,
): FactoryProvider<M> {
  return {
    provide: token,
    inject: [RefreshGroup, ...inject],
    useFactory: async (group: RefreshGroup, ...dependencies: D) => {
      const given = typeof options === 'function' ? await options(...dependencies) : options;
      return make(group, { name: textOf(token), ...given });
    },
  };
}

function textOf(token: InjectionToken): string {
  if (typeof token === 'string') return token;
  return (typeof token === 'symbol' ? token.description : token.name) ?? '';
}
