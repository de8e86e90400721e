import { LRUCache } from 'lru-cache';
import type { KeyId } from './keyed-entry.ts';

/** How many a list may hold: so many, or so much in all. */
export interface Bound {
  readonly max?: number;
  readonly maxSize?: number;
}

/** A list in the order of use that lets go of the least recently used beyond its bound. */
export type Lru<V extends NonNullable<unknown>> = LRUCache<KeyId, V>;

/** @param onGone told of each that is let go, deleted, or replaced by another. Must not throw. */
export function createLru<V extends NonNullable<unknown>>(
  bound: Bound,
  onGone?: (value: V, id: KeyId, reason: string) => void,
): Lru<V> {
  const options = onGone === undefined ? bound : { ...bound, dispose: onGone };
  return new LRUCache(options as LRUCache.Options<KeyId, V, unknown>);
}
