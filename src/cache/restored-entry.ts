import type { RestoredValue } from '../engine/restored-value.ts';

/** An entry of a dump, checked, with its age now. */
export interface RestoredEntry<K, V> extends RestoredValue<V> {
  readonly key: K;
  readonly size: number;
  readonly tags: readonly string[] | undefined;
}
