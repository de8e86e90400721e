import { parseJson } from '../../bounded-json.ts';
import { randomId } from '../../cluster/identity.ts';
import type { Edition, StoredRecord } from '../../records/edited.ts';
import { LOCK } from '../../records/names.ts';
import { isTextFile, type TextFile } from './file-names.ts';
import {
  hasRestarted,
  isComparable,
  isInstant,
  isMoment,
  type Moment,
  passedSince,
} from './machine-clock.ts';

/** How the text of a record is kept: within its state, or in a file of its own. */
export type Text = string | TextFile;

/** A state of a name, as its file has it. */
export interface State extends Moment {
  /** Makes the contents of each file unique. */
  readonly id: string;
  /** The name of a folder may contain only its hash. */
  readonly name: string;
  /** `null`: there is none yet, or it was deleted. */
  readonly record: StoredRecord<Text> | null;
}

/** The text of a state. @param record its instants are by the clock of `now`. */
export function encodeState(name: string, record: StoredRecord<Text> | null, now: Moment): string {
  const state: State = { ...now, id: randomId(), name, record };
  return JSON.stringify(state);
}

/** @returns `undefined` if the content is not a state: it was edited, or the disk is faulty. */
export function decodeState(content: string | null): State | undefined {
  try {
    const state = parseJson(String(content)) as State & { readonly record: never };
    const isState = isMoment({ ...state }) && typeof state.name === 'string';
    return isState && (state.record === null || isRecord(state.record)) ? state : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(record: Record<keyof StoredRecord, unknown>): boolean {
  const {
    token,
    id,
    phase,
    changedAt,
    until,
    note,
    replaced = '',
    keepMs = 0,
    pinnedUntil = 0,
    hold,
    older,
  } = record;
  return (
    isEdition(record) &&
    [token, changedAt, until, keepMs, pinnedUntil].every(isInstant) &&
    (hold === undefined || (hold !== null && isEdition(hold as StoredRecord<Text>))) &&
    [id, phase, note, replaced].every((text) => typeof text === 'string') &&
    Array.isArray(older) &&
    older.every(isEdition)
  );
}

function isEdition({ token, at, text }: Record<keyof Edition, unknown>): boolean {
  return Number.isSafeInteger(token) && isInstant(at) && (typeof text === 'string' || isTextFile(text));
}

/** The record of a state, its instants converted to the present clock. */
export function recordAt(state: State, now: Moment): StoredRecord<Text> | undefined {
  const { record } = state;
  if (record === null) return undefined;
  const { at, phase, changedAt, until, pinnedUntil, hold, older } = record;
  // A lease or a hold never becomes longer, and a step of the wall clock does not make it shorter.
  const shift = isComparable(state, now) ? 0 : now.at - Math.max(0, now.wall - state.wall) - state.at;
  // The age of a put is unknown where the wall clock was set back: it is then less than nothing.
  const isPut = !state.name.startsWith(LOCK);
  const shiftOfAge = isPut ? now.at - passedSince(state, now) - state.at : shift;
  const end = until + shift;
  return {
    ...record,
    at: at + shiftOfAge,
    changedAt: changedAt + shift,
    until: phase !== 'held' && hasRestarted(state, now) ? Math.min(now.at, end) : end,
    pinnedUntil: pinnedUntil === undefined ? undefined : pinnedUntil + shift,
    hold: hold && {
      ...hold,
      at: hold.at + shift,
      changedAt: hold.changedAt + shift,
      until: hold.until + shift,
    },
    older: older.map((edition) => ({ ...edition, at: edition.at + shiftOfAge })),
  };
}

/** An earlier edition as a record of its own: it is sound where the present one is damaged. */
export function recordOf(edition: Edition<Text>): StoredRecord<Text> {
  const { token, at, text } = edition;
  return { token, at, text, id: '', phase: 'held', changedAt: at, until: at, note: '', older: [] };
}

/** The files that the texts of a record are in. */
export function textFilesOf(record: StoredRecord<Text>): string[] {
  return [record, ...record.older].flatMap(({ text }) => (typeof text === 'string' ? [] : text.file));
}
