import type { Entry } from './entry.ts';
import type { LoadResult } from './load-result.ts';

/**
 * Who keeps the entries that the engine works on, as far as the engine must tell him: a cache that puts settled
 * entries to rest, a group that must know when a member falls due.
 */
export interface EntryOwner<T> {
  /**
   * The value, the times or the flight of the entry may have changed. Told last: the state is in place, events are
   * out, waiters settled. It must not throw.
   */
  changed(entry: Entry<T>): void;
  /** The engine works on the entry until {@link release}, whatever foreign code does meanwhile. */
  hold(entry: Entry<T>): void;
  /** As {@link changed}, and the engine is done with it. */
  release(entry: Entry<T>): void;
  /** A load of the entry begins, here or at the source of another instance that it is taken over from. */
  began(entry: Entry<T>): void;
  /** What was loaded before that instant (monotonic) may have been invalidated since, and be forgotten. */
  readonly validSince: number;
  /** Reads may start loads from now on, or may not any more. */
  turned(): void;
  /** Throws what makes an answer unacceptable to him: it fails the load. */
  admit(entry: Entry<T>, answer: LoadResult<T>): void;
  /** What was loaded counts as out of date although it came just now: its tag was invalidated while it loaded. */
  isOutdated(entry: Entry<T>, answer: LoadResult<T> | 'absent'): boolean;
}

/** For entries that nobody keeps books on. */
export const nobody: EntryOwner<unknown> = {
  changed: () => {},
  hold: () => {},
  release: () => {},
  began: () => {},
  validSince: Number.NEGATIVE_INFINITY,
  turned: () => {},
  admit: () => {},
  isOutdated: () => false,
};
