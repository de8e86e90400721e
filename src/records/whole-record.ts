import { bytesOf } from '../cluster/history.ts';
import { earlierOf, edited, foundBy, type Instant, rowOf, type StoredRecord } from './edited.ts';
import type { Answer, Edit, ListedEdition } from './records.ts';

// For backends that have a record at hand as a whole.

/** The result of {@link applied}. */
export interface Applied {
  /** The record after the edit; the same object if it has changed nothing. `undefined`: there is none. */
  readonly next: StoredRecord | undefined;
  /** The answer of `Records.apply` to the edit, once the record is kept. */
  readonly answer: Answer;
}

/** The effect of an edit, as `edited` defines it, with its answer. Pure. */
export function applied(record: StoredRecord | undefined, edit: Edit, now: Instant): Applied {
  const { next, isDone } = edited(record, edit, now);
  const found = edit.op === 'read' ? foundBy(next, edit) : next;
  const isTextAsked = edit.op === 'claim' || (edit.op === 'read' && edit.isBrief !== true);
  const row = found && rowOf(found, now, (text) => (isTextAsked ? text : ''));
  return { next, answer: { isDone: edit.op === 'read' ? row !== undefined : isDone, row } };
}

/** The editions of a record as `Records.editions` lists them: with the first `beginning` characters of their texts, in UTF-16 code units. */
export function editionsIn(
  record: StoredRecord | undefined,
  now: Instant,
  beginning: number,
): readonly ListedEdition[] {
  if (record === undefined) return [];
  const editions = [record, ...record.older.map((one) => earlierOf(record, one))];
  return editions.map((edition) => ({
    row: rowOf(edition, now, (whole) => whole.slice(0, beginning)),
    bytes: bytesOf(edition.text),
  }));
}
