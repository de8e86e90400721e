/** Containers that are split entry by entry. A `dictionary` is an object without a prototype. */
export type Container = 'array' | 'object' | 'dictionary' | 'map' | 'set';

/**
 * A step in building a value. `open` adds a new container to the open one and opens it; `fill` adds entries to the open
 * one. Without an open container the entry is the whole value.
 */
export type Chunk =
  | {
      readonly kind: 'open';
      readonly container: Container;
      readonly key: unknown;
      /** The container gets the next number. */
      readonly isShared: boolean;
    }
  | {
      readonly kind: 'fill';
      /** Empty where the entries have no keys: in an array, in a `Set`, for the whole value. */
      readonly keys: readonly unknown[];
      readonly values: readonly unknown[];
      readonly references: ReferencesOfChunk | undefined;
    }
  | { readonly kind: 'close' };

/** The objects of a chunk that later chunks may refer to, and the gaps of this chunk that refer to earlier ones. */
export interface ReferencesOfChunk {
  /** Objects in the values that get the next numbers. */
  readonly shared: readonly unknown[];
  /** Gaps: the object that has the gap (the array of values itself, or an object in it) … */
  readonly holders: readonly unknown[];
  /** … the key of the gap in that object … */
  readonly keys: readonly unknown[];
  /** … and the number of the object that belongs there. */
  readonly numbers: readonly number[];
}
