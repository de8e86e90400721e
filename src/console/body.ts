import { readStream } from '../bounded-stream.ts';
import { ownOptions } from '../option-checks.ts';

/** A body with more bytes is refused. */
const MOST_BYTES = 16_384;

/** The JSON object in a body, without a prototype; a text: why it is refused. */
export async function jsonBody(request: Request): Promise<{ readonly [field: string]: unknown } | string> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) return 'the body must be application/json';
  const text = await boundedText(request);
  if (text === undefined) return `the body must be at most ${MOST_BYTES} bytes long`;
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject
      ? ownOptions(parsed as { readonly [field: string]: unknown })
      : 'the body must be a JSON object';
  } catch {
    return 'the body is not JSON';
  }
}

/** Reads no more than is allowed; `undefined`: there is more. */
async function boundedText(request: Request): Promise<string | undefined> {
  const { body, signal } = request;
  if (body === null) return '';
  const bytes = await readStream(body, MOST_BYTES, signal, (error) => error as Error);
  return bytes && new TextDecoder().decode(bytes);
}
