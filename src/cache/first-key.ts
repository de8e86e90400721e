import { isTicklessError } from '../errors.ts';
import type { FirstSuccess } from '../options/group-handle.ts';
import { Deferred } from '../time/deferred.ts';
import type { KeyedEntry } from './keyed-entry.ts';

/** The first success of any key of a cache that must have loaded one before it is ready. */
export class FirstKey<K, V> implements FirstSuccess {
  isOver = false;
  readonly #first: Deferred<void> = new Deferred();

  get promise(): Promise<void> {
    return this.#first.promise;
  }

  /** An entry may have had its first success. An answer that the key is absent is one. */
  changed({ isLoaded, lastError }: KeyedEntry<K, V>): void {
    if (this.isOver || !(isLoaded || isTicklessError(lastError, 'ABSENT'))) return;
    this.isOver = true;
    this.#first.resolve();
  }
}
