import { isTicklessError } from '../errors.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import { createLru, type Lru } from './lru.ts';

/** How many keys without a value are remembered. */
export interface NegativeCacheBounds {
  readonly maxAbsent: number;
  readonly maxFailed: number;
}

/**
 * Negative cache of keys without a value: the source does not have them, they cool down, or they were deleted while a
 * store still has a snapshot. Each kind has a bound of its own, so that look-ups of nonsense keys evict neither values
 * nor cool-downs.
 */
export class NegativeCache<K, V> {
  readonly #absent: Lru<KeyedEntry<K, V>>;
  readonly #failed: Lru<KeyedEntry<K, V>>;
  readonly #deleted: Lru<KeyedEntry<K, V>> | undefined;

  /**
   * @param onEvicted called when a deleted key is evicted, also one whose loads have failed since; `undefined`: deleted keys need
   *   not be remembered.
   */
  constructor({ maxAbsent, maxFailed }: NegativeCacheBounds, onEvicted: (() => void) | undefined) {
    // Bounded by size, not by number: lru-cache then allocates only for the keys that are there.
    this.#absent = createLru({ maxSize: maxAbsent });
    const dispose = ({ isInvalidated }: KeyedEntry<K, V>, _: unknown, reason: string): void => {
      if (reason === 'evict' && isInvalidated) onEvicted?.();
    };
    this.#failed = createLru({ maxSize: maxFailed }, dispose);
    this.#deleted = onEvicted && createLru<KeyedEntry<K, V>>({ maxSize: maxFailed }, dispose);
  }

  find(id: KeyId): KeyedEntry<K, V> | undefined {
    return this.#absent.peek(id) ?? this.#failed.peek(id) ?? this.#deleted?.peek(id);
  }

  /** Remembers a key without a value, if there is a reason to. */
  put(entry: KeyedEntry<K, V>): void {
    const lru = this.#lruOf(entry);
    if (entry.isNegative && lru?.has(entry.id)) return;
    this.delete(entry);
    if (lru === undefined) return;
    entry.isNegative = true;
    lru.set(entry.id, entry, { size: 1 });
  }

  /** Forgets a key, if it is remembered. */
  delete(entry: KeyedEntry<K, V>): void {
    if (!entry.isNegative) return;
    entry.isNegative = false;
    this.#absent.delete(entry.id);
    this.#failed.delete(entry.id);
    this.#deleted?.delete(entry.id);
  }

  failed(): Iterable<KeyedEntry<K, V>> {
    return this.#failed.values();
  }

  all(): KeyedEntry<K, V>[] {
    return [...this.#absent.values(), ...this.#failed.values(), ...(this.#deleted?.values() ?? [])];
  }

  #lruOf({ lastError, isInvalidated }: KeyedEntry<K, V>): Lru<KeyedEntry<K, V>> | undefined {
    if (lastError !== undefined) return isTicklessError(lastError, 'ABSENT') ? this.#absent : this.#failed;
    return isInvalidated ? this.#deleted : undefined;
  }
}
