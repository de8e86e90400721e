import { type FirstOfNotes, firstOfNotes } from '../data/backup.ts';
import { isMeta } from '../data/value-meta.ts';
import { PreviousValue } from '../engine/previous-value.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber } from '../option-checks.ts';
import { printable } from '../printable.ts';
import type { SourceContext, SourceMeta } from './source.ts';

/** In characters. */
const LONGEST_FAILURE = 120;

/** The place of an answer: how many answers in a row were those of a backup, with this one, and since when. */
export function placeOf(index: number, { previous }: SourceContext, now: number): FirstOfPlace {
  if (index === 0) return { index };
  const { inARow, since } = firstOfNotes(previous?.meta) ?? {};
  if (!isNumber(inARow, 1, Number.MAX_SAFE_INTEGER - 1)) return { index, inARow: 1, since: now };
  const isInstant = isNumber(since, 0, Number.MAX_SAFE_INTEGER);
  return { index, inARow: (inARow as number) + 1, since: isInstant ? since : (previous?.loadedAt ?? now) };
}

/** The notes of an answer that are kept however little room there is. */
type FirstOfPlace = Pick<FirstOfNotes, 'index' | 'inARow' | 'since'>;

/** The value in place as the source at that place may see it: only one of its own, with its own notes. */
export function previousOf({ previous }: SourceContext, index: number): SourceContext['previous'] {
  const notes = firstOfNotes(previous?.meta);
  if (previous === undefined || notes?.index !== index) return undefined;
  const { value, loadedAt, meta } = previous;
  const { firstOf: _, ...own } = meta as SourceMeta;
  const { inner } = notes;
  const isEmpty = inner === undefined && Object.keys(own).length === 0;
  const left = inner === undefined ? own : { ...own, firstOf: inner };
  return new PreviousValue(value, loadedAt, isEmpty ? undefined : left, previous);
}

/**
 * The notes of a source with those of `firstOf`. Where they are too long for `meta`, the failures are left out, then what the
 * source has noted beside `source` and `editedAt`: it is asked without conditions the next time.
 */
export function withFirstOf(
  meta: SourceMeta | undefined,
  place: FirstOfPlace,
  failures: readonly unknown[],
): SourceMeta {
  const { firstOf: inner, ...own } = meta ?? {};
  const { source, editedAt } = own;
  const causes = failures.map((error) => printable(messageOf(error), LONGEST_FAILURE));
  const whole = causes.length === 0 ? place : { ...place, failures: causes };
  const from: readonly SourceMeta[] = [
    { ...own, firstOf: { ...whole, inner } },
    { ...own, firstOf: { ...place, inner } },
    { source, editedAt, firstOf: { ...place, inner } } as SourceMeta,
  ];
  return from.find(isMeta) ?? { firstOf: place };
}
