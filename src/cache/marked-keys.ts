import type { KeyMark, KeysMark } from '../data/mark.ts';
import type { PolledKeys } from '../engine/coordinator.ts';
import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { closedError } from '../engine/read-errors.ts';
import { isTicklessError } from '../errors.ts';
import { rejected } from '../time/deferred.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry } from './keyed-entry.ts';
import type { ManyKeys } from './many-keys.ts';

/** Applies marks of other instances to the keys of a cache. Snapshots that are newer than a mark stay usable. */
export class MarkedKeys<K, V> implements PolledKeys {
  readonly #entries: KeyedEntries<K, V>;
  readonly #many: ManyKeys<K, V>;
  readonly #engine: MemberEngine<V>;

  constructor(entries: KeyedEntries<K, V>, many: ManyKeys<K, V>, engine: MemberEngine<V>) {
    this.#entries = entries;
    this.#many = many;
    this.#engine = engine;
  }

  apply(mark: KeysMark, upTo: number, markedAt: number): void {
    // A key that was changed has that version itself.
    const version = mark.of === 'key' ? upTo : upTo + 1;
    const isMeant = (entry: KeyedEntry<K, V>): boolean =>
      this.#engine.coordinator?.isBehind(entry, mark.mark, version, markedAt) === true;
    if (mark.of === 'tag') this.#many.markTag(mark.tag);
    else if (mark.of === 'key') this.#applyToKey(mark, isMeant);
    else if (mark.mark === 'dropped') this.#many.forgetIf(isMeant, (entry) => this.#invalidate(entry, true));
    else this.#many.markAll((entry) => this.#invalidate(entry, false));
  }

  failing(): readonly KeyedEntry<K, V>[] {
    return this.#entries.failing();
  }

  /** A key that this instance does not know finds the mark in the store when it is read. */
  #applyToKey({ id, mark, at }: KeyMark, isMeant: (entry: KeyedEntry<K, V>) => boolean): void {
    const key = this.#entries.keyOf(id);
    if (key === undefined) return;
    this.#entries.useId(id, key, (entry) => {
      if (!isMeant(entry)) return;
      if (mark !== 'changed') this.#invalidate(entry, mark === 'dropped');
      else if (entry.isLoaded || entry.flight === undefined) void this.#takeOver(entry, at, isMeant);
      else this.#expect(entry, at);
    });
  }

  /** The key is not loaded again for it, nor does a cool-down or its absence keep it. Never rejects. */
  async #takeOver(
    entry: KeyedEntry<K, V>,
    version: number,
    isMeant: (entry: KeyedEntry<K, V>) => boolean,
  ): Promise<void> {
    const { coordinator } = this.#engine;
    this.#entries.pin(entry);
    try {
      await coordinator?.takeOver(this.#engine.polled(entry), version, () => isMeant(entry));
      if (isMeant(entry)) this.#expect(entry, version); // it could not be read, or may not be adopted: a load decides
    } finally {
      this.#entries.release(entry);
    }
  }

  /** The next round looks for that version. A load under way may be older: then the next one does. */
  #expect(entry: KeyedEntry<K, V>, version: number): void {
    if (entry.flight !== undefined) this.#invalidate(entry, false);
    this.#engine.coordinator?.expect(entry, version);
    this.#engine.timing.dueAtOnce(entry);
  }

  #invalidate(entry: KeyedEntry<K, V>, drop: boolean): void {
    const invalidate = (): void => this.#engine.invalidate(entry, drop);
    this.#engine.coordinator?.invalidatedElsewhere(entry, invalidate);
  }
}

/** Publishes a mark on keys, which was applied here, if that is asked for. */
export function markIf<V>(isForAll: boolean, engine: MemberEngine<V>, mark: KeysMark): Promise<void> {
  if (!isForAll) return Promise.resolve();
  if (engine.runState === 'closed') return rejected(closedError(engine.options.name));
  return engine.untilClosed(engine.coordinator?.markKeys(mark) ?? Promise.resolve());
}

/** Lets the other instances know of the change of a key, once it is published. */
export function thenMarked<V, R>(
  engine: MemberEngine<V>,
  entry: Entry<V>,
  published: Promise<R>,
  mark: KeyMark['mark'],
): Promise<R> {
  const marked = published.then(
    async (result) => {
      await engine.coordinator?.markKey(entry, mark);
      return result;
    },
    async (error) => {
      if (isTicklessError(error, 'ABSENT')) {
        await entry.cluster?.published; // the others are to know that the key is gone
        await engine.coordinator?.markKey(entry, mark);
      }
      throw error;
    },
  );
  return engine.untilClosed(marked);
}
