import type { Trigger } from '../data/execution-record.ts';
import type { ValueMeta } from '../data/value-meta.ts';

/** The second argument of a guard. */
export interface AcceptDetails<T = unknown> {
  /**
   * The value that the candidate would replace. Of an instance without a value: the last snapshot in the store, however old,
   * so that a restart does not forget what is normal. `undefined`: there is none, or the store can't be read; a guard that
   * compares has nothing to compare with, and should accept.
   */
  readonly previous:
    | {
        readonly value: T;
        /** Epoch milliseconds. */
        readonly loadedAt: number;
        /** As {@link AcceptDetails.meta}, of this value. */
        readonly meta?: ValueMeta | undefined;
      }
    | undefined;
  /**
   * The notes of the load about the candidate: `editedAt` (epoch milliseconds) and `etag` of the sources that know their edition.
   * With `previous.meta` a guard can refuse an older edition, of a server behind its peers. `undefined`: nothing.
   */
  readonly meta?: ValueMeta | undefined;
  /** The version that the candidate gets where it is published: the token of its lease. `undefined` without a lock. */
  readonly version: number | undefined;
  /** Why the load ran. */
  readonly trigger: Trigger;
  /** The key, in a `RefreshingCache`; elsewhere `undefined`. */
  readonly key: unknown;
}

/**
 * A guard: decides whether a loaded value may replace the one before. `true`: yes; a text: no, for this reason; throwing or
 * rejecting: no, for that error. Any other result is a refusal too.
 */
export interface Accept<T = unknown> {
  (
    candidate: T,
    details: AcceptDetails<T>,
  ): boolean | string | Error | undefined | PromiseLike<boolean | string | Error | undefined>;
  /** The size of a value, for the message of a `REFUSED` error and `inspect().refused`. @default the number of its elements */
  readonly sizeOf?: ((value: T) => number | undefined) | undefined;
  /** The identity of an element of a list, by which a refused list and versions are compared. @default that of the source, else its key field, else its content */
  readonly idOf?: ((element: never) => unknown) | undefined;
}
