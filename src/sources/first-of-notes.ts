import { isMeta } from '../data/value-meta.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber } from '../option-checks.ts';
import { printable } from '../printable.ts';
import type { SourceContext, SourceMeta } from './source.ts';

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

/** In characters. */
const LONGEST_FAILURE = 120;

/** Those of a value that `firstOf` has made, on any instance; `undefined` of any other value. */
export function firstOfNotes(meta: SourceMeta | undefined): FirstOfNotes | undefined {
  const notes = meta?.firstOf as Partial<FirstOfNotes> | null | undefined;
  return isNumber(notes?.index, 0, Number.MAX_SAFE_INTEGER) ? (notes as FirstOfNotes) : undefined;
}

/** How many answers in a row were those of a backup, with one more. */
export function oneMoreBackup(meta: SourceMeta | undefined): number {
  const inARow = firstOfNotes(meta)?.inARow;
  return isNumber(inARow, 1, Number.MAX_SAFE_INTEGER - 1) ? (inARow as number) + 1 : 1;
}

/** The value in place as the source at that place may see it: only one of its own, with its own notes. */
export function previousOf({ previous }: SourceContext, index: number): SourceContext['previous'] {
  const notes = firstOfNotes(previous?.meta);
  if (previous === undefined || notes?.index !== index) return undefined;
  const { value, loadedAt, meta } = previous;
  const { firstOf: _, ...own } = meta as SourceMeta;
  const { inner } = notes;
  if (inner !== undefined) return { value, loadedAt, meta: { ...own, firstOf: inner } };
  return Object.keys(own).length === 0 ? { value, loadedAt } : { value, loadedAt, meta: own };
}

/**
 * The notes of a source with those of `firstOf`. Where they are too long for `meta`, the failures are left out, then what the
 * source has noted beside `source` and `editedAt`: it is asked without conditions the next time.
 */
export function withFirstOf(
  meta: SourceMeta | undefined,
  place: Pick<FirstOfNotes, 'index' | 'inARow'>,
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
