import { readStream } from '../bounded-stream.ts';
import { compressionOf } from './content-coding.ts';
import { failure } from './http-errors.ts';
import type { HttpAnswer } from './http-response.ts';
import { urlName } from './source-url.ts';

/**
 * The body of a response, decoded. One that is longer than `maxBytes` is refused before it is read, or cut there.
 *
 * @throws {Error} also for one that breaks off, or is shorter than it says; the reason of the signal, once it is aborted.
 */
export async function readBounded(
  { response: { headers, body }, url }: HttpAnswer,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const announced = announcedBytes(headers.get('content-length'));
  const bound = `more than maxBytes (${maxBytes})`;
  if (announced > maxBytes) throw new Error(`${urlName(url)} announces ${announced} bytes, ${bound}`);
  if (body === null) return new Uint8Array();
  const bytes = await readStream(body, maxBytes, signal, (error, length) =>
    failure(`${urlName(url)} broke off after ${length} bytes`, error, url),
  );
  if (bytes === undefined) throw new Error(`${urlName(url)} sends ${bound}`);
  const isAsSent = compressionOf(headers.get('content-encoding')) === undefined; // else the length is that of the encoded body
  if (isAsSent && bytes.length < announced) {
    throw new Error(`${urlName(url)} broke off after ${bytes.length} of ${announced} bytes`);
  }
  return bytes;
}

/** `NaN`: it does not say, or nothing sound. */
function announcedBytes(contentLength: string | null): number {
  return /^\d+$/.test(contentLength ?? '') ? Number(contentLength) : NaN;
}
