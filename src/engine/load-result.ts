import type { HeadersLike } from '../schedule/schedule.ts';
import { ignoreRejection, isThenable } from '../time/deferred.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';

/** Marks the answers of {@link keep} and {@link loaded}; shared by all installed copies of tickless. */
export const answerKind: unique symbol = Symbol.for('tickless.answer');

/** What {@link keep} returns: the source says "not modified". */
export interface Kept {
  readonly [answerKind]: 'kept';
  readonly options: KeepOptions;
}

/** What {@link loaded} returns: a value with words of its own about its life. */
export interface Loaded<T> {
  readonly [answerKind]: 'loaded';
  readonly loadedValue: T;
  readonly loadedOptions: LoadedOptions;
}

/** What a load says about the life of the value, beside the value. */
export interface KeepOptions {
  /**
   * When to load next, in epoch milliseconds, instead of what the schedule says. Taken as a duration from now: a
   * later step of the wall clock does not move it. Must be in the future; `Infinity` means never by itself.
   */
  readonly nextExecuteTime?: number | undefined;
  /**
   * The age beyond which this value is too stale, instead of the option `maxStaleness`. It holds as long as the value
   * does, also when that is kept. Over 0; `Infinity`: never.
   */
  readonly maxStaleness?: DurationLike | undefined;
  /** Headers of the response, for the schedule `httpFreshness`. */
  readonly headers?: HeadersLike | undefined;
  /**
   * The groups that this value of a `RefreshingCache` belongs to, for `invalidateTag`. They hold as long as the value
   * does, also when that is kept. Without meaning for a single value.
   */
  readonly tags?: readonly string[] | undefined;
}

/** As {@link KeepOptions}, for a new value. */
export type LoadedOptions = KeepOptions;

/** What {@link absent} returns: the source has no such key. */
export interface Absent {
  readonly [answerKind]: 'absent';
}

/** All that a load may answer. */
export type LoadAnswer<T> = T | Kept | Loaded<T>;

/** All that the load of one key may answer. */
export type KeyedAnswer<T> = LoadAnswer<T> | Absent;

/**
 * Says that the source has nothing new ("304 Not Modified"): the value stays, its age starts anew.
 *
 * It is a failed load when there is no value to keep.
 *
 * @returns what a load returns.
 */
export function keep(options: KeepOptions = {}): Kept {
  return Object.freeze({ [answerKind]: 'kept', options } as const);
}

/**
 * A value with words of its own about its life: the next execute time, the greatest age, the response's headers.
 * A load that has nothing to say returns the value as it is.
 *
 * @returns what a load returns.
 */
export function loaded<T>(value: T, options: LoadedOptions = {}): Loaded<T> {
  return Object.freeze({ [answerKind]: 'loaded', loadedValue: value, loadedOptions: options } as const);
}

/**
 * Says that the source has no such key. `get` rejects with `AbsentError`, and the source is not asked for this key
 * again for `absentFor`. Only for the load of a `RefreshingCache`; anywhere else it is a failed load.
 *
 * @returns what a load returns.
 */
export function absent(): Absent {
  return ABSENT;
}

const ABSENT: Absent = Object.freeze({ [answerKind]: 'absent' } as const);

/** What was said of a value, checked. */
export interface ValueMetadata {
  readonly nextExecuteTime?: number | undefined;
  readonly maxStalenessMs?: number | undefined;
  readonly headers?: HeadersLike | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** An answer taken apart: the value to serve from now on, and what was said about it. */
export interface LoadResult<T> {
  readonly outcome: 'loaded' | 'kept' | 'set';
  readonly value: T;
  readonly said: ValueMetadata;
}

/** What an entry accepts beside values. */
export interface Acceptance {
  readonly allowUndefined: boolean;
  /** It is one key of many, and the source may not have it. */
  readonly isKeyed: boolean;
}

/**
 * Takes an answer apart. Throws what makes it unacceptable: nothing to keep, `undefined` where that is no value, an
 * age limit that is none.
 *
 * @param held what the entry holds now.
 * @returns `'absent'` when the source has no such key.
 */
export function readLoadResult<T>(
  answer: KeyedAnswer<T>,
  held: { readonly isLoaded: boolean; readonly value: T | undefined },
  { allowUndefined, isKeyed }: Acceptance,
): LoadResult<T> | 'absent' {
  const taken = takeApart(answer, held);
  if (taken === 'absent') {
    if (isKeyed) return taken;
    throw new TypeError('it returned absent(), and there is no key that could be absent');
  }
  const { outcome, value, options } = taken;
  if (outcome === 'loaded' && value === undefined && !allowUndefined) {
    throw new TypeError('it returned undefined, and allowUndefined is not set');
  }
  if (isThenable(value)) {
    ignoreRejection(Promise.resolve(value)); // told by this error, and by nothing else
    throw new TypeError('it returned loaded() of a promise; await it first');
  }
  const { nextExecuteTime, headers, maxStaleness, tags } = options;
  const maxStalenessMs = maxStaleness === undefined ? undefined : toMillis(maxStaleness);
  if (maxStalenessMs !== undefined && !(maxStalenessMs > 0)) {
    throw new TypeError('it returned a maxStaleness that is no duration over 0');
  }
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'))) {
    throw new TypeError('it returned tags that are no array of strings');
  }
  return { outcome, value, said: { nextExecuteTime, headers, maxStalenessMs, tags } };
}

interface TakenApart<T> {
  readonly outcome: 'loaded' | 'kept';
  readonly value: T;
  readonly options: KeepOptions;
}

function takeApart<T>(
  answer: KeyedAnswer<T>,
  held: { readonly isLoaded: boolean; readonly value: T | undefined },
): TakenApart<T> | 'absent' {
  if (typeof answer !== 'object' || answer === null || !(answerKind in answer)) {
    return { outcome: 'loaded', value: answer as T, options: {} };
  }
  if (answer[answerKind] === 'loaded') {
    return { outcome: 'loaded', value: answer.loadedValue, options: answer.loadedOptions };
  }
  if (answer[answerKind] === 'absent') return 'absent';
  if (!held.isLoaded) throw new TypeError('it returned keep(), and there is no value to keep');
  return { outcome: 'kept', value: held.value as T, options: answer.options };
}
