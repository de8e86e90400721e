import { excessOf, mostParts } from '../bounded-json.ts';
import type { ElementOf } from '../data/id-of.ts';
import { ownMessageOf } from '../observe/logger.ts';
import type { OptionChecks } from '../option-checks.ts';
import type { Body } from './body.ts';
import { csv } from './csv.ts';
import { jsonBreak } from './json-break.ts';

/**
 * The format of a text: `'json'`; `'ndjson'`, an array of one item a line, empty lines left out; `'csv'`, an array of one object a
 * row, its fields named by the first line, all of them strings, by the package `csv-parse`, which is to be installed; `'text'`.
 *
 * A body that is not of its format fails the load with the first line or byte that is wrong, and without a word of the body.
 */
export type Format = 'json' | 'ndjson' | 'csv' | 'text';

/** A {@link Format}, or a function that makes the value; an error of it fails the load, with its message. */
export type Parse<T = unknown> = Format | ((body: Body) => T | PromiseLike<T>);

/** The options that say what a body becomes. */
export interface ParseOptions<T> {
  /** @default 'json' */
  readonly parse?: Parse<T> | undefined;
  /**
   * The identity of a record of a list, such as its code: a refused list and versions are compared by it.
   * @default a field `id`, `code`, `key` or `name` that tells those of both lists apart, else the content
   */
  readonly idOf?: ((element: ElementOf<T>) => unknown) | undefined;
}

const FORMATS: readonly Format[] = ['json', 'ndjson', 'csv', 'text'];

/** `parse` is a format, a function, or not given; `idOf` a function, or not given. */
export function checkParse(checks: OptionChecks, parse: unknown, idOf: unknown): void {
  if (idOf !== undefined) checks.function('idOf', idOf);
  if (typeof parse === 'function' || parse === undefined) return;
  const shown = FORMATS.map((format) => `'${format}'`).join(', ');
  checks.that(FORMATS.includes(parse as Format), 'parse', `must be ${shown} or a function`, parse);
}

/** @throws what is wrong with the first line or byte that is; not which source it is from. */
export async function parseBody<T>(bytes: Uint8Array, parse: Parse<T> = 'json'): Promise<T> {
  const body: Body = {
    bytes,
    get text() {
      return decodeUtf8(bytes);
    },
  };
  return (typeof parse === 'function' ? parse(body) : await PARSERS[parse](body)) as T;
}

const PARSERS: Readonly<Record<Format, (body: Body) => unknown>> = {
  text: ({ text }) => text,
  json: ({ text }) => parseJson(text, 1),
  ndjson: ({ text }) => parseNdjson(text),
  csv: csv(),
};

/** Line by line: an array of all lines would be far larger than a body of empty ones. */
function parseNdjson(text: string): unknown[] {
  const most = mostParts(text);
  const items: unknown[] = [];
  for (let [start, line] = [0, 1]; start <= text.length; line++) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const item = text.slice(start, end);
    if (item.trim() !== '') items.push(parseJson(item, line));
    if (items.length > most) throw new SyntaxError(`line ${line}, it is of more than ${most} items`);
    start = end + 1;
  }
  return items;
}

/**
 * @param firstLine the number of the first line of the text.
 * @throws {SyntaxError} which has no cause: that of the runtime quotes the text.
 */
function parseJson(text: string, firstLine: number): unknown {
  const excess = excessOf(text);
  if (excess !== undefined) throw new SyntaxError(`line ${firstLine}, the JSON is ${excess}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(jsonProblem(text, firstLine));
  }
}

function jsonProblem(text: string, firstLine: number): string {
  if (text.trim() === '') return 'it is empty, not JSON';
  const offset = jsonBreak(text) ?? text.length;
  let [line, start] = [firstLine, 0];
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', start)) {
    line += 1;
    start = at + 1;
  }
  const place = `line ${line}, column ${offset - start + 1}`;
  return offset < text.length ? `${place}, is not JSON` : `the JSON ends too early, at ${place}`;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new TypeError(`byte ${firstInvalidByte(bytes)} is not UTF-8`);
  }
}

/** How many bytes are sound: the longest beginning that decodes, found by halving; each step decodes half of the rest. */
function firstInvalidByte(bytes: Uint8Array): number {
  let [sound, broken] = [0, bytes.length];
  while (broken - sound > 1) {
    const middle = (sound + broken) >> 1;
    if (areSound(bytes.subarray(lastCharacter(bytes, sound), middle))) sound = middle;
    else broken = middle;
  }
  return sound;
}

/** Where the last character before `end` begins. */
function lastCharacter(bytes: Uint8Array, end: number): number {
  let start = end - 1;
  while (start > 0 && ((bytes[start] as number) & 0xc0) === 0x80) start -= 1;
  return Math.max(0, start);
}

/** They are UTF-8, with the beginning of a character at their end, perhaps. */
function areSound(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Parses what this source has read. @throws {Error} naming the source, with the error of the parser as `cause`. */
export async function parseFrom<T>(source: string, bytes: Uint8Array, parse: Parse<T>): Promise<T> {
  try {
    return await parseBody(bytes, parse);
  } catch (error) {
    throw new Error(`${source}: ${ownMessageOf(error)}`, { cause: error });
  }
}
