import { metaOf, type ValueMeta } from '../data/value-meta.ts';
import { showKey } from '../errors.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { HeadersLike } from '../schedule/schedule.ts';
import { freshened } from '../schedule/stored-headers.ts';
import { ignoreRejection, isThenable } from '../time/deferred.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** Marks the results of {@link keep}, {@link loaded} and {@link absent}; shared by all installed copies of tickless. */
export const returnKind: unique symbol = Symbol.for('tickless.answer');

/** The result of {@link keep}: the source reports "not modified". */
export interface Kept {
  readonly [returnKind]: 'kept';
  readonly options: KeepOptions;
}

/** The result of {@link loaded}: a value with metadata about its life. */
export interface Loaded<T> {
  readonly [returnKind]: 'loaded';
  readonly loadedValue: T;
  readonly loadedOptions: LoadedOptions;
}

/** Metadata about the life of a value, returned by a load. */
export interface KeepOptions {
  /** How long from now until the next load, instead of the schedule's time. Over 0; `Infinity`: never by itself. */
  readonly dueAfter?: DurationLike | undefined;
  /**
   * The age beyond which this value is too stale. The shortest of this, the option of the member and that of the read counts. It
   * holds as long as the value does, also when that is kept. Over 0; `Infinity`: no limit of its own.
   */
  readonly maxStaleness?: DurationLike | undefined;
  /**
   * Headers of the response, for the schedule `httpFreshness`. `Cache-Control`, `Expires` and `Last-Modified` hold until other
   * ones replace them, also when the value is kept: a "304 Not Modified" need not repeat them.
   */
  readonly headers?: HeadersLike | undefined;
  /**
   * The groups that this value of a `RefreshingCache` belongs to, for `invalidateTag`. They hold as long as the value
   * does, also when that is kept. Without meaning for a single value.
   */
  readonly tags?: readonly string[] | undefined;
  /**
   * The next load gets it as `context.previous.meta`, on any instance of a cluster and after a restart with a backend: an `ETag`, a
   * `Last-Modified`, a cursor. A plain object of at most 2,000 characters of JSON, which keeps what JSON does. It holds as long as
   * the value does, also when that is kept.
   */
  readonly meta?: ValueMeta | undefined;
}

/** As {@link KeepOptions}, for a new value. */
export type LoadedOptions = KeepOptions;

/** The result of {@link absent}: the source does not have the key. */
export interface Absent {
  readonly [returnKind]: 'absent';
}

/** All that a load may return. */
export type LoadReturn<T> = T | Kept | Loaded<T>;

/** All that the load of one key may return. */
export type KeyedLoadReturn<T> = LoadReturn<T> | Absent;

/**
 * Reports that the source has nothing new ("304 Not Modified"): the value stays, its age starts anew.
 *
 * It is a failed load when there is no value to keep.
 *
 * @returns the value for a load to return.
 */
export function keep(options: KeepOptions = {}): Kept {
  return Object.freeze({ [returnKind]: 'kept', options } as const);
}

/**
 * A value with metadata about its life: the next execute time, the greatest age, the response's headers. A load
 * without metadata returns the value as it is.
 *
 * @returns the value for a load to return.
 */
export function loaded<T>(value: T, options: LoadedOptions = {}): Loaded<T> {
  return Object.freeze({ [returnKind]: 'loaded', loadedValue: value, loadedOptions: options } as const);
}

/**
 * Reports that the source does not have the key. `get` rejects with `ABSENT`, and the source is not asked for this key
 * again for `absentFor`. Only for the load of a `RefreshingCache`; anywhere else it is a failed load.
 *
 * @returns the value for a load to return.
 */
export function absent(): Absent {
  return ABSENT;
}

/** It is what {@link keep}, {@link loaded} or {@link absent} has returned: an answer of a load, and no value. */
export function isAnswer(thing: unknown): thing is Kept | Loaded<unknown> | Absent {
  return typeof thing === 'object' && thing !== null && returnKind in thing;
}

const ABSENT: Absent = /* @__PURE__ */ Object.freeze({ [returnKind]: 'absent' } as const);

/** The metadata that a load returned with a value, checked. */
export interface ValueMetadata {
  readonly dueAfterMs?: number | undefined;
  readonly maxStalenessMs?: number | undefined;
  readonly headers?: HeadersLike | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly meta?: ValueMeta | undefined;
}

/** The value to serve from now on, with its metadata. */
export interface LoadResult<T> {
  /** How the value came. */
  readonly origin: 'loaded' | 'kept' | 'set';
  readonly value: T;
  readonly metadata: ValueMetadata;
}

/** Without a prototype: its fields are none, whatever others have added to `Object.prototype`. */
const NO_METADATA: ValueMetadata = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ Object.create(null));

/**
 * Reads what a load has returned. Throws if it can't be accepted: `keep()` without a value, `undefined` where
 * it is not a task, an age limit that is not a positive duration, metadata of an unknown name.
 *
 * @param held the value that the entry has now.
 * @returns `'absent'` when the source does not have the key.
 */
