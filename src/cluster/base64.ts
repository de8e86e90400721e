import type { EventLoopYield } from '../time/yield-to-event-loop.ts';

/** The number of bytes per call: a call takes a bounded number of arguments. A multiple of three, so that texts join. */
const BYTES = 0x6000;
const CHARACTERS = (BYTES / 3) * 4;
const CALLS_OF_SLICE = 8;

/** Bytes as text, with a turn of the event loop after each slice. */
export async function toBase64(bytes: Uint8Array, yields: EventLoopYield): Promise<string> {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; at += BYTES) {
    if (texts.length % CALLS_OF_SLICE === CALLS_OF_SLICE - 1) await yields();
    texts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + BYTES))));
  }
  return texts.join('');
}

/** The bytes of a text of {@link toBase64}. @throws for a text that is not base64. */
export async function fromBase64(text: string, yields: EventLoopYield): Promise<Uint8Array> {
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3 - padding);
  let length = 0;
  for (let at = 0; at < text.length; at += CHARACTERS) {
    if ((at / CHARACTERS) % CALLS_OF_SLICE === CALLS_OF_SLICE - 1) await yields();
    const binary = atob(text.slice(at, at + CHARACTERS));
    for (let index = 0; index < binary.length; index++) bytes[length + index] = binary.charCodeAt(index);
    length += binary.length;
  }
  return length === bytes.length ? bytes : bytes.slice(0, length);
}
