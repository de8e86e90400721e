import { unlessAborted } from '../time/on-abort.ts';
import { overLimit } from './byte-limit.ts';
import { messageOf } from './named-failure.ts';

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
 * @throws {Error} without the name of the source.
 */
export async function readStream(
  stream: ByteStream,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal).catch((error: unknown) => {
        throw new Error(`failed after ${length} bytes: ${messageOf(error)}`, { cause: error });
      });
      if (done || value === undefined) return joined(chunks, length);
      length += value.length;
      if (length > maxBytes) throw new Error(overLimit(maxBytes));
      chunks.push(value);
    }
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