export function readLoadResult<T>(
  returned: KeyedLoadReturn<T>,
  held: {
    readonly isLoaded: boolean;
    readonly value: T | undefined;
    readonly last?: { readonly headers: HeadersLike | undefined } | undefined;
  },
  { kind }: Pick<ResolvedOptions, 'kind'>,
): LoadResult<T> | 'absent' {
  if (!isAnswer(returned)) {
    if (returned === undefined && kind !== 'task') throw undefinedError();
    return { origin: 'loaded', value: returned, metadata: NO_METADATA };
  }
  switch (returned[returnKind]) {
    case 'absent':
      if (kind === 'key') return 'absent';
      throw new TypeError('the load returned absent(), which is only for keys of a cache');
    case 'kept': {
      if (!held.isLoaded) throw new TypeError('the load returned keep(), but there is no value to keep');
      const metadata = checkMetadata(returned.options);
      const headers =
        'isWhole' in returned ? metadata.headers : freshened(held.last?.headers, metadata.headers);
      return { origin: 'kept', value: held.value as T, metadata: { ...metadata, headers } };
    }
    case 'loaded': {
      const value = returned.loadedValue;
      if (value === undefined && kind !== 'task') throw undefinedError();
      if (isAnswer(value))
        throw new TypeError('loaded() was given the result of keep(), loaded() or absent()');
      if (isThenable(value)) {
        ignoreRejection(Promise.resolve(value)); // reported by this error alone
        throw new TypeError('the load returned loaded() of a promise; await the promise first');
      }
      return { origin: 'loaded', value, metadata: checkMetadata(returned.loadedOptions) };
    }
  }
}

/** The result, as that of `keep()` where its value says the same as the one in place. Throws what `isUnchanged` throws. */
export function unlessUnchanged<T>(
  result: LoadResult<T> | 'absent',
  held: { readonly isLoaded: boolean; readonly isInitial: boolean; readonly value: T | undefined },
  isUnchanged: ((before: unknown, now: unknown) => boolean) | undefined,
): LoadResult<T> | 'absent' {
  if (isUnchanged === undefined || result === 'absent' || result.origin !== 'loaded') return result;
  if (!held.isLoaded || held.isInitial || !isUnchanged(held.value, result.value)) return result;
  return { ...result, origin: 'kept', value: held.value as T };
}

/**
 * The new value that a load returned, plain or with metadata, its tags and notes. `undefined`: it returned none, or what
 * {@link readLoadResult} refuses. Throws for notes that can't be.
 */
export function candidateOf<T>(
  returned: KeyedLoadReturn<T>,
): ({ readonly value: T } & Pick<ValueMetadata, 'tags' | 'meta'>) | undefined {
  let value = returned as T;
  let options: LoadedOptions = {};
  if (isAnswer(returned)) {
    if (returned[returnKind] !== 'loaded') return undefined;
    value = returned.loadedValue;
    options = ownOptions(returned.loadedOptions);
  }
  if (value === undefined || isThenable(value)) return undefined;
  return { value, tags: options.tags, meta: metaOf(options.meta) };
}

/** The result of a load, with another value in place of {@link candidateOf}. */
export function withCandidate<T>(returned: KeyedLoadReturn<T>, value: T): KeyedLoadReturn<T> {
  return isAnswer(returned) ? loaded(value, (returned as Loaded<T>).loadedOptions) : value;
}

/** The answer of a load whose value says the same as the one in place: that stays. Its response was a whole one. */
export function asKept(returned: unknown): Kept {
  const options = isAnswer(returned) ? (returned as Loaded<unknown>).loadedOptions : {};
  return Object.freeze({ ...keep(options), isWhole: true });
}

/** It is the result of {@link keep}. */
export function isKept(returned: unknown): boolean {
  return isAnswer(returned) && returned[returnKind] === 'kept';
}

function undefinedError(): TypeError {
  return new TypeError('the load returned undefined; null may say that there is nothing');
}

const METADATA: readonly (keyof KeepOptions)[] = ['dueAfter', 'headers', 'maxStaleness', 'tags', 'meta'];

function checkMetadata(given: KeepOptions): ValueMetadata {
  const checks = new OptionChecks('loaded() or keep()');
  checks.names('', given, METADATA);
  checks.done();
  const { dueAfter, headers, maxStaleness, tags, meta } = ownOptions(given);
  const dueAfterMs = positiveMs('dueAfter', dueAfter);
  const maxStalenessMs = positiveMs('maxStaleness', maxStaleness);
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'))) {
    throw new TypeError(`tags must be an array of strings, the load returned ${showKey(tags)}`);
  }
  return { dueAfterMs, headers, maxStalenessMs, tags, meta: metaOf(meta) };
}

function positiveMs(name: keyof KeepOptions, given: DurationLike | undefined): number | undefined {
  const ms = given === undefined ? undefined : toMillis(given);
  if (ms === undefined || ms > 0) return ms;
  throw new TypeError(`${name} must be a positive duration, the load returned ${showKey(given)}`);
}
