import type { DurationLike } from '../time/duration.ts';
import type { Difference } from './difference.ts';
import type { Mark } from './mark.ts';
import type { PublishOrigin } from './origin.ts';
import type { VersionRecord } from './version-record.ts';

/** The options of `rollback`. */
export interface RollbackOptions {
  /**
   * The version to put into place, one of `history()`. @default the version before the present one. While a version is
   * pinned it must be given
   */
  readonly to?: number | undefined;
  /**
   * The version that is in place, of `history()`, as the person has seen it: with another one by now it rejects with
   * `OPTION`, and nothing is changed. @default undefined: whichever is in place
   */
  readonly version?: number | undefined;
  /** The person or tool that does it, for the others: `inspect().pinned`, `history()`, the error `PINNED`. Not empty. */
  readonly by: string;
  /** The reason, for the others. @default undefined: none */
  readonly note?: string | undefined;
  /**
   * How long no due load replaces the version. Over 0. `Infinity`: until `unpin()`. The store keeps the version for its
   * `retention` after the rollback (7 days by default): a pin that is to last for longer needs a longer one. @default Infinity
   */
  readonly hold?: DurationLike | undefined;
}

/** The options of `unpin`: the person or tool that ends the pin, and the reason, for `history()`. */
export interface UnpinOptions extends PublishOrigin {
  /** The version that is pinned, as the person has seen it: as of {@link RollbackOptions}. */
  readonly version?: number | undefined;
}

/** The versions of one value in its store, and the pin of the one in place. */
export interface VersionControl<T> {
  history(): Promise<readonly VersionRecord[]>;
  /** @returns the new version. */
  rollback(options: RollbackOptions): Promise<number>;
  /** @returns whether a version was pinned. */
  unpin(options?: UnpinOptions): Promise<boolean>;
  /**
   * Makes the value out of date on all instances, unless a version is pinned. Here at once, before it returns, unless another version
   * than `seen` is in place here.
   *
   * @param seen the version that is to be in place. @default undefined: any
   */
  mark(mark: Mark, seen: number | undefined): Promise<void>;
  /** @throws {TicklessError} `OPTION` when another version is in place here. */
  throwUnlessHere(seen: number): void;
  /** Passes the load on, unless a version is pinned. */
  refresh(load: () => Promise<T>): Promise<T>;
  /**
   * The changes from one version to another, by parts: records of lists by the `idOf` of the guard or the source. Rejects with
   * `OPTION` for a version that the store does not keep.
   */
  compare(before: number, after: number): Promise<Difference>;
}
