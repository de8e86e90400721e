import type { LoadContext } from '../engine/load-context.ts';
import type { KeyedLoadReturn } from '../engine/load-result.ts';
import type { GuardOptions, TypedBySchema } from '../guard/guard-options.ts';
import type { ValueSharedOptions } from '../options/shared-options.ts';
import type { JitterRatio } from '../schedule/with-jitter.ts';
import type { DurationLike } from '../time/duration.ts';
import type { WhenMissing } from './batch-results.ts';
import type { LoadMany } from './batches.ts';

/** The argument of the load of one key. */
export interface KeyContext<K, Previous = unknown> extends LoadContext<Previous> {
  readonly key: K;
}

/** The options of `RefreshingCache`; `name`, and `load` or `loadMany`, are required. */
export interface RefreshingCacheOptions<K, V, Previous = V>
  extends ValueSharedOptions,
    GuardOptions<NoInfer<V>> {
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
   * call. A key that the result lacks is absent (`missing`); one that was not requested is logged and dropped. Throwing or
   * rejecting fails all of them. Each key still has its own cool-down, retries and deadline.
   */
  readonly loadMany?: LoadMany<K, V, Previous> | undefined;
  /**
   * The due reload of a key takes other keys along into its call of `loadMany`: those that are due, and those that fall due
   * within this time, soonest first, up to `batchSize`. Never a key in the first half of its time, or in its cool-down.
   * A duration, or `{ ratio }` of the time between the load of the key and its due time; 0: only keys that are due;
   * `false`: none, so that a key is reloaded only when it is read itself. Keys that are no longer read are taken along
   * too, as long as the cache holds them. @default { ratio: 0.1 }
   */
  readonly batchAhead?: DurationLike | JitterRatio | false | undefined;
  /**
   * A key that the result of `loadMany` lacks: `absent` is as if it were `absent()` there, as for a query with `IN (…)`,
   * which returns rows of the keys that exist; `fail` is a failed load of that key, whose value of before stays. Choose
   * `fail` for a source that may answer in part without an error. Beside keys that were not requested, a missing one
   * has failed in any case: they may be the same keys with another type (`'1'` for `1`). @default 'absent'
   */
  readonly missing?: WhenMissing | undefined;
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
  readonly maxConcurrentLoads?: number | undefined;
  /**
   * The highest number of values; beyond it the least recently read one is evicted. A whole number from 1. Above
   * 10,000 the memory for the order of all of them is allocated at once, about 22 bytes each. @default 10,000; as many as fit, where only `maxSize` is given
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
   * How many absent keys are remembered. They are kept apart from the values, and so are keys without a value whose
   * load failed (at most `max` of them): reads of unknown keys evict no value. A whole number from 1. @default a
   * tenth of `max`; 1000 where only `maxSize` is given
   */
  readonly maxAbsent?: number | undefined;
  /**
   * Over which time after the schedule's instant keys are spread that were loaded together: each falls due at a
   * random instant of it. A duration, or `{ ratio }` of the time from the load to that instant; `false` or 0: not at
   * all. Where `maxStaleness` leaves less room, the time begins before that instant.
   *
   * Without it, keys whose schedule is a duration are spread before that instant, and none falls due later: the first due time
   * of a key, and that after a load that came late, is a random instant of the last nine tenths of the period; then each
   * follows the schedule. @default { ratio: 0.1 } for a schedule that is not a duration
   */
  readonly jitter?: DurationLike | JitterRatio | false | undefined;
  /**
   * Whether `ready()` of the group waits for this cache, and `health()` is not ok without it. An array of keys: until each
   * had its first success; `ready()` loads them. `true`: until any key had one, which some read must load. `absent()` is a
   * success. Only with `group`. @default false
   */
  readonly required?: boolean | readonly K[] | undefined;
  /** As of `RefreshingValue`. @default false */
  readonly allowUndefined?: (undefined extends V ? boolean : false) | undefined;
}

/** The options of a cache whose `schema` says of what type its values are: whatever the load returns, the output of the schema is the value. */
export type CheckedCacheOptions<K, V, Previous = V> = TypedBySchema<
  RefreshingCacheOptions<K, V, Previous>,
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
    : { readonly keyOf: NonNullable<RefreshingCacheOptions<K, unknown>['keyOf']> };
