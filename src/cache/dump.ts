import type { Dump, DumpedValue } from '../value/dump.ts';

/** One value of a {@link CacheDump}. */
export interface DumpedEntry<K, V> extends DumpedValue<V> {
  readonly key: K;
  readonly tags?: readonly string[] | undefined;
}

/** The values of a cache for a warm start, with their keys, the least recently used first: see {@link Dump}. */
export interface CacheDump<K, V> extends Dump<DumpedEntry<K, V>> {}
