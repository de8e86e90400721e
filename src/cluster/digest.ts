import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { EventLoopYield } from '../time/yield-to-event-loop.ts';
import { utf8InSlices } from './utf8-slices.ts';

/** How many characters are hashed at once: about a millisecond. */
const CHARACTERS_AT_ONCE = 2 ** 15;

const UTF8 = new TextEncoder();

/**
 * SHA-256 of two texts one after the other, in UTF-8, in hexadecimal digits; with a turn of the event loop after each slice of a
 * long one. It takes no other thread: the order of steps is the same in each run of a simulation.
 */
export function digestInSlices(head: string, text: string, yields: EventLoopYield): string | Promise<string> {
  const hash = sha256.create().update(UTF8.encode(head));
  if (text.length <= CHARACTERS_AT_ONCE) return bytesToHex(hash.update(UTF8.encode(text)).digest());
  return hashedInSlices(hash, text, yields);
}

async function hashedInSlices(
  hash: ReturnType<typeof sha256.create>,
  text: string,
  yields: EventLoopYield,
): Promise<string> {
  await utf8InSlices(text, yields, (slice) => hash.update(slice));
  return bytesToHex(hash.digest());
}
