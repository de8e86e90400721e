import { bytesOf } from '../../cluster/history.ts';
import { randomId } from '../../cluster/identity.ts';
import { oneByOne } from '../../cluster/one-by-one.ts';
import type { SwappableTexts, TextKey } from './texts.ts';

/** Where a text is that is longer than the backend keeps one. */
export interface Parts {
  readonly id: string;
  readonly count: number;
  /** Of the text, in UTF-8. */
  readonly bytes: number;
  /** Until when the backend keeps them, by its own clock. @default unknown: a build before has written them */
  readonly keptUntil?: number | undefined;
}

/** Texts in as many parts as it takes. They are written once, and never changed. */
export class TextParts {
  readonly #texts: SwappableTexts;

  constructor(texts: SwappableTexts) {
    this.#texts = texts;
  }

  /** @param keepForMs the backend keeps each part at least for this long. */
  async write(partition: string, text: string, keepForMs: number): Promise<Parts> {
    const texts = split(text, this.#texts.longestText);
    return this.#put(
      partition,
      { id: randomId(), count: texts.length, bytes: bytesOf(text) },
      texts,
      keepForMs,
    );
  }

  /** Writes parts again, so that they are kept for longer. @returns them; `undefined`: one is missing. */
  async renew(partition: string, parts: Parts, keepForMs: number): Promise<Parts | undefined> {
    const texts = await this.#texts.read(keysOf(partition, parts));
    if (!texts.every((text) => text !== undefined)) return undefined;
    return this.#put(partition, parts, texts as readonly string[], keepForMs);
  }

  async #put(partition: string, parts: Parts, texts: readonly string[], keepForMs: number): Promise<Parts> {
    const keys = keysOf(partition, parts);
    const put = (i: number): Promise<void> =>
      this.#texts.put(keys[i] as TextKey, texts[i] as string, keepForMs);
    const keptUntil = Math.min(this.#texts.span().earliest + keepForMs, Number.MAX_SAFE_INTEGER);
    const failed = (await oneByOne([...keys.keys()], put)).find((one) => one instanceof Error);
    if (failed !== undefined) throw failed;
    return { ...parts, keptUntil };
  }

  /** @returns `undefined` if one is missing: they were deleted, by a later write most likely. */
  async read(partition: string, parts: Parts): Promise<string | undefined> {
    const texts = await this.#texts.read(keysOf(partition, parts));
    return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
  }

  /** Never rejects: the parts that stay expire. */
  async delete(partition: string, gone: readonly Parts[]): Promise<void> {
    const keys = gone.flatMap((parts) => keysOf(partition, parts));
    await oneByOne(keys, (key) => this.#texts.take(key)).catch(() => {});
  }
}

/** The key of the first part. */
export function firstPart(partition: string, parts: Parts): TextKey {
  return keysOf(partition, { ...parts, count: 1 })[0] as TextKey;
}

function keysOf(partition: string, { id, count }: Parts): TextKey[] {
  return Array.from({ length: count }, (_, i) => ({ partition, sort: `part/${id}/${i}` }));
}

/** Texts of at most that many bytes of UTF-8; at least one. No character is split. */
export function split(text: string, most: number): string[] {
  const texts: string[] = [];
  let begin = 0;
  do {
    let end = Math.min(text.length, begin + most);
    for (;;) {
      if (end < text.length && isLowSurrogate(text.charCodeAt(end))) end -= 1;
      const bytes = bytesOf(text.slice(begin, end));
      if (bytes <= most) break;
      end = begin + Math.floor(((end - begin) * most) / bytes);
    }
    texts.push(text.slice(begin, end));
    begin = end;
  } while (begin < text.length);
  return texts;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
