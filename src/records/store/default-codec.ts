import { weightOf } from '../../chunks/walk.ts';
import type { SlicedCodec } from '../../cluster/snapshot-body.ts';
import { yieldToEventLoop } from '../../time/yield-to-event-loop.ts';
import { JsonCheck } from './json-check.ts';
import { decodeInChunks, encodeInChunks, isInChunks, VISITS_OF_SLICE } from './text-in-chunks.ts';
import { decodeWhole, encodeChecked } from './whole-text.ts';

/**
 * The codec of stores without an option `codec`: JSON for a value that JSON keeps exactly, else devalue, which also keeps
 * `Map`, `Set`, `Date`, `BigInt`, typed arrays, `RegExp`, `URL`, `undefined`, `NaN`, `-0`, objects
 * without a prototype, and references within the value. Refused are functions, symbols, also as keys, a
 * `Buffer`, instances of other classes.
 *
 * JSON is several times as fast, and older versions of tickless read it; they reject a text of devalue as damaged.
 *
 * A value of more than about 30,000 objects, numbers and texts (8,000 where JSON does not keep it) is encoded and decoded in
 * chunks, each as JSON or by devalue, and the event loop makes a turn after each. Smaller values are encoded at once. It must
 * not be changed meanwhile.
 */
export const defaultCodec: SlicedCodec = {
  format: 'json',
  worksInSlices: true,
  encode(value: unknown, yields = yieldToEventLoop) {
    const check = new JsonCheck(value);
    const isSmall = check.run(VISITS_OF_SLICE) && (check.isExact || !isHeavy(value));
    return isSmall ? encodeChecked(value, check) : encodeInChunks(value, check, yields);
  },
  decode(encoded: string | Uint8Array, yields = yieldToEventLoop) {
    const text = encoded as string;
    return isInChunks(text) ? decodeInChunks(text, yields) : decodeWhole(text);
  },
};

/** Devalue is slower than JSON; and of a `Map` the chunks are mostly JSON. */
const HEAVY = VISITS_OF_SLICE / 4;

function isHeavy(value: unknown): boolean {
  const seen = new Set<unknown>();
  const isKnown = (one: unknown): boolean => {
    if (typeof one !== 'object' || one === null) return false;
    const isAgain = seen.has(one);
    seen.add(one);
    return isAgain;
  };
  try {
    return weightOf(value, HEAVY, isKnown) >= HEAVY;
  } catch {
    return false; // nested too deeply for the stack: so it is for devalue
  }
}
