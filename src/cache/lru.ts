import { LRUCache } from 'lru-cache';
import type { KeyId } from './keyed-entry.ts';

/** How many a list may hold, and how much in all. */
export interface Bound {
  readonly max?: number;
  readonly maxSize?: number;
}

/**
 * A list in the order of use that lets go of the least recently used beyond its bound: what is used here of lru-cache,
 * whose own types ask for `@types/node`.
 */
export interface Lru<V> {
  readonly size: number;
  /** Counts as use. */
  get(id: KeyId): V | undefined;
  peek(id: KeyId): V | undefined;
  has(id: KeyId): boolean;
  /** Counts as use. @param options the size is required where there is a `maxSize`. */
  set(id: KeyId, value: V, options?: { size?: number }): void;
  delete(id: KeyId): boolean;
  info(id: KeyId): { size?: number } | undefined;
  values(): Iterable<V>;
  /** The least recently used first. */
  rentries(): Iterable<[KeyId, V]>;
}

/** @param onGone told of each that is let go, deleted, or replaced by another. Must not throw. */
export function createLru<V extends NonNullable<unknown>>(
  bound: Bound,
  onGone?: (value: V, id: KeyId, reason: string) => void,
): Lru<V> {
  const options = { ...bound, dispose: onGone };
  return new LRUCache(options as LRUCache.Options<KeyId, V, unknown>) as Lru<V>;
}
