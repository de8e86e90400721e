import { oneByOne } from '../../cluster/one-by-one.ts';
import { recordIn, type Text, type TextRecord } from './stored-text.ts';
import type { SwapLoop } from './swap-loop.ts';
import type { Parts, TextParts } from './text-parts.ts';
import type { SwappableTexts, TextKey } from './texts.ts';

/** Parts outlive the records that name them by this, in milliseconds. */
const MARGIN_MS = 3_600_000;

/**
 * How long records and their parts are kept. A record is written again by each confirmation, and its parts are not: those that would
 * expire before it are written again, and the record notes until when they are kept. It costs three commands and the parts, once in a
 * retention.
 */
export class Keeping {
  readonly #texts: SwappableTexts;
  readonly #loop: SwapLoop;
  readonly #parts: TextParts;
  readonly #retentionMs: number;

  constructor(texts: SwappableTexts, loop: SwapLoop, parts: TextParts, retentionMs: number) {
    this.#texts = texts;
    this.#loop = loop;
    this.#parts = parts;
    this.#retentionMs = retentionMs;
  }

  /** Of a record that is written now, in milliseconds. */
  ofRecord({ until, keepMs }: TextRecord): number {
    return Math.max(0, until - this.#texts.span().earliest) + Math.min(this.#retentionMs, keepMs ?? Infinity);
  }

  /**
   * Of parts that are written now. An edition is the oldest one after as many puts, each within the retention of the one before. That of
   * a value is kept for one more, so that confirmations seldom write it again.
   */
  ofParts(older: number, keepMs: number | undefined): number {
    const times = keepMs === undefined ? older + 2 : older + 1;
    return times * Math.min(this.#retentionMs, keepMs ?? Infinity) + MARGIN_MS;
  }

  /** Behind an edit that has written the record. Never rejects: the next edit tries again. */
  async after(key: TextKey, record: TextRecord | undefined): Promise<void> {
    if (record === undefined) return;
    const until = Math.min(this.#texts.span().latest + this.ofRecord(record), Number.MAX_SAFE_INTEGER);
    const due = partsIn(record).filter(({ keptUntil = 0 }) => keptUntil < until);
    if (due.length === 0) return;
    const keepForMs = this.ofParts(record.older.length, record.keepMs);
    try {
      const renewed = await oneByOne(due, (parts) => this.#parts.renew(key.partition, parts, keepForMs));
      await this.#note(
        key,
        renewed.filter((parts) => parts !== undefined && !(parts instanceof Error)) as Parts[],
      );
    } catch {
      // the backend is silent, or others were faster
    }
  }

  async #note(key: TextKey, renewed: readonly Parts[]): Promise<void> {
    const byId = new Map(renewed.map((parts) => [parts.id, parts]));
    const noted = <E extends { readonly text: Text }>(edition: E): E => {
      const text = typeof edition.text === 'string' ? undefined : byId.get(edition.text.id);
      return text === undefined ? edition : { ...edition, text };
    };
    await this.#loop.run(key, (present) => {
      const found = recordIn(present);
      if (found === undefined || !partsIn(found).some(({ id }) => byId.has(id))) return { answer: undefined };
      const next = { ...noted(found), older: found.older.map(noted) };
      return { next: { text: JSON.stringify(next), keepForMs: this.ofRecord(next) }, answer: undefined };
    });
  }
}

export function partsOf(editions: readonly { readonly text: Text }[]): Parts[] {
  return editions.flatMap(({ text }) => (typeof text === 'string' ? [] : text));
}

export function partsIn(record: TextRecord | undefined): Parts[] {
  return record === undefined ? [] : partsOf([record, ...record.older]);
}
