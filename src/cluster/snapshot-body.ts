import { isThenable } from '../time/deferred.ts';
import type { EventLoopYield } from '../time/yield-to-event-loop.ts';
import { fromBase64, toBase64 } from './base64.ts';
import { CHARACTERS_OF_SLICE, checksumInSlices } from './checksum.ts';
import { digestInSlices } from './digest.ts';
import type { SliceBudget } from './slice-budget.ts';
import type { Codec } from './store-contract.ts';
import { bytesInSlices } from './utf8-slices.ts';

/**
 * A codec that works in slices, with a turn of the event loop after each. It always ends, so its time is not limited as
 * that of user code is.
 */
export interface SlicedCodec extends Codec {
  readonly worksInSlices: true;
  /** @param yields waits for the next turn. @default one after each slice */
  encode(value: unknown, yields?: EventLoopYield): string | Promise<string>;
  decode(encoded: string | Uint8Array, yields?: EventLoopYield): unknown;
}

/** A value as its codec has encoded it. */
export interface EncodedBody {
  readonly format: string;
  readonly text: string;
  readonly isText: boolean;
  /** The length of the text in bytes of UTF-8. */
  readonly bytes: number;
  /** The checksum of a long text. */
  readonly sum: string | undefined;
  /**
   * Of the format and the text: values with the same one are the same to all readers. SHA-256, because a source that could make
   * two texts of one digest could keep the second from other instances. `undefined`: it was not asked for.
   */
  readonly digest: string | undefined;
}

/**
 * Encodes the value of a snapshot. Rejects with the error of the codec.
 *
 * @param isEmpty there is no value.
 * @param hasDigest it is to have a digest.
 */
export async function encodeBody(
  value: unknown,
  isEmpty: boolean,
  codec: Codec,
  hasDigest: boolean,
  { yields, limit }: SliceBudget,
): Promise<EncodedBody> {
  const encode = (): ReturnType<Codec['encode']> => {
    if (isEmpty) return '';
    return isSliced(codec) ? codec.encode(value, yields) : limit(() => codec.encode(value));
  };
  const body = await encode();
  const isText = typeof body === 'string';
  if (!isText && !ArrayBuffer.isView(body)) throw new TypeError('encode() must return text or a Uint8Array');
  const text = isText ? body : await toBase64(body, yields);
  const sum = text.length > CHARACTERS_OF_SLICE ? await checksumInSlices([text], yields) : undefined;
  const format = formatOf(codec);
  const digest = hasDigest ? digestInSlices(`${format} ${isText}\n`, text, yields) : undefined;
  const counted = isText ? bytesInSlices(text, yields) : text.length;
  const bytes = isThenable(counted) ? await counted : counted;
  return { format, text, isText, bytes, sum, digest: isThenable(digest) ? await digest : digest };
}

/** The value of a snapshot. Rejects with the error of the codec. */
export async function decodeBody(
  text: string,
  isBase64: boolean,
  codec: Codec,
  { yields, limit }: SliceBudget,
): Promise<unknown> {
  const body = isBase64 ? await fromBase64(text, yields) : text;
  return isSliced(codec) ? codec.decode(body, yields) : limit(() => codec.decode(body));
}

export function formatOf({ format = 'custom' }: Codec): string {
  return format;
}

function isSliced(codec: Codec): codec is SlicedCodec {
  return 'worksInSlices' in codec;
}
