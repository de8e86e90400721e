import type { LoadContext } from '../engine/load-context.ts';
import type { KeyedLoadReturn } from '../engine/load-result.ts';
import type { GuardOptions, TypedBySchema } from '../guard/guard-options.ts';
import type { ValueSharedOptions } from '../options/shared-options.ts';
import type { DurationLike } from '../time/duration.ts';
import type { LoadMany } from './batches.ts';

/** The argument of the load of one key. */
export interface KeyContext<K, Previous = unknown> extends LoadContext<Previous> {
  readonly key: K;
}

/** The options of `RefreshingCache`; `name`, and `load` or `loadMany`, are required. */
export interface CacheOptions<K, V, Previous = V> extends ValueSharedOptions, GuardOptions<NoInfer<V>> {
  /**
   * Loads the value of one key from its source, synchronously or not: the value itself, `loaded(value, …)`, `keep()`,
   * or `absent()` when the source has no such key. Throwing or rejecting fails the load of this key. See `load` of
   * `RefreshingValue` for the context that it runs in. Either this or `loadMany`.
   */
  readonly load?:
    | ((key: K, context: KeyContext<K, Previous>) => KeyedLoadReturn<V> | PromiseLike<KeyedLoadReturn<V>>)
    | undefined;
  /**
   * Loads the values of several keys: returns a `Map`, or a plain object by key, with a result for each, as `load` returns
   * it, or an `Error` for a key that failed. Keys whose loads begin in the same turn of the event loop are loaded by one
   * call. A key that the result lacks is as if it were `absent()` there; return an `Error` for one that a source which answers in
   * part may have. One that was not requested is logged and dropped; beside such keys a missing one has failed: they may be the
   * same keys with another type (`'1'` for `1`). Throwing or rejecting fails all of them. Each key still has its own cool-down,
   * retries and deadline.
   *
   * The due reload of a key takes others along into its call, soonest first, up to `batchSize`: those that are due, or will be
   * within a tenth of the time between the load of that key and its due time. Never a key in the first half of its time, or in its
   * cool-down. Keys that are no longer read are taken along too, as long as the cache holds them.
   */
  readonly loadMany?: LoadMany<K, V, Previous> | undefined;
  /** The highest number of keys per call of `loadMany`. A whole number from 1; `Infinity`: all. @default Infinity */
  readonly batchSize?: number | undefined;
  /**
   * The highest number of calls of `load` or `loadMany` under way at a time, whatever has started them: first reads,
   * due reloads, `refresh`, `requestStart`, tries after a failure. Further ones wait in line, within the deadline of
   * their load (`timeout`): a load that has not begun by then fails with a `TIMED_OUT` error that says so. A call
   * counts until it has settled, also after an abort that it ignores, but not beyond its deadline. A whole number
   * from 1; `Infinity`: no limit, so an outage in which loads hang holds as many as there are keys asked for. A group
   * has a limit of the same name for all its members together. @default 1000
   */
  readonly concurrency?: number | undefined;
  /**
   * The highest number of values; beyond it the least recently read one is evicted. A whole number from 1. Above
   * 10,000 the memory for the order of all of them is allocated at once, about 22 bytes each. Absent keys are kept apart, a tenth of
   * `max` (1,000 without it), and so are keys without a value whose load failed (`max` of them): reads of unknown keys evict no
   * value. @default 10,000; as many as fit, where only `maxSize` is given
   */
  readonly max?: number | undefined;
  /** The sizes of all values that are held add up to at most this. A whole number from 1. Requires `sizeOf`. */
  readonly maxSize?: number | undefined;
  /**
   * The size of a value in units of `maxSize`: a finite number from 0, which is rounded up to a whole number of at
   * least 1. Anything else, or throwing, fails the load of that key, and so does a value larger than `maxSize`: the value
   * of before stays, and the next load waits for the cool-down. Requires `maxSize`.
   */
  readonly sizeOf?: ((value: V, key: K) => number) | undefined;
  /**
   * Says which keys are the same: those for which it answers with the same string (or number, …). Required for keys that are
   * objects, since two equal ones would never be the same: without it they are refused with `OPTION`. Called at each
   * read; it should be quick. @default the key itself
   */
  readonly keyOf?: ((key: K) => string | number | bigint | boolean | symbol) | undefined;
  /**
   * How long the source is not asked again for a key that it does not have (`absent()`). 0: the next read asks;
   * `Infinity`: until `invalidate`, `set` or `delete`. @default 1 minute
   */
  readonly absentFor?: DurationLike | undefined;
  /**
   * `ready()` of the group waits until any key had its first success, which some read must load, and `health()` is not ok before.
   * `absent()` is a success. Only with `group`. @default false
   */
  readonly required?: boolean | undefined;
}

/** The options of a cache whose `schema` says of what type its values are: whatever the load returns, the output of the schema is the value. */
export type CheckedCacheOptions<K, V, Previous = V> = TypedBySchema<
  CacheOptions<K, V, Previous>,
  {
    readonly load?: ((key: K, context: KeyContext<K, Previous>) => unknown) | undefined;
    readonly loadMany?: LoadMany<K, unknown, Previous> | undefined;
  },
  V
>;

/** Requires `keyOf` where a key may be an object. */
export type KeyOfObjects<K> = 0 extends 1 & K
  ? unknown // of `any` only a read knows it
  : [Extract<Exclude<K, string | number | bigint | boolean | symbol | null | undefined>, object>] extends [
        never,
      ]
    ? unknown
    : { readonly keyOf: NonNullable<CacheOptions<K, unknown>['keyOf']> };
