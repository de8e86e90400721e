import type { CasRecords, RecordKey } from '../cas/records.ts';
import { bytesOf } from '../cluster/history.ts';
import { randomId } from '../cluster/identity.ts';
import { oneByOne } from '../cluster/one-by-one.ts';

/** Where the parts of a payload are. */
export interface Parts {
  readonly id: string;
  readonly count: number;
}

/** A payload that is longer than a text of the backend, in as many texts as it takes. They are written once, and never changed. */
export class PayloadParts {
  readonly #records: CasRecords;
  readonly #keepForMs: number;

  /** @param keepForMs the backend keeps each part for this long after it was written. */
  constructor(records: CasRecords, keepForMs: number) {
    this.#records = records;
    this.#keepForMs = keepForMs;
  }

  async write(partition: string, payload: string): Promise<Parts> {
    const texts = split(payload, this.#records.longestText);
    const parts = { id: randomId(), count: texts.length };
    const keys = keysOf(partition, parts);
    const put = (i: number): Promise<void> =>
      this.#records.put(keys[i] as RecordKey, texts[i] as string, this.#keepForMs);
    const failed = (await oneByOne([...keys.keys()], put)).find((one) => one instanceof Error);
    if (failed !== undefined) throw failed;
    return parts;
  }

  /** @returns `undefined` if one is missing: they were deleted, by a later write most likely. */
  async read(partition: string, parts: Parts): Promise<string | undefined> {
    const texts = await this.#records.read(keysOf(partition, parts));
    return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
  }

  /** Never rejects: the parts that stay expire. */
  async delete(partition: string, gone: readonly Parts[]): Promise<void> {
    const keys = gone.flatMap((parts) => keysOf(partition, parts));
    await oneByOne(keys, (key) => this.#records.take(key)).catch(() => {});
  }
}

/** The key of the first part. */
export function firstPart(partition: string, parts: Parts): RecordKey {
  return keysOf(partition, { ...parts, count: 1 })[0] as RecordKey;
}

function keysOf(partition: string, { id, count }: Parts): RecordKey[] {
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
