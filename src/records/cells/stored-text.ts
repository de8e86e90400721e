import { parseJson } from '../../bounded-json.ts';
import { bytesOf } from '../../cluster/history.ts';
import { isPlausibleToken } from '../../cluster/plausible.ts';
import { ownOptions } from '../../option-checks.ts';
import { type Edition, type Instant, rowOf, type StoredRecord, UNREADABLE } from '../edited.ts';
import { PARTS, type Part } from '../names.ts';
import type { Row } from '../records.ts';
import { type ClockSpan, DRIFT } from './known-clock.ts';

/** A text beside the record. */
export interface Long {
  readonly id: string;
  /** Of the text, in UTF-8. */
  readonly bytes: number;
}

/** How the text of a record is kept: within the record, or beside it. */
export type Text = string | Long;

export function isLong(text: Text | undefined): text is Long {
  return typeof text === 'object';
}

/** The ids of the long texts of a record. */
function idsOf(record: TextRecord): string[] {
  return [record, ...record.older].flatMap(({ text }) => (isLong(text) ? text.id : []));
}

/** A record as the text that is swapped. */
export interface TextRecord extends StoredRecord<Text> {
  /**
   * How long the lease or the hold was when it was written, in milliseconds: by another client's knowledge of the clock
   * more may seem to be left. @default Infinity
   */
  readonly longest?: number | undefined;
}

/** In milliseconds: an end that is uncertain by less, the drift of the clock until then included, is awaited in one step. */
const SOON_MS = 10;

/** Edits are decided as if the clock were at the earliest moment: nothing ends before it is over for certain. */
export function instantOf(span: ClockSpan): Instant {
  return { at: span.earliest, wall: middle(span) };
}

export function middle({ earliest, latest }: ClockSpan): number {
  return (earliest + latest) / 2;
}

/**
 * The row of a record. A holder gets the time that is left for certain. All others get the time after which it is over for certain, or one
 * that asks would ask twice; while that is far less certain, half of it: so they ask again a handful of times, not until then. An age is
 * never less than it is.
 */
export function rowAt(record: TextRecord, span: ClockSpan, isHolder: boolean): Row {
  const { longest = Infinity } = record;
  const wall = middle(span);
  const early = rowOf(record, { at: span.earliest, wall }, inline);
  const late = rowOf(record, { at: span.latest, wall }, inline);
  if (isHolder) return late;
  const left = Math.min(longest, leftFor(early.left, late.left));
  return { ...late, left, pinnedFor: early.pinnedFor };
}

function leftFor(mostMs: number, leastMs: number): number {
  if (mostMs === leastMs) return mostMs;
  return Math.max(mostMs / 2, Math.min(mostMs * (1 + DRIFT), leastMs + SOON_MS));
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

/** The record with as many earlier editions, newest first, as fit beside its text. */
export function fitting(record: StoredRecord<Text>, mostBytes: number): StoredRecord<Text> {
  const { older } = record;
  let left = mostBytes - bytesIn(record);
  const isOver = (edition: Edition<Text>): boolean => {
    left -= bytesIn(edition);
    return left < 0;
  };
  const end = older.findIndex(isOver);
  return end === -1 ? record : { ...record, older: older.slice(0, end) };
}

function bytesIn({ text }: Edition<Text>): number {
  return isLong(text) ? text.bytes : bytesOf(text);
}

/** The records that are kept in one text, by their part of it. */
export type Parts = ReadonlyMap<Part, TextRecord>;

/** The records in a text. Of one in another format each part is unreadable. @param stored `undefined`: there is none. */
export function partsIn(stored: string | undefined): Parts {
  if (stored === undefined) return new Map();
  try {
    const given = ownOptions(parseJson(stored) as Record<string, unknown>);
    const there = PARTS.filter((part) => given[part] !== undefined);
    if (there.length > 0) return new Map(there.map((part) => [part, recordFrom(given[part])]));
  } catch {
    // not JSON
  }
  return new Map(PARTS.map((part) => [part, UNREADABLE]));
}

/** `undefined`: there are none, and the name is to be deleted. */
export function textOf(parts: Parts): string | undefined {
  return parts.size === 0 ? undefined : JSON.stringify(Object.fromEntries(parts));
}

/** The ids of the long texts of all parts. */
export function idsIn(parts: Parts): string[] {
  return [...parts.values()].flatMap(idsOf);
}

/** The id of the long text that is read with them: that of the present edition. */
export function mainIn(parts: Parts): string | undefined {
  return [...parts.values()].flatMap(({ text }) => (isLong(text) ? text.id : []))[0];
}

function recordFrom(given: unknown): TextRecord {
  const record = ownOptions((given ?? {}) as TextRecord);
  const { token, longest, keepMs, pinnedUntil, note, replaced, hold, unused, older } = record;
  const known = isPlausibleToken(token, Infinity) ? token : NaN;
  if (!Array.isArray(older) || ![record, ...older].every(hasText)) return { ...UNREADABLE, token: known };
  return {
    ...record,
    token: known,
    longest: numberOf(longest),
    keepMs: numberOf(keepMs),
    pinnedUntil: numberOf(pinnedUntil),
    note: typeof note === 'string' ? note : '',
    replaced: typeof replaced === 'string' ? replaced : undefined,
    hold: hold ?? undefined,
    unused: unused ?? undefined,
  };
}

function hasText(edition: Edition<Text> | null): boolean {
  const { text } = edition ?? {};
  if (typeof text === 'string') return true;
  const { id, bytes } = (text ?? {}) as Partial<Long>;
  return typeof id === 'string' && id !== '' && Number.isSafeInteger(bytes);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}
