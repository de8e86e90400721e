import { Entry } from '../engine/entry.ts';

/** The identity of a key: the result of `keyOf`, else the key itself. Never `undefined`. */
export type KeyId = NonNullable<unknown>;

/** An active entry of a cache. */
export class KeyedEntry<K, V> extends Entry<V> {
  declare readonly key: K;
  declare readonly id: KeyId;
  /** The epoch up to which no mark invalidates it. */
  validatedEpoch: number;
  /** The epoch in which the load under way began. */
  loadEpoch: number;
  /** In units of `maxSize`. */
  size: number = 1;
  /** It has lost its slot to another key, and takes a new one when its load has settled. */
  isEvicted: boolean = false;
  /** The value with which it has lost its slot while it was being published; it is forgotten after that, unless it has another. */
  leaving: Promise<V> | undefined = undefined;
  /** The negative cache remembers it. */
  isNegative: boolean = false;
  /** How many calls on the stack work on it: it must not be passivated before they return. */
  pins: number = 0;

  constructor(key: K, id: KeyId, epoch: number, maxStalenessMs?: number) {
    super(key, id, maxStalenessMs);
    this.validatedEpoch = epoch;
    this.loadEpoch = epoch;
  }

  /** It has a load under way, or one that is about to start, or waiters. */
  get isLoading(): boolean {
    return this.flight !== undefined || this.successor !== undefined || this.waiters !== undefined;
  }

  /** It is being loaded, or its lease is not released yet. */
  get isBusy(): boolean {
    return this.isLoading || this.cluster?.isBusy === true;
  }

  /** Only its value and its times are to be remembered. */
  get isCalm(): boolean {
    const isDeferred = this.deferredUntil !== -Infinity;
    return this.lastError === undefined && !isDeferred && this.cluster?.isAtRest !== false;
  }

  /** The size and the tags of the value that is about to be in place. */
  describe(size: number, tags: readonly string[] | undefined): void {
    this.size = size;
    this.tags = tags;
  }
}
