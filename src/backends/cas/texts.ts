import type { ClockSpan } from '../../records/cells/known-clock.ts';

/** The key of a text. Neither part has a U+0000; `sort` tells those of one partition apart. */
export interface TextKey {
  readonly partition: string;
  readonly sort: string;
}

/** The result of a swap; where the present text was another one, that text. */
export type Swapped =
  | { readonly isDone: true }
  | { readonly isDone: false; readonly present: string | undefined };

/**
 * Texts at a backend that can replace one if it is still as it was (compare-and-swap), but computes nothing. Each method is
 * one command for each key, or fewer, and sees all that was written before it. It rejects with any error of the client, at
 * the latest at the deadline of a command.
 */
export interface SwappableTexts {
  /** The most edits of records that are sent in one command; 1: each is one, or more. */
  readonly mostEdits: number;
  /** The longest text, in bytes of UTF-8. */
  readonly longestText: number;
  /** How long a command may take, in milliseconds. */
  readonly timeoutMs: number;
  /** The backend's clock at this moment, as learnt with its answers. @throws before the first answer. */
  span(): ClockSpan;
  /** The texts of keys, at their indexes. */
  read(keys: readonly TextKey[]): Promise<(string | undefined)[]>;
  /**
   * Replaces a text if it is still the one before. Repeated after a lost reply it is done again, but for a deletion.
   *
   * @param before `undefined`: there is none.
   * @param after `undefined`: it is deleted.
   * @param keepForMs the backend keeps the text at least for this long; `Infinity`: for ever.
   */
  swap(
    key: TextKey,
    before: string | undefined,
    after: string | undefined,
    keepForMs: number,
  ): Promise<Swapped>;
  /** Writes a part of a text, whatever was there. */
  put(key: TextKey, text: string, keepForMs: number): Promise<void>;
  /** Deletes a part of a text, whatever was there. @returns it. */
  take(key: TextKey): Promise<string | undefined>;
  /**
   * Texts with this `sort`, whose partition begins with a text. All of them, or at least the first `limit` by partition:
   * those that the backend was to keep no longer do not count.
   */
  ofPartitions(prefix: string, sort: string, limit: number): Promise<FoundText[]>;
  /** Texts of a partition, whose `sort` begins with a text. All of them, or at least the first `limit`, counted as above. */
  ofPartition(partition: string, prefix: string, limit: number): Promise<FoundText[]>;
}

export interface FoundText {
  readonly key: TextKey;
  readonly text: string;
}
