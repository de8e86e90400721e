import type { LoadResult } from '../engine/load-result.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { StepWatch } from '../time/step-watch.ts';
import { Epochs } from './epochs.ts';
import type { KeyedEntry } from './keyed-entry.ts';

/** Which entries of a cache are out of date, by marks on many of them at a time. */
export class KeyValidity<K, V> {
  readonly epochs: Epochs = new Epochs();
  readonly stepWatch: StepWatch;
  /** Snapshots loaded before this instant (monotonic) may have been invalidated since, with no record of it. */
  validSince: number = -Infinity;
  readonly #engine: MemberEngine<V>;
  /** The epoch of the last mark that was made here, not by another instance. */
  #markedHere = 0;

  constructor(engine: MemberEngine<V>) {
    this.#engine = engine;
    this.stepWatch = new StepWatch(engine.options.clock);
  }

  /** A step of the wall clock makes each entry compare the clocks at its next read. */
  checkClockStep(): void {
    if (this.stepWatch.hasStepped(this.#engine.options.clock.monotonic())) this.epochs.next();
  }

  /** The store may have a snapshot of a key that is not held here, and yet was meant. */
  distrustOlder(): void {
    this.validSince = this.#engine.options.clock.monotonic();
  }

  /** The last mark was made here. */
  markedHere(): void {
    this.#markedHere = this.epochs.now;
  }

  /** Applies the marks that were made since the entry was validated last. */
  validate(entry: KeyedEntry<K, V>): void {
    if (entry.validatedEpoch === this.epochs.now) return;
    if (this.epochs.isOutdated(entry.validatedEpoch, entry.tags)) {
      const { coordinator, timing } = this.#engine;
      const invalidate = (): void => timing.invalidated(entry);
      // After an invalidation that was made here only a load will do.
      if (coordinator === undefined || this.#markedHere > entry.validatedEpoch) invalidate();
      else coordinator.invalidatedElsewhere(entry, invalidate);
    }
    // Its result may have a tag that was marked since: later readers wait until that is known.
    const { flight } = entry;
    if (flight?.hasStarted && entry.loadEpoch !== this.epochs.now) flight.outdatedBy ??= 'tag';
    entry.validatedEpoch = this.epochs.now;
  }

  loadBegan(entry: KeyedEntry<K, V>): void {
    entry.loadEpoch = this.epochs.now;
  }

  /** The result was marked while it was loaded. The entry has the tags of the result from now on. */
  isOutdated(entry: KeyedEntry<K, V>, result: LoadResult<V> | 'absent'): boolean {
    const before = entry.tags;
    const tags = result === 'absent' ? undefined : result.metadata.tags;
    entry.describe(
      entry.size,
      tags ?? (result !== 'absent' && result.origin === 'kept' ? before : undefined),
    );
    entry.validatedEpoch = this.epochs.now;
    const { loadEpoch } = entry;
    if (loadEpoch === this.epochs.now) return false;
    return this.epochs.isOutdated(loadEpoch, before) || this.epochs.isOutdated(loadEpoch, entry.tags);
  }
}
