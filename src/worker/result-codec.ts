import { metaOf } from '../data/value-meta.ts';
import {
  type Absent,
  absent,
  type KeepOptions,
  type Kept,
  keep,
  type Loaded,
  loaded,
  returnKind,
} from '../engine/load-result.ts';
import { toMillis } from '../time/duration.ts';
import { decodeError, type EncodedError, encodeError } from './error-codec.ts';

/** The part of a result that is not the value: of `keep()`, `loaded()` or `absent()`, or the `Error` of a key. */
type Mark =
  | { readonly kind: 'kept' | 'loaded'; readonly options: KeepOptions }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly error: EncodedError };

/** The result of a load in a form that can be cloned. `keep()` and the like are marked by symbols, which cannot. */
export interface EncodedResult {
  /** The value; of a `Map` of results, as `loadMany` returns, a `Map` of their values. */
  readonly value: unknown;
  readonly mark: Mark | undefined;
  /** The marks of entries of the `Map`, each with the index of its entry. */
  readonly entryMarks: readonly (readonly [index: number, mark: Mark])[];
}

interface UnmarkedResult {
  readonly value: unknown;
  readonly mark: Mark | undefined;
}

/** Called in the thread. */
export function encodeResult(result: unknown): EncodedResult {
  const { value, mark } = unmark(result);
  const entryMarks = value instanceof Map ? marksOfEntries(value) : [];
  if (entryMarks.length === 0) return { value, mark, entryMarks };
  const values = new Map(
    [...(value as Map<unknown, unknown>)].map(([key, one]) => [key, unmarkEntry(one).value]),
  );
  return { value: values, mark, entryMarks };
}

function marksOfEntries(results: ReadonlyMap<unknown, unknown>): [number, Mark][] {
  const marks: [number, Mark][] = [];
  let index = 0;
  for (const result of results.values()) {
    const { mark } = unmarkEntry(result);
    if (mark !== undefined) marks.push([index, mark]);
    index += 1;
  }
  return marks;
}

/** Called in the thread that started the load. */
export function decodeResult({ value, mark, entryMarks }: EncodedResult): unknown {
  if (entryMarks.length > 0) {
    const results = value as Map<unknown, unknown>;
    const keys = [...results.keys()];
    for (const [index, one] of entryMarks) results.set(keys[index], withMark(one, results.get(keys[index])));
  }
  return mark === undefined ? value : withMark(mark, value);
}

/** In the `Map` of a `loadMany` an `Error` stands for a key that failed. */
function unmarkEntry(result: unknown): UnmarkedResult {
  if (!(result instanceof Error)) return unmark(result);
  return { value: undefined, mark: { kind: 'failed', error: encodeError(result) } };
}

function unmark(result: unknown): UnmarkedResult {
  if (typeof result !== 'object' || result === null || !(returnKind in result)) {
    return { value: result, mark: undefined };
  }
  const marked = result as Kept | Loaded<unknown> | Absent;
  switch (marked[returnKind]) {
    case 'kept':
      return { value: undefined, mark: { kind: 'kept', options: cloneableOptions(marked.options) } };
    case 'loaded':
      return {
        value: marked.loadedValue,
        mark: { kind: 'loaded', options: cloneableOptions(marked.loadedOptions) },
      };
    case 'absent':
      return { value: undefined, mark: { kind: 'absent' } };
  }
}

function withMark(mark: Mark, value: unknown): unknown {
  switch (mark.kind) {
    case 'kept':
      return keep(mark.options);
    case 'loaded':
      return loaded(value, mark.options);
    case 'absent':
      return absent();
    case 'failed':
      return decodeError(mark.error);
  }
}

/** Replaces objects with methods, which cannot be cloned: luxon's durations, `Headers`. */
function cloneableOptions(options: KeepOptions): KeepOptions {
  const { dueAfter, maxStaleness, headers, tags, meta } = options;
  return {
    dueAfter: dueAfter === undefined ? undefined : toMillis(dueAfter),
    maxStaleness: maxStaleness === undefined ? undefined : toMillis(maxStaleness),
    headers: isIterable(headers) ? Object.fromEntries(headers) : headers,
    // A copy each: an array that several results share could force the value into one chunk.
    tags: Array.isArray(tags) ? [...tags] : tags,
    meta: metaOf(meta),
  };
}

function isIterable(headers: unknown): headers is Iterable<readonly [string, string]> {
  return typeof headers === 'object' && headers !== null && Symbol.iterator in headers;
}
