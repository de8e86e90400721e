import { isPlainObject } from '../plain-object.ts';

/**
 * The notes of a load about its value, for the next one: an `ETag`, a cursor. A small JSON object; fields that JSON does not keep
 * (`undefined`, functions, symbols) are left out, and a `Date` becomes text.
 */
export type ValueMeta = Readonly<Record<string, unknown>>;

/** The longest, as JSON, in UTF-16 code units. */
const LONGEST_META = 2000;

/** Ready to follow the name of the option. */
const META_RULE: string = `must be a plain object of at most ${LONGEST_META} characters of JSON`;

/** It is what {@link metaOf} returns. */
export function isMeta(thing: unknown): thing is ValueMeta {
  return isPlainObject(thing) && JSON.stringify(thing).length <= LONGEST_META;
}

/**
 * As all instances get it: a copy of what JSON keeps.
 *
 * @throws {TypeError} when it is not a plain object, JSON can't encode it, or it is too long.
 */
export function metaOf(given: unknown): ValueMeta | undefined {
  if (given === undefined) return undefined;
  const text = isPlainObject(given) ? JSON.stringify(given) : undefined;
  const isShort = text !== undefined && text.length <= LONGEST_META;
  if (!isShort) throw new TypeError(`meta ${META_RULE}`);
  return Object.freeze(JSON.parse(text) as ValueMeta);
}
