import type { MemberEngine } from '../engine/member-engine.ts';
import { isTicklessError } from '../errors.ts';
import type { RequiredEntries, RequiredEntry } from '../options/group-handle.ts';
import { Deferred } from '../time/deferred.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';

/** The keys that a cache must have loaded before it is ready: certain ones, or any. */
export class RequiredKeys<K, V> implements RequiredEntries<V> {
  /** `undefined`: any key will do. */
  readonly #keys: ReadonlyMap<KeyId, K> | undefined;
  readonly #entries: KeyedEntries<K, V>;
  readonly #engine: MemberEngine<V>;
  /** Those without a first success. */
  readonly #missing: Set<KeyId>;
  readonly #first: Deferred<void> = new Deferred();
  #hadSuccess = false;

  constructor(required: readonly K[] | true, entries: KeyedEntries<K, V>, engine: MemberEngine<V>) {
    this.#keys =
      required === true ? undefined : new Map(required.map((key) => [entries.idOf(key), key] as const));
    this.#missing = new Set(this.#keys?.keys());
    this.#entries = entries;
    this.#engine = engine;
  }

  get count(): number {
    return this.#keys?.size ?? 1;
  }

  get isAny(): boolean {
    return this.#keys === undefined;
  }

  /** An entry may have had its first success. An answer that the key is absent is one. */
  changed({ id, isLoaded, lastError }: KeyedEntry<K, V>): void {
    if (this.#hadSuccess || !(isLoaded || isTicklessError(lastError, 'ABSENT'))) return;
    this.#missing.delete(id);
    this.#hadSuccess = this.#missing.size === 0;
    if (this.#hadSuccess) this.#first.resolve();
  }

  entries(): RequiredEntry<V>[] {
    if (this.#keys === undefined) {
      const [example] = this.#entries.failing();
      const of = example === undefined ? {} : { key: example.key, entry: example };
      return this.#hadSuccess ? [] : [{ isMissing: true, ...of }];
    }
    return Array.from(this.#keys, ([id, key]) => {
      const entry = this.#entries.has(key) ? this.#entries.use(key, (used) => used) : undefined;
      return { key, isMissing: this.#missing.has(id), ...(entry === undefined ? {} : { entry }) };
    });
  }

  firstLoads(signal: AbortSignal): (() => Promise<void>)[] {
    const keys = this.#keys;
    if (keys === undefined) return [() => this.#first.promise];
    return [...this.#missing].map((id) => async () => {
      if (!this.#missing.has(id)) return;
      const start = (entry: KeyedEntry<K, V>): Promise<void> =>
        this.#engine.requestStart(entry, true, undefined, signal);
      await this.#entries.useId(id, keys.get(id) as K, start).catch((error: unknown) => {
        if (!isTicklessError(error, 'ABSENT')) throw error;
      });
    });
  }
}
