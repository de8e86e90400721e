import type { KeyMark, KeysMark } from '../data/mark.ts';
import type { PolledKeys } from '../engine/coordinator.ts';
import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { closedError } from '../engine/read-errors.ts';
import { isTicklessError } from '../errors.ts';
import { checked } from '../option-checks.ts';
import { optionError } from '../option-error.ts';
import { ignoreThenable, isThenable, rejected } from '../time/deferred.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry } from './keyed-entry.ts';

type Named<K, V> = Pick<KeyedEntry<K, V>, 'id' | 'key'>;

/** Changes many keys of a cache at a time. Marks on all of them or on a tag take one step, whatever their number. */
export class ManyKeys<K, V> {
  readonly #entries: KeyedEntries<K, V>;
  readonly #engine: MemberEngine<V>;

  constructor(entries: KeyedEntries<K, V>, engine: MemberEngine<V>) {
    this.#entries = entries;
    this.#engine = engine;
  }

  /** Computes all due times anew if the wall clock was stepped. */
  compareClocks(): void {
    const now = this.#engine.options.clock.monotonic();
    this.#useEach(this.#loaded(), (entry) => this.#engine.compareClocks(entry, now));
  }

  /** Computes all due times anew by another schedule. */
  reschedule(): void {
    const entries = [...this.#loaded(), ...this.#entries.active()];
    this.#useEach(entries, (entry) => this.#engine.rescheduled(entry));
  }

  /** Makes all entries with the tag out of date. */
  invalidateTag(tag: string): void {
    this.#entries.validity.distrustOlder();
    this.markTag(tag);
    this.#entries.validity.markedHere();
  }

  /** The same, where newer snapshots stay usable. */
  markTag(tag: string): void {
    const { epochs } = this.#entries.validity;
    epochs.markTag(tag);
    if (epochs.isCrowded) this.#validateAll();
    this.#entries.observer?.markUnscanned();
  }

  /** Makes all entries out of date. */
  invalidateAll(): void {
    this.#entries.validity.distrustOlder();
    this.markAll((entry) => this.#engine.invalidate(entry, false));
    this.#entries.validity.markedHere();
  }

  /** The same, where newer snapshots stay usable. @param invalidate is called for active entries. */
  markAll(invalidate: (entry: KeyedEntry<K, V>) => void): void {
    this.#entries.validity.epochs.markAll();
    this.#useEach(this.#entries.active(), invalidate);
    this.#entries.observer?.rebuild();
  }

  /**
   * Makes the entries out of date for which the predicate returns true. @returns how many.
   *
   * @throws {TicklessError} `OPTION` when it is not a function, or returns a promise.
   */
  invalidateWhere(predicate: (key: K, value: V | undefined) => boolean): number {
    const isPicked = checkedPredicate(this.#engine.options.name, predicate);
    const { table, validity } = this.#entries;
    validity.distrustOlder();
    const picked: Named<K, V>[] = [];
    for (const [id, slot] of [...table.slots()]) {
      if (table.find(id) !== slot || this.#entries.isActive(id)) continue; // a predicate may have changed it
      const key = table.key(id, slot);
      if (isPicked(key, table.columns.value(slot))) picked.push({ id, key });
    }
    const others = [...this.#entries.active(), ...this.#entries.negative()];
    for (const entry of others) if (isPicked(entry.key, entry.value)) picked.push(entry);
    this.#useEach(picked, (entry) => this.#engine.invalidate(entry, false));
    return picked.length;
  }

  /** Forgets all values, and which keys are absent. */
  clear(): void {
    const { table, validity } = this.#entries;
    validity.distrustOlder();
    for (const [id] of [...table.slots()]) if (!this.#entries.isActive(id)) table.delete(id);
    const others = [...this.#entries.active(), ...this.#entries.negative()];
    this.#useEach(others, (entry) => this.#engine.invalidate(entry, true));
  }

  /** Forgets the values that are meant by a mark of another instance; newer snapshots of their keys stay usable. */
  forgetIf(isMeant: (entry: KeyedEntry<K, V>) => boolean, drop: (entry: KeyedEntry<K, V>) => void): void {
    for (const entry of [...this.#loaded(), ...this.#entries.active(), ...this.#entries.negative()]) {
      if (!isMeant(entry)) continue;
      const { id, key, isNegative } = entry;
      if (this.#entries.isActive(id) || isNegative) this.#entries.useId(id, key, drop);
      else this.#entries.table.delete(id);
    }
  }

  #useEach(named: readonly Named<K, V>[], action: (entry: KeyedEntry<K, V>) => void): void {
    for (const { id, key } of named) this.#entries.useId(id, key, action);
  }

  #loaded(): KeyedEntry<K, V>[] {
    return Array.from(this.#entries.eachLoaded(), ([, entry]) => entry);
  }

  /** Validates all entries, so that the marks can be forgotten, except those that loads under way still need. */
  #validateAll(): void {
    const { table, validity } = this.#entries;
    const { epochs } = validity;
    let oldest = epochs.now;
    for (const entry of this.#entries.active()) {
      validity.validate(entry);
      if (entry.flight !== undefined) oldest = Math.min(oldest, entry.loadEpoch);
    }
    for (const [, slot] of table.slots()) {
      if (epochs.isOutdated(table.columns.validatedEpoch(slot, epochs.now), table.columns.tags(slot)))
        table.columns.invalidate(slot);
      table.columns.validate(slot, epochs.now);
    }
    epochs.forget(oldest);
  }
}

function checkedPredicate<K, V>(
  member: string,
  predicate: (key: K, value: V) => boolean,
): (key: K, value: V) => boolean {
  checked(member, (checks) => checks.function('predicate', predicate));
  return (key, value) => {
    const received: unknown = ignoreThenable(predicate(key, value));
    if (!isThenable(received)) return Boolean(received);
    const rule = 'must not return a promise';
    throw optionError([{ option: 'predicate', rule, received }], { member, key });
  };
}

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
