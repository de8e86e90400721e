import { limitedLoad } from '../engine/limited-load.ts';
import type { Load } from '../engine/load-execution.ts';
import { LoadLimit } from '../engine/load-limit.ts';
import type { KeyedLoadReturn } from '../engine/load-result.ts';
import { GUARD_OPTIONS } from '../guard/guard-options.ts';
import type { OptionChecks } from '../option-checks.ts';
import { ownOptions } from '../option-checks.ts';
import { defaults } from '../options/defaults.ts';
import { type MemberOptions, resolveOptions, VALUE_SHARED } from '../options/resolve-options.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { type JitterWidth, widthOf } from '../schedule/with-jitter.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import { Batches } from './batches.ts';
import type { KeyContext, RefreshingCacheOptions } from './cache-options.ts';
import { jittered, spreadFirst } from './jitter.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import type { Bound } from './lru.ts';
import type { NegativeCacheBounds } from './negative-cache.ts';

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
  ) => KeyedLoadReturn<V> | PromiseLike<KeyedLoadReturn<V>>;
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

/** @throws {TicklessError} `OPTION` with every rule that is broken. */
export function resolveCacheOptions<K, V, P>(
  given: RefreshingCacheOptions<K, V, P>,
): ResolvedCacheOptions<K, V> {
  const options = ownOptions(given);
  const own = options ?? ownOptions({});
  const { max, maxSize, sizeOf, keyOf, jitter, batchSize = defaults.batchSize } = own;
  const { maxConcurrentLoads = defaults.maxConcurrentLoads, missing = defaults.missing } = own;
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
  const maxAbsent = options?.maxAbsent ?? (most === undefined ? 1000 : Math.max(1, Math.floor(most / 10)));
  const { schedule, periodMs } = resolved;
  const spread = (unspread: Schedule, ms: number): Schedule => {
    if (jitter === undefined && !Number.isNaN(ms)) return spreadFirst(unspread);
    const width = jitter === false ? undefined : widthOf(jitter ?? CALENDAR_JITTER);
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
  const { required: wanted = false } = options;
  const required = wanted === false || (wanted !== true && wanted.length === 0) ? undefined : wanted;
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
    const loadKey: Load<V> = (context, { key }) => loadOne(key as K, context as KeyContext<K, P>);
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
    loadMany: loadMany as unknown as NonNullable<RefreshingCacheOptions<K, V>['loadMany']>,
    batchSize,
    idOf,
    missing,
    clock,
    logger,
    loadLimit,
    name: member.name,
    isShared: membership !== undefined,
  });
  return {
    ...base,
    perLoad: batchSize,
    ahead,
    load: (entry, context, abort) => batches.enqueue(entry, context, abort),
  };
}

function checkOwn<K, V, P>(options: Partial<RefreshingCacheOptions<K, V, P>>, checks: OptionChecks): void {
  const { load, loadMany, batchSize, batchAhead, missing, maxConcurrentLoads } = options;
  const { max, maxSize, sizeOf, keyOf, maxAbsent, jitter, required = false } = options;
  const isList = Array.isArray(required);
  const isRequired = isList || typeof required === 'boolean';
  checks.that(isRequired, 'required', 'must be true, false or an array of keys', required);
  checks.that(!(isList && required.includes(undefined)), 'required', 'must not contain undefined', required);
  if (loadMany === undefined) checks.function('load', load);
  else {
    checks.function('loadMany', loadMany);
    checks.that(load === undefined, 'load', 'must not be given beside loadMany', load);
  }
  for (const option of ['batchSize', 'batchAhead', 'missing'] as const) {
    const holds = options[option] === undefined || loadMany !== undefined;
    checks.that(holds, option, 'must not be given without loadMany', options[option]);
  }
  if (batchSize !== undefined) checks.count('batchSize', batchSize, Infinity);
  if (batchAhead !== undefined) {
    const holds = batchAhead === false || widthOf(batchAhead) !== undefined;
    checks.that(holds, 'batchAhead', SPAN_RULE, batchAhead);
  }
  if (missing !== undefined) checks.oneOf('missing', missing, ['absent', 'fail']);
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

/** The default where the schedule is not a duration, but an instant of a calendar: keys must not be due before it. */
const CALENDAR_JITTER = { ratio: 0.1 };

/** lru-cache allocates the order at once: a `max` beyond this is a mistake. It is also the limit of a Map. */
const LARGEST_MAX = 2 ** 24;
