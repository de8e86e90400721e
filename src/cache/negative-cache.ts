import { isAbsentError } from '../errors.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import { createLru, type Lru } from './lru.ts';

/** How many keys without a value are remembered. */
export interface NegativeCacheBounds {
  readonly maxAbsent: number;
  readonly maxFailed: number;
}

/**
 * The keys without a value that something is to be remembered of: that the source does not have them, that they cool
 * down, or that they were deleted, where a store still has what they were. They are bounded apart, so that look-ups of nonsense keys end neither what is known of others nor cool-downs.
 */
export class NegativeCache<K, V> {
  readonly #absent: Lru<KeyedEntry<K, V>>;
  readonly #failed: Lru<KeyedEntry<K, V>>;

  readonly #deleted: Lru<KeyedEntry<K, V>> | undefined;

  /** @param forgotten called when a deleted key is forgotten; `undefined`: deleted ones need not be remembered. */
  constructor({ maxAbsent, maxFailed }: NegativeCacheBounds, forgotten: (() => void) | undefined) {
    // By size, not by number: that takes memory for what there is, not for what there may be.
    this.#absent = createLru({ maxSize: maxAbsent });
    this.#failed = createLru({ maxSize: maxFailed });
    const dispose = (_: unknown, __: unknown, reason: string): void => {
      if (reason === 'evict') forgotten?.();
    };
    this.#deleted = forgotten && createLru<KeyedEntry<K, V>>({ maxSize: maxFailed }, dispose);
  }

  find(id: KeyId): KeyedEntry<K, V> | undefined {
    return this.#absent.peek(id) ?? this.#failed.peek(id) ?? this.#deleted?.peek(id);
  }

  /** Remembers it as what it is, or not at all. */
  put(entry: KeyedEntry<K, V>, isVacant: boolean): void {
    const { lastError, isInvalidated } = entry;
    const isAbsent = isAbsentError(lastError);
    const hasFailed = !isAbsent && lastError !== undefined;
    remember(this.#absent, entry, isVacant && isAbsent);
    remember(this.#failed, entry, isVacant && hasFailed);
    remember(this.#deleted, entry, isVacant && lastError === undefined && isInvalidated);
  }

  failed(): Iterable<KeyedEntry<K, V>> {
    return this.#failed.values();
  }

  all(): KeyedEntry<K, V>[] {
    return [...this.#absent.values(), ...this.#failed.values(), ...(this.#deleted?.values() ?? [])];
  }
}

function remember<E extends KeyedEntry<unknown, unknown>>(
  lru: Lru<E> | undefined,
  entry: E,
  isOne: boolean,
): void {
  if (!isOne) lru?.delete(entry.id);
  else if (!lru?.has(entry.id)) lru?.set(entry.id, entry, { size: 1 });
}
