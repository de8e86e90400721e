import { LRUCache } from 'lru-cache';
import { ownOptions } from '../option-checks.ts';
import type { KeyId } from './keyed-entry.ts';

/** The greatest number of items, and their greatest total size. */
export interface Bound {
  readonly max?: number;
  readonly maxSize?: number;
}

/** Called for each item that is evicted, deleted or replaced. Must not throw. */
type OnGone<V> = (value: V, id: KeyId, reason: string) => void;

/**
 * The options of each call of lru-cache, all of them at their defaults. Without options it makes an object in each call, and
 * allocates it wherever V8 does not inline the call: a read then takes twice as long.
 */
const plain = {
  allowStale: false,
  updateAgeOnGet: false,
  updateAgeOnHas: false,
  noDeleteOnStaleGet: false,
  noDisposeOnSet: false,
  noUpdateTTL: false,
  ttl: 0,
  start: undefined,
  size: 0,
  sizeCalculation: undefined,
  status: undefined,
};

/** @param size of an item that is set; required where there is a `maxSize`. @default 0 */
function plainOptions(size: number = 0): typeof plain {
  plain.size = size;
  plain.status = undefined; // where somebody traces lru-cache it has kept the status of the last call
  return plain;
}

/** The part of lru-cache that is used here. Its own types take no option that is `undefined`. */
interface Items<V> {
  readonly size: number;
  get(id: KeyId, options: object): V | undefined;
  peek(id: KeyId, options: object): V | undefined;
  has(id: KeyId, options: object): boolean;
  set(id: KeyId, value: V, options: object): unknown;
  delete(id: KeyId): boolean;
  info(id: KeyId): { size?: number } | undefined;
  values(): Iterable<V>;
  entries(): Iterable<[KeyId, V]>;
  rentries(): Iterable<[KeyId, V]>;
}

/** A map in the order of use that evicts the least recently used item beyond its bound: lru-cache. */
export class Lru<V extends NonNullable<unknown>> {
  readonly #items: Items<V>;

  constructor(bound: Bound, onGone?: OnGone<V>) {
    const options = ownOptions({ ...bound, dispose: onGone });
    this.#items = new LRUCache(options as LRUCache.Options<KeyId, V, unknown>) as Items<V>;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Counts as use. */
  get(id: KeyId): V | undefined {
    return this.#items.get(id, plainOptions());
  }

  peek(id: KeyId): V | undefined {
    return this.#items.peek(id, plainOptions());
  }

  has(id: KeyId): boolean {
    return this.#items.has(id, plainOptions());
  }

  /** Counts as use. @param size as of `plainOptions`. */
  set(id: KeyId, value: V, size?: number): void {
    this.#items.set(id, value, plainOptions(size));
  }

  delete(id: KeyId): boolean {
    return this.#items.delete(id);
  }

  /** `undefined`: it is not there, or there is no `maxSize`. */
  sizeOf(id: KeyId): number | undefined {
    return this.#items.info(id)?.size;
  }

  values(): Iterable<V> {
    return this.#items.values();
  }

  /** The most recently used first. Walked as it is at each step: an item that is used meanwhile may come again. */
  entries(): Iterable<[KeyId, V]> {
    return this.#items.entries();
  }

  /** The least recently used first. */
  rentries(): Iterable<[KeyId, V]> {
    return this.#items.rentries();
  }
}
