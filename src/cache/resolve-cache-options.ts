import type { Load } from '../engine/flight.ts';
import { LoadLimit } from '../engine/load-limit.ts';
import type { KeyedLoadReturn } from '../engine/load-result.ts';
import { limitedLoad } from '../engine/own-load.ts';
import { GUARD_OPTIONS } from '../guard/guard-options.ts';
import { type OptionChecks, ownOptions } from '../option-checks.ts';
import { defaults } from '../options/defaults.ts';
import { type MemberOptions, resolveOptions, VALUE_SHARED } from '../options/resolve-options.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import { Batches } from './batches.ts';
import type { CacheOptions, KeyContext } from './cache-options.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import type { Bound } from './lru.ts';
import type { NegativeCacheBounds } from './negative-cache.ts';
import { spread } from './spread.ts';

/** The options of a cache with nothing optional left. */
export interface ResolvedCacheOptions<K, V> extends NegativeCacheBounds {
  readonly member: MemberOptions;
  readonly bound: Bound;
  readonly idOf: (key: K) => KeyId;
  readonly keepsKeys: boolean;
  readonly sizeOf: ((value: V, key: K) => number) | undefined;
  /** Loads the entry of one key, alone or with others. */
  readonly load: (
    entry: KeyedEntry<K, V>,
    context: KeyContext<K, V>,
    abort: LazyAbort,
  ) => KeyedLoadReturn<V> | PromiseLike<KeyedLoadReturn<V>>;
  /** How many keys one load takes. */
  readonly perLoad: number;
}

const OWN = [
  'load',
  'loadMany',
  'batchSize',
  'concurrency',
  'max',
  'maxSize',
  'sizeOf',
  'keyOf',
  'absentFor',
  'required',
];

/** @throws {TicklessError} `OPTION` with every rule that is broken. */
export function resolveCacheOptions<K, V, P>(given: CacheOptions<K, V, P>): ResolvedCacheOptions<K, V> {
  const options = ownOptions(given);
  const own = options ?? ownOptions({});
  const { max, maxSize, sizeOf, keyOf } = own;
  const { batchSize = defaults.batchSize, concurrency = defaults.concurrency } = own;
  const most = max ?? (maxSize === undefined ? defaults.max : undefined);
  const bound = {
    ...(most === undefined ? {} : { max: most }),
    ...(maxSize === undefined ? {} : { maxSize }),
  };
  const resolved = resolveOptions(options, {
    kind: 'key',
    names: [...VALUE_SHARED, ...GUARD_OPTIONS, ...OWN],
    check: (checks) => checkOwn(own, checks),
  });
  const maxAbsent = most === undefined ? 1000 : Math.max(1, Math.floor(most / 10));
  const ofGroup = resolved.loadLimit;
  const loadLimit = concurrency === Infinity ? ofGroup : new LoadLimit(concurrency, resolved.clock, ofGroup);
  const member = { ...resolved, loadLimit, schedule: spread(resolved.schedule, resolved.periodMs) };
  const idOf = keyOf ?? ((key: K) => key as KeyId);
  const { load, loadMany } = options as unknown as CacheOptions<K, V>;
  const loadKey: Load<V> = (context, { key }) =>
    (load as NonNullable<typeof load>)(key as K, context as KeyContext<K, V>);
  const limited = limitedLoad(loadKey, member);
  const batches = loadMany && new Batches<K, V>({ loadMany, batchSize, idOf, member });
  return {
    member,
    bound,
    maxAbsent,
    maxFailed: most ?? defaults.max, // in an outage the source is not to be asked for each key again and again
    idOf,
    keepsKeys: keyOf !== undefined,
    sizeOf,
    perLoad: batches === undefined ? 1 : batchSize,
    load: (entry, context, abort) =>
      batches === undefined ? limited(context, entry, abort) : batches.enqueue(entry, context, abort),
  };
}

function checkOwn<K, V, P>(options: Partial<CacheOptions<K, V, P>>, checks: OptionChecks): void {
  const { load, loadMany, batchSize, concurrency, max, maxSize, sizeOf, keyOf } = options;
  if (loadMany === undefined) checks.function('load', load);
  else {
    checks.function('loadMany', loadMany);
    checks.that(load === undefined, 'load', 'must not be given beside loadMany', load);
  }
  const isBatched = batchSize === undefined || loadMany !== undefined;
  checks.that(isBatched, 'batchSize', 'must not be given without loadMany', batchSize);
  if (batchSize !== undefined) checks.count('batchSize', batchSize, Infinity);
  if (concurrency !== undefined) checks.count('concurrency', concurrency, Infinity);
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
}

/** lru-cache allocates the order at once: a `max` beyond this is a mistake. It is also the limit of a Map. */
const LARGEST_MAX = 2 ** 24;
