import { limitedLoad } from '../engine/limited-load.ts';
import type { LoadContext } from '../engine/load-context.ts';
import type { Load } from '../engine/load-execution.ts';
import { LoadLimit } from '../engine/load-limit.ts';
import type { KeyedAnswer } from '../engine/load-result.ts';
import { OptionError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber, type OptionChecks } from '../option-checks.ts';
import { defaults } from '../options/defaults.ts';
import { type MemberOptions, resolveOptions, VALUE_SHARED } from '../options/resolve-options.ts';
import type { ValueSharedOptions } from '../options/shared-options.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { type JitterRatio, type JitterWidth, widthOf } from '../schedule/with-jitter.ts';
import type { DurationLike } from '../time/duration.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import type { WhenMissing } from './batch-results.ts';
import { Batches, type LoadMany } from './batches.ts';
import { jittered } from './jitter.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import type { Bound } from './lru.ts';
import type { NegativeCacheBounds } from './negative-cache.ts';

/** The argument of the load of one key. */
export interface KeyContext<K, Previous = unknown> extends LoadContext<Previous> {
  readonly key: K;
}

/** The options of `RefreshingCache`; `name`, and `load` or `loadMany`, are required. */
export interface RefreshingCacheOptions<K, V extends Previous, Previous = V> extends ValueSharedOptions {
  /**
   * Loads the value of one key from its source, synchronously or not: the value itself, `loaded(value, …)`, `keep()`,
   * or `absent()` when the source has no such key. Throwing or rejecting fails the load of this key. See `load` of
   * `RefreshingValue` for the context that it runs in. Either this or `loadMany`.
   */
  readonly load?:
    | ((key: K, context: KeyContext<K, Previous>) => KeyedAnswer<V> | PromiseLike<KeyedAnswer<V>>)
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
   * The highest number of calls of `load` or `loadMany` under way at a time, whatever has started them: first reads, due
   * reloads, `refresh`, `requestStart`, tries after a failure. Further ones wait in line, within the deadline of their
   * load (`timeout`): a load that has not begun by then fails with a `LoadTimeoutError` that says so. A call counts until it has settled,
   * also after an abort that it ignores, but not beyond its deadline. A whole number from 1; `Infinity`: no limit, so an
   * outage in which loads hang holds as many as there are keys asked for. A group has a limit of the same name for all its
   * members together. @default 1000
   */
  readonly maxConcurrentLoads?: number | undefined;
  /**
   * The highest number of values; beyond it the least recently read one is evicted. A whole number from 1. Memory for
   * the order of all of them is allocated at once. @default 10,000; as many as fit, where only `maxSize` is given
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
   * Says which keys are the same: those for which it answers with the same string (or number, …). Without it objects
   * are the same only if they are identical. Called at each read; it should be quick. @default the key itself
   */
  readonly keyOf?: ((key: K) => string | number | bigint | boolean | symbol) | undefined;
  /**
   * How long the source is not asked again for a key that it does not have (`absent()`). 0: the next read asks;
   * `Infinity`: until `invalidate`, `set` or `delete`. @default 1 minute
   */
  readonly absentFor?: DurationLike | undefined;
  /**
   * How many absent keys are remembered. They are kept apart from the values, and so are keys without a value whose load
   * failed (at most `max` of them): reads of unknown keys evict no value. A whole number from 1. @default a tenth of `max`; 1000 where only `maxSize` is given
   */
  readonly maxAbsent?: number | undefined;
  /**
   * Over which time after the schedule's instant keys are spread that were loaded together: each falls due at a
   * random instant of it. A duration, or `{ ratio }` of the time from the load to that instant; `false` or 0: not at
   * all. Where `maxStaleness` leaves less room, the time begins before that instant.
   * @default { ratio: 1 } for a schedule that is a duration (due between one and two periods after the load), { ratio:
   * 0.1 } for any other
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

/** The options of a cache with nothing optional left. */
export interface ResolvedCacheOptions<K, V> extends NegativeCacheBounds {
  readonly member: MemberOptions;
  readonly bound: Bound;
  readonly idOf: (key: K) => KeyId;
  readonly keepsKeys: boolean;
  /** `undefined`: none. */
  readonly required: readonly K[] | true | undefined;
  readonly sizeOf: ((value: V, key: K) => number) | undefined;
  /** Loads the entry of one key, alone or with others. */
  readonly load: (
    entry: KeyedEntry<K, V>,
    context: KeyContext<K, V>,
    abort: LazyAbort,
  ) => KeyedAnswer<V> | PromiseLike<KeyedAnswer<V>>;
  /** How many keys one load takes. */
  readonly perLoad: number;
  /** Within which time other keys are due that a due reload takes along, from the time of its key; `undefined`: none. */
  readonly ahead: JitterWidth | undefined;
  /** The schedule with the jitter of the cache. @param periodMs the schedule in milliseconds, where it is a duration; else NaN. */
  readonly spread: (schedule: Schedule, periodMs: number) => Schedule;
}

const OWN = [
  'load',
  'loadMany',
  'batchSize',
  'batchAhead',
  'missing',
  'maxConcurrentLoads',
  'max',
  'maxSize',
  'sizeOf',
  'keyOf',
  'absentFor',
  'maxAbsent',
  'jitter',
  'allowUndefined',
  'required',
];

/** @throws {OptionError} with every rule that is broken. */
export function resolveCacheOptions<K, V extends P, P>(
  options: RefreshingCacheOptions<K, V, P>,
): ResolvedCacheOptions<K, V> {
  const { max, maxSize, sizeOf, keyOf, jitter, batchSize = defaults.batchSize } = options ?? {};
  const { maxConcurrentLoads = defaults.maxConcurrentLoads, missing = defaults.missing } = options ?? {};
  const most = max ?? (maxSize === undefined ? defaults.max : undefined);
  const bound = {
    ...(most === undefined ? {} : { max: most }),
    ...(maxSize === undefined ? {} : { maxSize }),
  };
  const maxAbsent = options?.maxAbsent ?? (most === undefined ? 1000 : Math.max(1, Math.floor(most / 10)));
  const resolved = resolveOptions(options, {
    kind: 'key',
    names: [...VALUE_SHARED, ...OWN],
    check: (checks) => checkOwn(options ?? {}, checks),
  });
  const { schedule, periodMs } = resolved;
  const spread = (unspread: Schedule, ms: number): Schedule => {
    const standard = { ratio: Number.isNaN(ms) ? 0.1 : 1 };
    const width = jitter === false ? undefined : widthOf(jitter ?? standard);
    return width === undefined ? unspread : jittered(unspread, width);
  };
  const ofGroup = resolved.loadLimit;
  const loadLimit =
    maxConcurrentLoads === Infinity ? ofGroup : new LoadLimit(maxConcurrentLoads, resolved.clock, ofGroup);
  const member = {
    ...resolved,
    loadLimit,
    schedule: spread(schedule, periodMs),
  };
  const idOf = keyOf ?? ((key: K) => key as KeyId);
  // In an outage the source is not to be asked for each key again and again.
  const maxFailed = most ?? defaults.max;
  const { required: given = false } = options;
  const required = given === false || (given !== true && given.length === 0) ? undefined : given;
  const base = {
    spread,
    member,
    bound,
    maxAbsent,
    maxFailed,
    idOf,
    keepsKeys: keyOf !== undefined,
    sizeOf,
    required,
  };
  const { load, loadMany } = options;
  if (loadMany === undefined) {
    const loadOne = load as NonNullable<typeof load>;
    const loadKey: Load<V> = (context, { key }) => loadOne(key as K, context as KeyContext<K, V>);
    const limited = limitedLoad(loadKey, member);
    return {
      ...base,
      perLoad: 1,
      ahead: undefined,
      load: (entry, context, abort) => limited(context, entry, abort),
    };
  }
  const { batchAhead = defaults.batchAhead } = options;
  const ahead = batchAhead === false ? undefined : widthOf(batchAhead);
  const { clock, logger, membership } = member;
  const batches = new Batches<K, V>({
    loadMany,
    batchSize,
    idOf,
    missing,
    clock,
    logger,
    loadLimit,
    timeoutMs: member.timeoutMs,
    isShared: membership !== undefined,
  });
  return {
    ...base,
    perLoad: batchSize,
    ahead,
    load: (entry, context, abort) => batches.enqueue(entry, context, abort),
  };
}

function checkOwn<K, V extends P, P>(
  options: Partial<RefreshingCacheOptions<K, V, P>>,
  checks: OptionChecks,
): void {
  const {
    load,
    loadMany,
    batchSize,
    batchAhead,
    missing,
    maxConcurrentLoads,
    max,
    maxSize,
    sizeOf,
    keyOf,
    maxAbsent,
    jitter,
  } = options;
  const { required = false } = options;
  const isList = Array.isArray(required);
  checks.that(
    isList || typeof required === 'boolean',
    'required',
    'must be true, false or an array of keys',
    required,
  );
  checks.that(!(isList && required.includes(undefined)), 'required', 'must not contain undefined', required);
  if (loadMany === undefined) checks.function('load', load);
  else {
    checks.function('loadMany', loadMany);
    checks.that(load === undefined, 'load', 'must not be given beside loadMany', load);
  }
  if (batchSize !== undefined) {
    checks.count('batchSize', batchSize, Infinity);
    checks.that(loadMany !== undefined, 'batchSize', 'must not be given without loadMany', batchSize);
  }
  if (batchAhead !== undefined) {
    const holds = batchAhead === false || widthOf(batchAhead) !== undefined;
    checks.that(holds, 'batchAhead', SPAN_RULE, batchAhead);
    checks.that(loadMany !== undefined, 'batchAhead', 'must not be given without loadMany', batchAhead);
  }
  if (missing !== undefined) {
    checks.oneOf('missing', missing, ['absent', 'fail']);
    checks.that(loadMany !== undefined, 'missing', 'must not be given without loadMany', missing);
  }
  if (maxConcurrentLoads !== undefined) {
    checks.count('maxConcurrentLoads', maxConcurrentLoads, Infinity);
  }
  if (max !== undefined) checks.count('max', max, LARGEST_MAX);
  if (maxSize !== undefined) {
    checks.count('maxSize', maxSize);
    checks.that(sizeOf !== undefined, 'sizeOf', 'must be given with maxSize', sizeOf);
  }
  if (sizeOf !== undefined) {
    checks.function('sizeOf', sizeOf);
    checks.that(maxSize !== undefined, 'maxSize', 'must be given with sizeOf', maxSize);
  }
  if (keyOf !== undefined) checks.function('keyOf', keyOf);
  if (maxAbsent !== undefined) checks.count('maxAbsent', maxAbsent, LARGEST_MAX);
  if (jitter !== undefined && jitter !== false) {
    checks.that(widthOf(jitter) !== undefined, 'jitter', SPAN_RULE, jitter);
  }
}

const SPAN_RULE = 'must be a finite duration of 0 or more, { ratio }, or false';

/** lru-cache allocates the order at once: a `max` beyond this is a mistake. It is also the limit of a Map. */
const LARGEST_MAX = 2 ** 24;

/** The size of a value. Throws when `sizeOf` does, or returns what is not a size. */
export function sizeOfValue<K, V>(sizeOf: ResolvedCacheOptions<K, V>['sizeOf'], value: V, key: K): number {
  if (sizeOf === undefined) return 1;
  const size = sizeOf(value, key);
  if (!isNumber(size, 0, Number.MAX_SAFE_INTEGER)) {
    throw new TypeError(`sizeOf must return a finite number of 0 or more, returned ${String(size)}`);
  }
  return Math.max(1, Math.ceil(size));
}

/** The options that the size of a value depends on. */
export type SizeOptions<K, V> = Pick<ResolvedCacheOptions<K, V>, 'member' | 'sizeOf' | 'bound'>;

/** As {@link sizeOfValue}, of a value that is to be kept. Throws also when it is larger than `maxSize`. */
export function sizeToKeep<K, V>({ sizeOf, bound }: SizeOptions<K, V>, value: V, key: K): number {
  const size = sizeOfValue(sizeOf, value, key);
  if (size > (bound.maxSize ?? Infinity)) {
    throw new RangeError(`the value has the size ${size}, maxSize is ${bound.maxSize}`);
  }
  return size;
}

/**
 * As {@link sizeToKeep}, for a value that was given to a method.
 *
 * @throws {OptionError} naming the key.
 */
export function sizeArgument<K, V>(options: SizeOptions<K, V>, value: V, key: K): number {
  try {
    return sizeToKeep(options, value, key);
  } catch (cause) {
    const problem = {
      option: 'value',
      rule: `must have a size up to maxSize: ${messageOf(cause)}`,
      received: value,
    };
    throw new OptionError([problem], { cacheName: options.member.name, key, cause });
  }
}
