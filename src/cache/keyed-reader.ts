import type { MemberEngine } from '../engine/member-engine.ts';
import { type ReadAgain, Reader, type ReadOptions } from '../engine/reader.ts';
import { rejected } from '../time/deferred.ts';
import { type ReadResult, readResult } from '../value/read-result.ts';
import type { DueKeys } from './due-keys.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';

/** Reads the entries of keys: all reads but fresh ones, for which the cache needs no entry. */
export class KeyedReader<K, V> {
  readonly #entries: KeyedEntries<K, V>;
  readonly #engine: MemberEngine<V>;
  readonly #reader: Reader<V>;
  readonly #along: DueKeys<K, V> | undefined;

  /** @param along takes other keys along into the call of a due reload; `undefined`: each is loaded by itself. */
  constructor(entries: KeyedEntries<K, V>, engine: MemberEngine<V>, along: DueKeys<K, V> | undefined) {
    this.#entries = entries;
    this.#engine = engine;
    this.#reader = new Reader(engine);
    this.#along = along;
  }

  /** A read that may wait; the caller has counted it. @throws {TicklessError} `OPTION` when the key is `undefined`, or has no identity. */
  read(key: K, options: ReadOptions | undefined): Promise<V> {
    const id = this.#entries.idOf(key);
    const begun = options === undefined ? this.#entries.validActive(id) : undefined;
    return (begun && this.#reader.join(begun)) ?? this.#read(id, key, options);
  }

  /** The same, with what is known of the value. Counts each read that it takes. */
  readResult(key: K, options: ReadOptions | undefined): Promise<ReadResult<V>> {
    let entry: KeyedEntry<K, V>;
    const read = (): Promise<V> => {
      try {
        this.#engine.events.counters.reads += 1;
        const id = this.#entries.idOf(key);
        this.#entries.table.use(id);
        return this.#read(id, key, options, undefined, (found) => {
          entry = found;
        });
      } catch (error) {
        return rejected(error);
      }
    };
    return readResult(read, () => entry, this.#engine);
  }

  /** A read that can't wait. Throws when there is no value that may be served. */
  readNow(key: K): V {
    return this.#entries.use(key, (entry) => this.#takingAlong(entry, () => this.#reader.readNow(entry)));
  }

  /** @param wasTooStale as of `Reader.read`. @param uses is given the entry that is read, each time. */
  #read(
    id: KeyId,
    key: K,
    options: ReadOptions | undefined,
    wasTooStale?: boolean,
    uses?: (entry: KeyedEntry<K, V>) => void,
  ): Promise<V> {
    return this.#entries.useId(id, key, (entry) => {
      uses?.(entry);
      const again: ReadAgain<V> = (others, stale) => this.#read(id, key, others, stale, uses);
      return this.#takingAlong(entry, () => this.#reader.read(entry, options, again, wasTooStale));
    });
  }

  /** If the read starts the due reload of its key, others come along. */
  #takingAlong<R>(entry: KeyedEntry<K, V>, read: () => R): R {
    const isIdle = entry.flight === undefined;
    try {
      return read();
    } finally {
      if (isIdle && entry.isLoaded && entry.flight !== undefined) this.#along?.takeAlong(entry);
    }
  }
}
