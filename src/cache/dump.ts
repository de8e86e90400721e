import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { KeyedEntry } from './keyed-entry.ts';

/** One value of a {@link CacheDump}. */
export interface DumpedEntry<K, V> {
  readonly key: K;
  readonly value: V;
  /** Its age in milliseconds when it was dumped. */
  readonly age: number;
  /** When it is due, in epoch milliseconds; `null`: never by itself. */
  readonly nextExecuteTime: number | null;
  /** Its age limit in milliseconds, where that is not the one of the cache; `null`: none. */
  readonly maxStaleness?: number | null | undefined;
  readonly tags?: readonly string[] | undefined;
}

/**
 * The values of a cache for a warm start: plain data, which JSON, `structuredClone` and `v8.serialize` can encode if they
 * can encode the keys and values.
 */
export interface CacheDump<K, V> {
  /** The version of this format. */
  readonly version: 1;
  /** The `name` of the cache. */
  readonly name: string;
  /** When it was made, in epoch milliseconds. */
  readonly at: number;
  /** The least recently used first. */
  readonly entries: readonly DumpedEntry<K, V>[];
}

/** The result of `restore`. */
export interface RestoreReport {
  /** How many values are in the cache now. */
  readonly restored: number;
  /** How many were left out: older than `maxStaleness` or than the value in the cache, larger than `maxSize`, or too many. */
  readonly dropped: number;
}

/** Dumps entries. @param entries the least recently used first. */
export function dumpOf<K, V>(
  entries: Iterable<KeyedEntry<K, V>>,
  { name, clock, maxStalenessMs: usual }: ResolvedOptions,
): CacheDump<K, V> {
  const now = clock.monotonic();
  const at = clock.now();
  const dumped = Array.from(entries, (entry): DumpedEntry<K, V> => {
    const { key, value, tags, maxStalenessMs, isInvalidated, nextExecuteTime } = entry;
    return {
      key,
      value: value as V,
      age: Math.max(0, now - entry.loadedAt),
      nextExecuteTime: isInvalidated ? at : orNull(nextExecuteTime),
      ...(maxStalenessMs === usual ? {} : { maxStaleness: orNull(maxStalenessMs) }),
      ...(tags === undefined ? {} : { tags }),
    };
  });
  return { version: 1, name, at, entries: dumped };
}

function orNull(number: number): number | null {
  return number === Infinity ? null : number;
}
