import { isPlainObject } from '../plain-object.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { contentDigest } from './content-digest.ts';
import { countOf } from './count-of.ts';
import type { IdOf } from './id-of.ts';
import { isKeyOf, keyFieldsOf } from './key-field.ts';

/** A part of a value that only one of two editions has. */
export interface Item {
  /**
   * The key of a Map or an object, the member of a list, the id of a row; of a row without one its place in the list, from 0. Of a part within
   * a part a text with the names of both: `rates.USD`.
   */
  readonly id: unknown;
  readonly value: unknown;
}

/** The parts of an edition, under what is the same for a part of the other edition. */
type Items = ReadonlyMap<unknown, Item>;

/** Two editions in parts. */
interface BothItems {
  readonly earlier: Items;
  readonly later: Items;
  /** They are entries of Maps or objects, and no elements. */
  readonly areEntries: boolean;
}

/**
 * The parts of two editions that both have parts: the entries of Maps and plain objects, the elements of arrays and Sets. `idOf`
 * identifies a row; without it a field that is unique in both editions; without one its content, where each row matches one equal row.
 *
 * @param yields is awaited between slices of the work.
 * @returns `undefined`: they are to be compared as wholes.
 * @throws what `idOf` throws.
 */
export async function itemsOf(
  before: unknown,
  after: unknown,
  idOf: IdOf | undefined,
  yields: () => Promise<void>,
): Promise<BothItems | undefined> {
  const entries = [entriesOf(before), entriesOf(after)] as const;
  if (entries[0] !== undefined && entries[1] !== undefined)
    return {
      earlier: await byKey(entries[0], yields),
      later: await byKey(entries[1], yields),
      areEntries: true,
    };
  const [earlier, later] = [listOf(before), listOf(after)];
  if (earlier === undefined || later === undefined) return undefined;
  const field = idOf === undefined ? await fieldOf(earlier, later, yields) : undefined;
  const ofRow = idOf ?? (field === undefined ? undefined : (row: never) => row[field]);
  return {
    earlier: await byId(earlier, ofRow, yields),
    later: await byId(later, ofRow, yields),
    areEntries: false,
  };
}

/** This many rows or entries are one slice of work. */
const SLICE = 256;

/** Objects within objects are compared by their parts down to here. */
export const MOST_LEVELS = 4;

/** A part of fewer parts is seen at a glance. */
const WIDE = 10;

/** Whether a part, in both editions, has more parts than the whole: the list in `{ total, rows }`. */
export function areWider(before: unknown, after: unknown, { earlier, later }: BothItems): boolean {
  if (countOf(before) === undefined || countOf(after) === undefined) return false;
  return Math.max(widthOf(before), widthOf(after)) > Math.max(earlier.size, later.size, WIDE);
}

/** How many parts a value has, or the widest one that it is wrapped around. */
function widthOf(value: unknown, level: number = 0): number {
  const own = countOf(value) ?? 0;
  if (own > WIDE || level === MOST_LEVELS || !isPlainObject(value)) return own;
  return Math.max(own, ...Object.values(value).map((part) => widthOf(part, level + 1)));
}

function entriesOf(value: unknown): Iterable<readonly [unknown, unknown]> | undefined {
  if (value instanceof Map) return value;
  return isPlainObject(value) ? fieldsOf(value) : undefined;
}

/** One by one: all of them at once take a while. */
function* fieldsOf(whole: Record<string, unknown>): Generator<readonly [string, unknown]> {
  for (const name of Object.keys(whole)) yield [name, whole[name]];
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return value instanceof Set ? [...value] : Array.isArray(value) ? value : undefined;
}

async function byKey(
  entries: Iterable<readonly [unknown, unknown]>,
  yields: () => Promise<void>,
): Promise<Items> {
  const items = new Map<unknown, Item>();
  for (const [id, value] of entries) {
    items.set(id, { id, value });
    if (items.size % SLICE === 0) await yields();
  }
  return items;
}

async function fieldOf(
  earlier: readonly unknown[],
  later: readonly unknown[],
  yields: () => Promise<void>,
): Promise<string | undefined> {
  for (const field of keyFieldsOf(earlier[0] ?? later[0])) {
    const isKey = (await isKeyIn(field, earlier, yields)) && (await isKeyIn(field, later, yields));
    if (isKey) return field;
  }
  return undefined;
}

async function isKeyIn(
  field: string,
  rows: readonly unknown[],
  yields: () => Promise<void>,
): Promise<boolean> {
  const seen = new Set<unknown>();
  for (let at = 0; at < rows.length; at += SLICE) {
    if (!isKeyOf(field, rows.slice(at, at + SLICE), seen)) return false;
    await yields();
  }
  return true;
}

async function byId(
  list: readonly unknown[],
  idOf: IdOf | undefined,
  yields: () => Promise<void>,
): Promise<Items> {
  const items = new Map<unknown, Item>();
  const counts = new Map<unknown, number>();
  for (const [place, value] of list.entries()) {
    if (place % SLICE === SLICE - 1) await yields();
    const isRow = typeof value === 'object' && value !== null;
    if (isRow && idOf !== undefined) {
      const id = ignoreThenable(idOf(value as never));
      items.set(id, { id, value });
      continue;
    }
    const content = isRow ? contentDigest(value) : value;
    const count = (counts.get(content) ?? 0) + 1;
    counts.set(content, count);
    // A value of its own kind is its key, so that it is found as it is; each further one has a key of its own.
    const key = !isRow && count === 1 ? value : `${count} ${typeof value} ${String(content)}`;
    items.set(key, { id: isRow ? place : value, value });
  }
  return items;
}
