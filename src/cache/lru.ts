import { LRUCache } from 'lru-cache';
import { ownOptions } from '../option-checks.ts';
import type { KeyId } from './keyed-entry.ts';

/** The greatest number of items, and their greatest total size. */
export interface Bound {
  readonly max?: number;
  readonly maxSize?: number;
}

/**
 * A map in the order of use that evicts the least recently used item beyond its bound: the part of lru-cache that is used
 * here. Its own types need `@types/node`.
 */
export interface Lru<V> {
  readonly size: number;
  /** Counts as use. @param options without them lru-cache makes an object for each read. */
  get(id: KeyId, options: object): V | undefined;
  peek(id: KeyId): V | undefined;
  has(id: KeyId): boolean;
  /** Counts as use. @param options the size is required where there is a `maxSize`. */
  set(id: KeyId, value: V, options?: { size?: number }): void;
  delete(id: KeyId): boolean;
  info(id: KeyId): { size?: number } | undefined;
  values(): Iterable<V>;
  /** The most recently used first. Walked as it is at each step: an item that is used meanwhile may come again. */
  entries(): Iterable<[KeyId, V]>;
  /** The least recently used first. */
  rentries(): Iterable<[KeyId, V]>;
}

/**
 * lru-cache allocates the order of `max` items at once, 22 bytes each; bounded by size, only that of the items that are there. These
 * take 25 bytes more each then: so a large table, which is meant to be filled, is allocated at once.
 */
const LARGEST_GROWING = 10_000;

function growing(bound: Bound): Bound & { readonly sizeCalculation?: () => number } {
  const { max = Infinity, maxSize } = ownOptions(bound);
  const isSmall = maxSize === undefined && max <= LARGEST_GROWING;
  return isSmall ? { maxSize: max, sizeCalculation: () => 1 } : bound;
}

/** @param onGone called for each item that is evicted, deleted or replaced. Must not throw. */
export function createLru<V extends NonNullable<unknown>>(
  bound: Bound,
  onGone?: (value: V, id: KeyId, reason: string) => void,
): Lru<V> {
  const options = ownOptions({ ...growing(bound), dispose: onGone });
  return new LRUCache(options as LRUCache.Options<KeyId, V, unknown>) as Lru<V>;
}
