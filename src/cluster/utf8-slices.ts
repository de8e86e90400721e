import type { EventLoopYield } from '../time/yield-to-event-loop.ts';

const UTF8 = new TextEncoder();

/** How many characters are encoded at a time: less than a millisecond. */
const CHARACTERS_AT_A_TIME = 2 ** 15;

/** The length of a text in bytes of UTF-8, with a turn of the event loop after each slice. */
export function bytesInSlices(text: string, yields: EventLoopYield): number | Promise<number> {
  return text.length <= CHARACTERS_AT_A_TIME ? UTF8.encode(text).length : summedInSlices(text, yields);
}

async function summedInSlices(text: string, yields: EventLoopYield): Promise<number> {
  let bytes = 0;
  await utf8InSlices(text, yields, (slice) => {
    bytes += slice.length;
  });
  return bytes;
}

/** Encodes a text in slices, with a turn of the event loop after each; no pair of surrogates is parted. */
export async function utf8InSlices(
  text: string,
  yields: EventLoopYield,
  take: (slice: Uint8Array) => void,
): Promise<void> {
  for (let from = 0; from < text.length; ) {
    if (from > 0) await yields();
    let to = from + CHARACTERS_AT_A_TIME;
    if (isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
    take(UTF8.encode(text.slice(from, to)));
    from = to;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
