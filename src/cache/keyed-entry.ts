import { Entry } from '../engine/entry.ts';

/** The identity of a key: what `keyOf` makes of it, else the key itself. Never `undefined`. */
export type KeyId = NonNullable<unknown>;

/** An entry of many, awake: see {@link SlotTable} for how it sleeps. */
export class KeyedEntry<K, V> extends Entry<V> {
  declare readonly key: K;
  declare readonly id: KeyId;
  /** The epoch up to which it was judged. */
  validatedEpoch: number;
  /** The epoch in which the load under way began. */
  loadEpoch: number;
  /** In units of `maxSize`. */
  size: number = 1;
  /** It has lost its place to others, and takes a new one when its load has landed. */
  isPushedOut: boolean = false;
  /** So many calls on the stack work on it: it must not be put to rest. */
  uses: number = 0;

  constructor(key: K, id: KeyId, epoch: number) {
    super(key, id);
    this.validatedEpoch = epoch;
    this.loadEpoch = epoch;
  }
}
