import { isMeta } from '../data/value-meta.ts';
import { isPlainObject } from '../plain-object.ts';
import { printable } from '../printable.ts';
import { firstOfNotes } from './first-of-notes.ts';
import type { SourceContext, SourceMeta } from './source.ts';

/** The notes of each part, by its name: `meta.mergeOf`. A part whose notes have found no room is not there. */
export type MergeOfNotes = Readonly<Record<string, SourceMeta>>;

/** In characters. */
const LONGEST_SOURCE = 200;

/** A part of the value in place, where `mergeOf` has made it and its notes were kept. */
export function previousPart({ previous }: SourceContext, name: string): SourceContext['previous'] {
  const notes = partsOf(previous?.meta);
  const { value, loadedAt } = previous ?? {};
  if (notes === undefined || loadedAt === undefined || !Object.hasOwn(notes, name)) return undefined;
  if (!isPlainObject(value) || !Object.hasOwn(value, name)) return undefined;
  return { value: (value as Record<string, unknown>)[name], loadedAt, meta: notes[name] };
}

/**
 * The notes of all parts as those of the whole, whose edition is that of the part that was edited last. Where they are too long for `meta`, the
 * longest are left out: these parts are asked without conditions the next time.
 */
export function withMergeOf(parts: readonly (readonly [name: string, meta: SourceMeta])[]): SourceMeta {
  const sources = parts.map(([name, { source }]) => (source === undefined ? name : `${name}: ${source}`));
  const whole = {
    source: printable(sources.join(', '), LONGEST_SOURCE),
    ...lastEdit(parts.map(([, meta]) => meta)),
  };
  const kept = parts.toSorted(([, one], [, other]) => lengthOf(one) - lengthOf(other));
  const withFirst = (count: number): SourceMeta => ({
    ...whole,
    mergeOf: Object.fromEntries(kept.slice(0, count)),
  });
  let [fitting, tooMany] = [0, kept.length + 1]; // halved: there may be thousands
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1;
    if (isMeta(withFirst(middle))) fitting = middle;
    else tooMany = middle;
  }
  return withFirst(fitting);
}

/** A backup of a `firstOf` has made it, or a part of it. */
export function isOfBackup(meta: SourceMeta | undefined): boolean {
  const notes = firstOfNotes(meta);
  if (notes?.inARow !== undefined) return true;
  if (notes?.inner !== undefined && isOfBackup({ firstOf: notes.inner })) return true;
  return Object.values(partsOf(meta) ?? {}).some(isOfBackup);
}

function lastEdit(metas: readonly SourceMeta[]): Pick<SourceMeta, 'editedAt'> {
  const edits = metas.map(({ editedAt }) => editedAt);
  return edits.every((edit) => Number.isFinite(edit)) ? { editedAt: Math.max(...(edits as number[])) } : {};
}

function lengthOf(meta: SourceMeta): number {
  return JSON.stringify(meta).length;
}

function partsOf(meta: SourceMeta | undefined): MergeOfNotes | undefined {
  return isPlainObject(meta?.mergeOf) ? (meta.mergeOf as MergeOfNotes) : undefined;
}
