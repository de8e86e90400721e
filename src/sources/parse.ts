import type { OptionChecks } from '../option-checks.ts';
import { jsonBreak } from './json-break.ts';

/** The bytes that a source has read, before they are a value. */
export interface Body {
  readonly bytes: Uint8Array;
  /** As UTF-8, without a byte order mark. @throws {TypeError} naming the first byte that is none, counted from 0. */
  readonly text: string;
}

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
}

const FORMATS: readonly Format[] = ['json', 'ndjson', 'csv', 'text'];

/** It is a format, a function, or not given. */
export function checkParse(checks: OptionChecks, parse: unknown): void {
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
  return (typeof parse === 'function' ? parse(body) : await PARSERS[parse](body.text)) as T;
}

const PARSERS: Readonly<Record<Format, (text: string) => unknown>> = {
  text: (text) => text,
  json: (text) => parseJson(text, 1),
  ndjson: parseNdjson,
  csv: parseCsv,
};

/** Line by line: an array of all lines would be far larger than a body of empty ones. */
function parseNdjson(text: string): unknown[] {
  const items: unknown[] = [];
  for (let [start, line] = [0, 1]; start <= text.length; line++) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const item = text.slice(start, end);
    if (item.trim() !== '') items.push(parseJson(item, line));
    start = end + 1;
  }
  return items;
}

/**
 * @param firstLine the number of the first line of the text.
 * @throws {SyntaxError} which has no cause: that of the runtime quotes the text.
 */
function parseJson(text: string, firstLine: number): unknown {
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

/** @throws {SyntaxError} which has no cause: that of the package has the row. */
async function parseCsv(text: string): Promise<unknown> {
  if (text.trim() === '')
    throw new SyntaxError('it is empty: the first line, which names the columns, is missing');
  const { parse } = await csvParser();
  try {
    return parse(text, { columns: distinctNames, skip_empty_lines: true });
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    const { code, lines } = error as { readonly code?: string; readonly lines?: number };
    throw new SyntaxError(`line ${lines} is not CSV (${code})`);
  }
}

async function csvParser(): Promise<typeof import('csv-parse/sync')> {
  try {
    return await import('csv-parse/sync');
  } catch (cause) {
    throw new Error("parse: 'csv' needs a package: npm install csv-parse", { cause });
  }
}

/** The fields of the first line, each of which names a column: of two with one name, one would be lost. */
function distinctNames(names: string[]): string[] {
  const twice = names.findIndex((name, i) => names.indexOf(name) !== i);
  if (twice < 0) return names;
  throw new SyntaxError(`column ${twice + 1} has the name of an earlier column`);
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
