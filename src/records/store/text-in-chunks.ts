import { Assembly } from '../../chunks/assembly.ts';
import type { Chunk, Container, ReferencesOfChunk } from '../../chunks/chunk.ts';
import { chunksOf } from '../../chunks/chunks.ts';
import { MOST_DEPTH, searchShared } from '../../chunks/walk.ts';
import type { EventLoopYield } from '../../time/yield-to-event-loop.ts';
import { isChanged } from './exact-kind.ts';
import type { JsonCheck } from './json-check.ts';
import { encodeRich } from './rich-text.ts';
import { decodeWhole, encodeWhole } from './whole-text.ts';

/** The first line; each further line is a chunk. JSON and devalue write line ends inside of texts as `\n`. */
const FIRST_LINE = 'parts:';
const BEGINNING = `${FIRST_LINE}\n`;

/** How many values are checked at a time: about a millisecond. */
export const VISITS_OF_SLICE = 32_768;

const NONE: ReadonlySet<object> = new Set();

/** A chunk as a line: `[]` closes a container; its name opens one; the keys and values fill it. */
type Line =
  | readonly []
  | readonly [container: Container, isShared: boolean, key?: unknown]
  | readonly [keys: readonly unknown[], values: readonly unknown[], references?: ReferencesOfChunk];

/** Whether {@link encodeInChunks} has written a text. */
export function isInChunks(text: string): boolean {
  return text.startsWith(BEGINNING);
}

/**
 * Encodes a large value chunk by chunk, with a turn of the event loop after each; as a whole where it can't be split. A
 * value that JSON keeps loses references within it, as JSON does.
 *
 * @param check of the value, under way.
 * @param mostWeight of a chunk. @default about a millisecond
 * @throws {TypeError} as `encodeWhole`, and when the value is changed meanwhile, as far as that can be seen.
 */
export async function encodeInChunks(
  value: unknown,
  check: JsonCheck,
  yields: EventLoopYield,
  mostWeight?: number,
): Promise<string> {
  while (!check.run(VISITS_OF_SLICE)) await yields();
  const shared = check.isExact ? sharedInJson(check) : await sharedIn(value, yields);
  if (shared === undefined) return encodeWhole(value);
  const lines = [FIRST_LINE];
  const keepsPrototypes = !check.isExact; // as devalue does with the whole value
  for (const chunk of chunksOf(value, shared, mostWeight, keepsPrototypes)) {
    lines.push(encoded(chunk));
    await yields();
  }
  return lines.join('\n');
}

/** Decodes a text of {@link encodeInChunks}, with a turn of the event loop after each chunk. @throws for any other text. */
export async function decodeInChunks(text: string, yields: EventLoopYield): Promise<unknown> {
  const assembly = new Assembly();
  for (let at = BEGINNING.length; at <= text.length; ) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end;
    assembly.add(chunkOf(decodeWhole(text.slice(at, next)) as Line));
    at = next + 1;
    await yields();
  }
  return assembly.whole;
}

function sharedInJson({ depth }: JsonCheck): ReadonlySet<object> | undefined {
  return depth > MOST_DEPTH ? undefined : NONE;
}

async function sharedIn(value: unknown, yields: EventLoopYield): Promise<ReadonlySet<object> | undefined> {
  const search = searchShared(value, isKeptByDevalue);
  for (;;) {
    const step = search.next();
    if (step.done === true) return step.value;
    await yields();
  }
}

/** Devalue refuses symbols and `__proto__` as keys, and instances of classes that extend. In chunks only some of them would reach it. */
function isKeptByDevalue(value: object): boolean {
  const hasOddKey = Object.getOwnPropertySymbols(value).length > 0 || Object.hasOwn(value, '__proto__');
  return !hasOddKey && !isChanged(value);
}

function encoded(chunk: Chunk): string {
  const line = lineOf(chunk);
  // JSON would lose which object of the values is meant.
  const isRich = chunk.kind === 'fill' && chunk.references !== undefined;
  return isRich ? encodeRich(line, pathInEntry) : encodeWhole(line, pathInEntry);
}

/** A path in a line begins with the place of the entry in it, which says nothing. */
function pathInEntry(path: string): string {
  return path.replace(/^\[\d\]\[\d+\]/, '…');
}

function lineOf(chunk: Chunk): Line {
  switch (chunk.kind) {
    case 'open':
      return chunk.key === undefined
        ? [chunk.container, chunk.isShared]
        : [chunk.container, chunk.isShared, chunk.key];
    case 'fill':
      return chunk.references === undefined
        ? [chunk.keys, chunk.values]
        : [chunk.keys, chunk.values, chunk.references];
    case 'close':
      return [];
  }
}

function chunkOf(line: Line): Chunk {
  const [first, second, third] = line;
  if (first === undefined) return { kind: 'close' };
  if (typeof first === 'string') {
    return { kind: 'open', container: first, isShared: second === true, key: third };
  }
  const references = third as ReferencesOfChunk | undefined;
  return { kind: 'fill', keys: first, values: second as readonly unknown[], references };
}
