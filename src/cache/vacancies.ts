import { isAbsentError } from '../errors.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import { createLru, type Lru } from './lru.ts';

/** How many keys without a value are remembered. */
export interface VacancyBounds {
  readonly maxAbsent: number;
  readonly maxFailed: number;
}

/**
 * The keys without a value that something is to be remembered of: that the source does not have them, that they cool
 * down, or that they were deleted, where a store still has what they were. They are bounded apart, so that look-ups of nonsense keys end neither what is known of others nor cool-downs.
 */
export class Vacancies<K, V> {
  readonly #absent: Lru<KeyedEntry<K, V>>;
  readonly #failed: Lru<KeyedEntry<K, V>>;

  readonly #keepsDeleted: boolean;

  constructor({ maxAbsent, maxFailed }: VacancyBounds, keepsDeleted: boolean) {
    this.#keepsDeleted = keepsDeleted;
    // By size, not by number: that takes memory for what there is, not for what there may be.
    this.#absent = createLru({ maxSize: maxAbsent });
    this.#failed = createLru({ maxSize: maxFailed });
  }

  find(id: KeyId): KeyedEntry<K, V> | undefined {
    return this.#absent.peek(id) ?? this.#failed.peek(id);
  }

  /** Remembers it as what it is, or not at all. */
  put(entry: KeyedEntry<K, V>, isVacant: boolean): void {
    const { id, lastError, isInvalidated } = entry;
    const isAbsent = isVacant && isAbsentError(lastError);
    const isDeleted = isInvalidated && this.#keepsDeleted;
    const hasFailed = isVacant && !isAbsent && (lastError !== undefined || isDeleted);
    if (!isAbsent) this.#absent.delete(id);
    else if (!this.#absent.has(id)) this.#absent.set(id, entry, { size: 1 });
    if (!hasFailed) this.#failed.delete(id);
    else if (!this.#failed.has(id)) this.#failed.set(id, entry, { size: 1 });
  }

  failed(): Iterable<KeyedEntry<K, V>> {
    return this.#failed.values();
  }

  all(): KeyedEntry<K, V>[] {
    return [...this.#absent.values(), ...this.#failed.values()];
  }
}
