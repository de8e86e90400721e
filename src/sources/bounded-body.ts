import { failure } from './http-errors.ts';
import type { HttpAnswer, HttpResponse } from './http-response.ts';
import { urlName } from './source-url.ts';

type Reader = ReturnType<NonNullable<HttpResponse['body']>['getReader']>;

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
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel); // also where fetch does not heed its signal
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    signal.throwIfAborted();
    for await (const chunk of chunksOf(reader)) {
      length += chunk.length;
      if (length > maxBytes) break;
      chunks.push(chunk);
    }
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw failure(`${urlName(url)} broke off after ${length} bytes`, error, url);
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
  if (length > maxBytes) throw new Error(`${urlName(url)} sends ${bound}`);
  const isAsSent = headers.get('content-encoding') === null; // else the length is that of the encoded body
  if (isAsSent && length < announced) {
    throw new Error(`${urlName(url)} broke off after ${length} of ${announced} bytes`);
  }
  return joined(chunks, length);
}

/** `NaN`: it does not say, or nothing sound. */
function announcedBytes(contentLength: string | null): number {
  return /^\d+$/.test(contentLength ?? '') ? Number(contentLength) : Number.NaN;
}

async function* chunksOf(reader: Reader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return;
    yield value;
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
