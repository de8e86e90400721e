import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { EventLoopYield } from '../time/yield-to-event-loop.ts';

/** How many characters are hashed at a time: about a millisecond. */
const CHARACTERS_AT_A_TIME = 2 ** 15;

/**
 * SHA-256 of two texts one after the other, in UTF-8, in hexadecimal digits; with a turn of the event loop after each slice of a
 * long one. It takes no other thread: the order of steps is the same in each run of a simulation.
 */
export function digestInSlices(head: string, text: string, yields: EventLoopYield): string | Promise<string> {
  const hash = sha256.create().update(UTF8.encode(head));
  if (text.length <= CHARACTERS_AT_A_TIME) return bytesToHex(hash.update(UTF8.encode(text)).digest());
  return hashedInSlices(hash, text, yields);
}

const UTF8 = new TextEncoder();

async function hashedInSlices(
  hash: ReturnType<typeof sha256.create>,
  text: string,
  yields: EventLoopYield,
): Promise<string> {
  for (let from = 0; from < text.length; ) {
    if (from > 0) await yields();
    let to = from + CHARACTERS_AT_A_TIME;
    if (isHighSurrogate(text.charCodeAt(to - 1))) to += 1; // a pair is not parted
    hash.update(UTF8.encode(text.slice(from, to)));
    from = to;
  }
  return bytesToHex(hash.digest());
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
