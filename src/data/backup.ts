import { isPlainObject } from '../plain-object.ts';
import { printable } from '../printable.ts';
import type { ValueMeta } from './value-meta.ts';

/** The notes of `firstOf` beside the notes of the source that has answered: `meta.firstOf`. */
export interface FirstOfNotes {
  /** The place of the source that has made the value; 0 is the first one. */
  readonly index: number;
  /** How many answers in a row were not the first source's. Not present: the value is the first source's. */
  readonly inARow?: number | undefined;
  /** Since when the answers were not the first source's, in epoch milliseconds. Not present: as `inARow`. */
  readonly since?: number | undefined;
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

/** In characters. */
const LONGEST_SOURCE = 200;

/** A value in place that the first source has not made, or a part of it. */
export interface Backup {
  /** Since when no value was the first source's, in epoch milliseconds; `undefined`: not known. */
  readonly since: number | undefined;
  /** Which source has made it, and why those before it have not, for people: `source 2 (mirror); source 1 failed: timeout`. */
  readonly text: string;
}

/** A backup of a `firstOf` has made it, or a part of it. */
export function isOfBackup(meta: ValueMeta | undefined): boolean {
  return backupOf(meta) !== undefined;
}

/** The backup that has made a value, from its notes: on any instance, also after a restart. `undefined`: none. */
export function backupOf(meta: ValueMeta | undefined): Backup | undefined {
  if (meta === undefined) return undefined;
  const notes = firstOfNotes(meta);
  const inner = notes?.inner === undefined ? undefined : backupOf({ ...meta, firstOf: notes.inner });
  if (notes?.inARow === undefined) return inner ?? partOf(meta);
  const { index, failures, since: at } = notes;
  const since = Number.isFinite(at) ? at : undefined;
  const source = typeof meta.source === 'string' ? ` (${printable(meta.source, LONGEST_SOURCE)})` : '';
  const given: readonly unknown[] = Array.isArray(failures) ? failures : []; // notes come from a store too
  const reasons = given.map((one, at) => `source ${at + 1} failed: ${printable(String(one))}`);
  const own = `source ${index + 1}${inner === undefined ? source : ` (within it ${inner.text})`}`;
  const why = reasons.map((reason) => `; ${reason}`).join('');
  return { since, text: `${own}${why}` };
}

/** The first of the parts of a `mergeOf` that backups have made, since the earliest. */
function partOf(meta: ValueMeta): Backup | undefined {
  const parts = Object.entries(mergeOfNotes(meta) ?? {}).flatMap(([name, notes]) => {
    const backup = backupOf(notes);
    return backup === undefined ? [] : [{ ...backup, text: `part ${name}: ${backup.text}` }];
  });
  const [first, ...others] = parts;
  if (first === undefined) return undefined;
  const since = parts.map((part) => part.since ?? Infinity).reduce((a, b) => Math.min(a, b));
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return { since: since < Infinity ? since : undefined, text: `${first.text}${more}` };
}
