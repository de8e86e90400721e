import type { Entry } from './entry.ts';
import type { LoadResult } from './load-result.ts';

/**
 * The owner of entries, where it must know when they change: a cache that passivates settled entries, a group that
 * starts members when they fall due.
 */
export interface EntryOwner<T> {
  /**
   * The value, the times or the flight of the entry may have changed. Called last: the state is in place, events are
   * emitted, waiters settled. It must not throw.
   */
  changed(entry: Entry<T>): void;
  /** Reads may start loads from now on, or may no longer. */
  stateChanged(): void;
}

/** The owner of the entries of many keys. */
export interface KeyedOwner<T> extends EntryOwner<T> {
  readonly validity: Validity<T>;
  /** The engine works on the entry until {@link unpin}, whatever user code does meanwhile. */
  pin(entry: Entry<T>): void;
  unpin(entry: Entry<T>): void;
  /** Throws if the result can't be held: the load has failed. */
  admit(entry: Entry<T>, result: LoadResult<T>): void;
}

/** Knows which results are out of date, by marks on many keys at a time. */
interface Validity<T> {
  /** Snapshots loaded before this instant (monotonic) may have been invalidated since, with no record of it. */
  readonly validSince: number;
  /** A load of the entry begins, here or, where its snapshot will be adopted, on another instance. */
  loadBegan(entry: Entry<T>): void;
  /** The result is out of date already: its tag was invalidated while it was loaded. */
  isOutdated(entry: Entry<T>, result: LoadResult<T> | 'absent'): boolean;
}
