import { mergeOfNotes } from '../data/backup.ts';
import { isMeta } from '../data/value-meta.ts';
import { PreviousValue } from '../engine/previous-value.ts';
import { isPlainObject } from '../plain-object.ts';
import { printable } from '../printable.ts';
import type { SourceContext, SourceMeta } from './source.ts';

/** In characters. */
const LONGEST_SOURCE = 200;

/** A part of the value in place, where `mergeOf` has made it and its notes were kept. */
export function previousPart({ previous }: SourceContext, name: string): SourceContext['previous'] {
  const notes = mergeOfNotes(previous?.meta);
  const { value, loadedAt } = previous ?? {};
  if (notes === undefined || loadedAt === undefined || !Object.hasOwn(notes, name)) return undefined;
  if (!isPlainObject(value) || !Object.hasOwn(value, name)) return undefined;
  return new PreviousValue(value[name], loadedAt, notes[name], previous);
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

function lastEdit(metas: readonly SourceMeta[]): Pick<SourceMeta, 'editedAt'> {
  const edits = metas.map(({ editedAt }) => editedAt);
  return edits.every((edit) => Number.isFinite(edit)) ? { editedAt: Math.max(...(edits as number[])) } : {};
}

function lengthOf(meta: SourceMeta): number {
  return JSON.stringify(meta).length;
}
