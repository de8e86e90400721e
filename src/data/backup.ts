import { isPlainObject } from '../plain-object.ts';
import type { ValueMeta } from './value-meta.ts';

/** The notes of `firstOf` beside the notes of the source that has answered: `meta.firstOf`. */
export interface FirstOfNotes {
  /** The place of the source that has made the value; 0 is the first one. */
  readonly index: number;
  /** How many answers in a row were not the first source's. Not present: the value is the first source's. */
  readonly inARow?: number | undefined;
  /** Why the sources before it have not answered, in their order. Each is cut to 120 characters. */
  readonly failures?: readonly string[] | undefined;
  /** Those of a `firstOf` that is the source with that `index`. */
  readonly inner?: unknown;
}

/** The notes of each part, by its name: `meta.mergeOf`. A part whose notes have found no room is not there. */
export type MergeOfNotes = Readonly<Record<string, ValueMeta>>;

/** Those of a value that `firstOf` has made, on any instance; `undefined` of any other value. */
export function firstOfNotes(meta: ValueMeta | undefined): FirstOfNotes | undefined {
  const notes = meta?.firstOf as Partial<FirstOfNotes> | null | undefined;
  const isPlace = Number.isSafeInteger(notes?.index) && (notes?.index as number) >= 0;
  return isPlace ? (notes as FirstOfNotes) : undefined;
}

export function mergeOfNotes(meta: ValueMeta | undefined): MergeOfNotes | undefined {
  return isPlainObject(meta?.mergeOf) ? (meta.mergeOf as MergeOfNotes) : undefined;
}

/** A backup of a `firstOf` has made it, or a part of it. */
export function isOfBackup(meta: ValueMeta | undefined): boolean {
  const notes = firstOfNotes(meta);
  if (notes?.inARow !== undefined) return true;
  if (notes?.inner !== undefined && isOfBackup({ firstOf: notes.inner })) return true;
  return Object.values(mergeOfNotes(meta) ?? {}).some(isOfBackup);
}
