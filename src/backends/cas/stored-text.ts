import { parseJson } from '../../bounded-json.ts';
import { isPlausibleToken } from '../../cluster/plausible.ts';
import { type Edition, type Instant, rowOf, type StoredRecord } from '../../records/edited.ts';
import type { Row } from '../../records/records.ts';
import type { ClockSpan } from './date-clock.ts';
import type { Parts } from './text-parts.ts';

/** How the text of a record is kept: within the record, or in parts. */
export type Text = string | Parts;

/** A record as the text that is swapped. */
export interface TextRecord extends StoredRecord<Text> {
  /**
   * How long the lease or the hold was when it was written, in milliseconds: by another client's knowledge of the clock
   * more may seem to be left. @default Infinity
   */
  readonly longest?: number | undefined;
}

/** In milliseconds: an end that is uncertain by less is awaited in one step. */
const SOON_MS = 10;

/** Edits are decided as if the clock were at the earliest moment: nothing ends before it is over for certain. */
export function instantOf(span: ClockSpan): Instant {
  return { at: span.earliest, wall: middle(span) };
}

export function middle({ earliest, latest }: ClockSpan): number {
  return (earliest + latest) / 2;
}

/**
 * The row of a record. A holder gets the time that is left for certain. All others get that too, and while the end is uncertain,
 * half of the time after which it is over for certain: so they ask again a handful of times, not until then. An age is never
 * less than it is.
 */
export function rowAt(record: TextRecord, span: ClockSpan, isHolder: boolean): Row {
  const { longest = Infinity } = record;
  const wall = middle(span);
  const early = rowOf(record, { at: span.earliest, wall }, inline);
  const late = rowOf(record, { at: span.latest, wall }, inline);
  if (isHolder) return late;
  const left = Math.max(late.left, early.left / 2, Math.min(early.left, SOON_MS));
  return { ...late, left: Math.min(longest, left) };
}

function inline(text: Text): string {
  return typeof text === 'string' ? text : '';
}

/** The record as it is written: by everyone's knowledge of the clock it lasts as long as asked for. */
export function closed(record: StoredRecord<Text>, { earliest, latest }: ClockSpan): TextRecord {
  // Without a hold the name is free at once, whatever others know of the clock.
  const until = record.until > earliest ? record.until : 0;
  return { ...record, until, longest: Math.max(0, until - latest) };
}

/** In place of a text in another format. Its token is damaged, unless that is all that is left of it. */
const UNREADABLE: TextRecord = {
  token: NaN,
  id: '',
  phase: 'held',
  at: NaN,
  changedAt: NaN,
  until: NaN,
  text: '',
  note: '',
  older: [],
};

export function recordIn(stored: string | undefined): TextRecord | undefined {
  if (stored === undefined) return undefined;
  try {
    const record = parseJson(stored) as TextRecord;
    const { token, longest, keepMs, note, replaced, older } = record;
    const known = isPlausibleToken(token, Infinity) ? token : NaN;
    if (!Array.isArray(older) || ![record, ...older].every(hasText)) return { ...UNREADABLE, token: known };
    return {
      ...record,
      token: known,
      longest: numberOf(longest),
      keepMs: numberOf(keepMs),
      note: typeof note === 'string' ? note : '',
      replaced: typeof replaced === 'string' ? replaced : undefined,
    };
  } catch {
    return UNREADABLE;
  }
}

function hasText({ text }: Edition<Text>): boolean {
  if (typeof text === 'string') return true;
  const { id, count, bytes, keptUntil = 0 } = text;
  const isCount = count >= 1 && count <= MOST_PARTS && Number.isSafeInteger(bytes);
  return typeof id === 'string' && isCount && typeof keptUntil === 'number';
}

/** Of a text of a gigabyte, which no engine has, in the shortest parts. */
const MOST_PARTS = 10_000;

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}
