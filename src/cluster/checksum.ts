import type { EventLoopYield } from '../time/yield-to-event-loop.ts';

/** How many characters are summed at a time: about a millisecond. */
export const CHARACTERS_OF_SLICE: number = 2 ** 18;

/**
 * A checksum of a text in eight hexadecimal digits: FNV-1a of 32 bits over its UTF-16 code units.
 *
 * It detects accidents: any single changed character for certain, other damage in all but one case of four billion. It
 * does not protect against forgery: another text of the same checksum is easy to make.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/
 */
export function checksum(text: string): string {
  return shown(summed(BASIS, text, 0, text.length));
}

/** The {@link checksum} of the texts one after the other, with a turn of the event loop after each slice of a long one. */
export async function checksumInSlices(texts: readonly string[], yields: EventLoopYield): Promise<string> {
  let hash = BASIS;
  for (const text of texts) {
    for (let from = 0; from < text.length; from += CHARACTERS_OF_SLICE) {
      if (from > 0) await yields();
      hash = summed(hash, text, from, Math.min(from + CHARACTERS_OF_SLICE, text.length));
    }
  }
  return shown(hash);
}

const BASIS = 0x811c9dc5;

function summed(before: number, text: string, from: number, to: number): number {
  let hash = before;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

function shown(hash: number): string {
  return (hash >>> 0).toString(16).padStart(8, '0');
}
