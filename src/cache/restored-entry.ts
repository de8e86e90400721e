/** An entry of a dump, checked, with its age now. */
export interface RestoredEntry<K, V> {
  readonly key: K;
  readonly value: V;
  readonly size: number;
  readonly ageMs: number;
  readonly nextExecuteTime: number;
  readonly maxStalenessMs: number | undefined;
  readonly tags: readonly string[] | undefined;
}
