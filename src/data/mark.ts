/**
 * A mark of a person on a name, for all instances. `invalidated`: its value is out of date, and served until the next load has
 * ended; `dropped`: it is not served any longer.
 */
export type Mark = 'invalidated' | 'dropped';

/** The identity of a key that locks and stores have names for. */
export type NamedId = string | number | bigint | boolean;

/** A change of keys of a cache that all instances are to learn of. */
export type KeysMark =
  | { readonly of: 'all'; readonly mark: Mark }
  | { readonly of: 'tag'; readonly tag: string; readonly mark: 'invalidated' }
  | KeyMark;

/** A change of one key. */
export interface KeyMark {
  readonly of: 'key';
  readonly id: NamedId;
  /** `changed`: the store has a newer value of the key. */
  readonly mark: Mark | 'changed';
  /** The version of that value, or of the mark, in the store. */
  readonly at: number;
}
