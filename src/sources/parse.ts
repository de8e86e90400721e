/** What a source has read, before it is a value. */
export interface Body {
  readonly bytes: Uint8Array;
  /** As UTF-8, without a byte order mark. @throws {TypeError} naming the first byte that is none. */
  readonly text: string;
}

/**
 * What the text is: `'json'`; `'ndjson'`, an array of one item a line, empty lines left out; `'csv'`, an array of one object a
 * row, its fields named by the first line, all of them strings, by the package `csv-parse`, which is to be installed; `'text'`.
 */
export type Format = 'json' | 'ndjson' | 'csv' | 'text';

/** A {@link Format}, or a function that makes the value; what it throws fails the load. */
export type Parse<T = unknown> = Format | ((body: Body) => T | PromiseLike<T>);

/** The options that say what a body becomes. */
export interface ParseOptions<T> {
  /** @default 'json' */
  readonly parse?: Parse<T> | undefined;
}

export const FORMATS: readonly Format[] = ['json', 'ndjson', 'csv', 'text'];

/** @throws what is wrong with the first line or byte that is; not which source it is from. */
export async function parseBody<T>(bytes: Uint8Array, parse: Parse<T> = 'json'): Promise<T> {
  const body: Body = {
    bytes,
    get text() {
      return decodeUtf8(bytes);
    },
  };
  return (typeof parse === 'function' ? parse(body) : await PARSERS[parse](body.text)) as T;
}

const PARSERS: Readonly<Record<Format, (text: string) => unknown>> = {
  text: (text) => text,
  json: (text) => parseJson(text, 1),
  ndjson: (text) =>
    text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [parseJson(line, i + 1)])),
  csv: parseCsv,
};

/** @param firstLine the number of the first line of the text. */
function parseJson(text: string, firstLine: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const position = /position (\d+)/.exec(message)?.[1];
    const before = position === undefined ? '' : text.slice(0, Number(position));
    const line = firstLine + before.split('\n').length - 1;
    throw new SyntaxError(`line ${line} is not JSON: ${message}`, { cause: error });
  }
}

async function parseCsv(text: string): Promise<unknown> {
  const { parse } = await import('csv-parse/sync');
  try {
    return parse(text, { columns: true, skip_empty_lines: true });
  } catch (error) {
    const { lines, message } = error as { readonly lines?: number; readonly message: string };
    throw new SyntaxError(`${lines === undefined ? 'it' : `line ${lines}`} is not CSV: ${message}`, {
      cause: error,
    });
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TypeError(`byte ${firstInvalidByte(bytes)} is not UTF-8`, { cause });
  }
}

/** How many bytes are sound: the longest beginning that decodes, found by halving. */
function firstInvalidByte(bytes: Uint8Array): number {
  let [sound, broken] = [0, bytes.length];
  while (broken - sound > 1) {
    const middle = (sound + broken) >> 1;
    if (isSoundUntil(bytes, middle)) sound = middle;
    else broken = middle;
  }
  return sound;
}

/** The bytes before that one are UTF-8, or the beginning of a character that is. */
function isSoundUntil(bytes: Uint8Array, end: number): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, end), { stream: true });
    return true;
  } catch {
    return false;
  }
}
