import { unlessAborted } from './time/on-abort.ts';

/** The used part of a `ReadableStream` of bytes. */
export interface ByteStream {
  getReader(): {
    read(): PromiseLike<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(): PromiseLike<unknown>;
  };
}

/**
 * All bytes of a stream. It is cancelled where it has more than `maxBytes`, where it fails, and when the signal is aborted.
 *
 * @param broken the error to reject with where the stream fails after that number of bytes.
 * @returns `undefined`: it has more than `maxBytes`.
 * @throws the reason of the signal, or what `broken` returns.
 */
export async function readStream(
  stream: ByteStream,
  maxBytes: number,
  signal: AbortSignal,
  broken: (error: unknown, length: number) => Error,
): Promise<Uint8Array | undefined> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      if (done || value === undefined) return joined(chunks, length);
      length += value.length;
      if (length > maxBytes) return undefined;
      chunks.push(value);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw broken(error, length);
  } finally {
    Promise.resolve(reader.cancel()).catch(() => {}); // at the end it does nothing
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
