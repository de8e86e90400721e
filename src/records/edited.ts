import { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
import { CLOCK_BACK_MS, isPlausibleToken } from '../cluster/plausible.ts';
import type { Amend, Claim, Edit, Impose, Phase, Put, Read, Row } from './records.ts';

/** One of the texts of a name. Instants are milliseconds on a clock shared by all users of the record. */
export interface Edition<T = string> {
  readonly token: number;
  readonly at: number;
  readonly text: T;
}

/** The record of a name, plain data. @typeParam T how the backend keeps a text. */
export interface StoredRecord<T = string> extends Edition<T> {
  readonly id: string;
  readonly phase: Phase;
  /** The last change of the phase. */
  readonly changedAt: number;
  /** The end of the lease or the hold. */
  readonly until: number;
  readonly note: string;
  /** The damaged field of the record before it. */
  readonly replaced?: string | undefined;
  /** How long it is kept after its end, in milliseconds. @default undefined: as long as any */
  readonly keepMs?: number | undefined;
  /** No put that spares a pinned record replaces it before. @default undefined: it is not pinned */
  readonly pinnedUntil?: number | undefined;
  /** The hold that its lease has replaced: where the lease ends without a result, it is there again. */
  readonly hold?: Hold<T> | undefined;
  /** The last lease that has ended so. */
  readonly unused?: { readonly token: number; readonly id: string } | undefined;
  /** Newest first. */
  readonly older: readonly Edition<T>[];
}

/** The end of a round, while it keeps the next one from beginning. */
type Hold<T> = Edition<T> & Pick<StoredRecord<T>, 'id' | 'changedAt' | 'until' | 'note' | 'keepMs'>;

/** An instant by both clocks of a backend, in milliseconds: `at` for durations, `wall` for tokens. */
export interface Instant {
  readonly at: number;
  readonly wall: number;
}

/** The record after an edit; the same object if it has changed nothing. `undefined`: there is none. */
export interface Edited<T = string> {
  readonly next: StoredRecord<T> | undefined;
  readonly isDone: boolean;
  /** In its place in the answer: the pinned version that stands against a claim. */
  readonly shown?: StoredRecord<T> | undefined;
}

/** The end of a lease or a hold lies no further ahead, unless the record was edited by hand. */
export const LONGEST_AHEAD_MS: number = LONGEST_LEASE_MS + CLOCK_BACK_MS;

/**
 * The effect of an edit on a record. Pure: the definition that the scripts and statements of backends translate.
 *
 * @param record also one that was edited by hand, but an object with an array `older`.
 * @param beside the other part of the name, if there is one.
 * @param mark the token of a claim is greater.
 */
export function edited<T>(
  record: StoredRecord<T> | undefined,
  edit: Edit<T>,
  now: Instant,
  beside?: StoredRecord<T>,
  mark: number = 0,
): Edited<T> {
  switch (edit.op) {
    case 'claim':
      return claimed(record, edit, now, beside, mark);
    case 'amend':
      return amended(record, edit, now);
    case 'put':
      return put(record, edit, now, beside);
    case 'impose':
      return imposed(record, edit, now, beside);
    case 'read':
      return { next: record, isDone: record !== undefined };
    case 'delete':
      return { next: undefined, isDone: record !== undefined };
  }
}

function claimed<T>(
  record: StoredRecord<T> | undefined,
  { id, text, forMs, force }: Claim<T>,
  now: Instant,
  beside: StoredRecord<T> | undefined,
  mark: number,
): Edited<T> {
  const { at } = now;
  if (beside !== undefined && isPinned(beside, now)) {
    const holder = record?.text ?? ('' as T); // the text of a value names none
    return { next: record, isDone: false, shown: { ...beside, text: holder } };
  }
  const replaced = record && damageOf(record, now);
  if (record !== undefined && replaced === undefined && isLive(record, at)) {
    const isHeld = record.phase === 'held';
    if (!isHeld || !force) return { next: record, isDone: !isHeld && record.id === id };
  }
  const isSeized = record !== undefined && record.phase !== 'held' && PHASES.has(record.phase);
  const isHold = record !== undefined && replaced === undefined && isLive(record, at);
  const tokens = [record?.token, record?.unused?.token, beside?.token, mark].map((one) =>
    plausible(one, now),
  );
  return {
    next: {
      token: successorOf(Math.max(...tokens), now),
      id,
      phase: isSeized ? 'seized' : 'leased',
      at,
      changedAt: at,
      until: at + forMs,
      text,
      note: '',
      replaced,
      keepMs: undefined,
      hold: isHold ? holdOf(record) : undefined,
      older: [],
    },
    isDone: true,
  };
}

function holdOf<T>({ token, id, at, changedAt, until, text, note, keepMs }: StoredRecord<T>): Hold<T> {
  return { token, id, at, changedAt, until, text, note, keepMs };
}

function amended<T>(record: StoredRecord<T> | undefined, edit: Amend, now: Instant): Edited<T> {
  const { token, id, phase, note = '', forMs, keepMs, restores } = edit;
  const { unused } = record ?? {};
  if (restores && unused?.token === token && unused.id === id) return { next: record, isDone: true };
  if (record?.token !== token || damageOf(record, now) !== undefined) return { next: record, isDone: false };
  if (id !== undefined) {
    const isRepeated = phase === 'held' && record.phase === 'held' && record.note === note;
    const isHolder = record.phase !== 'held' && isLive(record, now.at);
    if (record.id !== id || !isHolder) return { next: record, isDone: record.id === id && isRepeated };
  }
  if (restores && record.hold !== undefined) {
    const back = { ...record.hold, phase: 'held', older: [] } as const;
    return { next: { ...back, unused: { token, id: record.id } }, isDone: true };
  }
  const end = { ...record, until: now.at + forMs, keepMs };
  const next = phase === undefined ? end : { ...end, phase, note, changedAt: now.at };
  return { next, isDone: true };
}

function put<T>(
  record: StoredRecord<T> | undefined,
  edit: Put<T>,
  now: Instant,
  beside: StoredRecord<T> | undefined,
): Edited<T> {
  const { id = '', text, keepMs, older, over, pinMs, sparesPinned } = edit;
  const held = plausible(record?.token, now);
  if (id !== '' && record?.id === id) return { next: record, isDone: true };
  if (sparesPinned && record !== undefined && isPinned(record, now)) return { next: record, isDone: false };
  if (!isExpected(record, edit, now)) return { next: record, isDone: isRepeated(record, edit, now) };
  if (edit.token !== undefined && edit.token < held && held !== over) return { next: record, isDone: false };
  if (edit.token === held && isRepeated(record, edit, now)) return { next: record, isDone: true };
  const token = edit.token ?? successorOf(Math.max(held, plausible(beside?.token, now)), now);
  const { at } = now;
  const kept = keepMs === undefined && record !== undefined ? editionsOf(record) : [];
  const next: StoredRecord<T> = {
    token,
    id,
    phase: 'held',
    at,
    changedAt: at,
    until: at,
    text,
    note: '',
    replaced: undefined,
    keepMs,
    pinnedUntil: pinMs === undefined ? undefined : at + pinMs,
    older: kept.filter((one) => one.token < token).slice(0, older),
  };
  return { next, isDone: true };
}

/** How long it is pinned, in milliseconds; `undefined`: it is not. */
function pinnedFor(record: StoredRecord<unknown>, now: Instant): number | undefined {
  const left = (record.pinnedUntil ?? 0) - now.at;
  const isPinned = left > 0 && left <= LONGEST_AHEAD_MS && damageOf(record, now) === undefined;
  return isPinned ? left : undefined;
}

function isPinned(record: StoredRecord<unknown>, now: Instant): boolean {
  return pinnedFor(record, now) !== undefined;
}

function imposed<T>(
  record: StoredRecord<T> | undefined,
  { id, text, note, forMs }: Impose<T>,
  now: Instant,
  beside: StoredRecord<T> | undefined,
): Edited<T> {
  const { at } = now;
  const token = plausible(beside?.token, now);
  const isLater = record !== undefined && record.token >= token && damageOf(record, now) === undefined;
  if (isLater) return { next: record, isDone: true };
  const end = { phase: 'held', at, changedAt: at, until: at + forMs, replaced: undefined } as const;
  return { next: { token, id, ...end, text, note, keepMs: undefined, older: [] }, isDone: true };
}

function isExpected<T>(record: StoredRecord<T> | undefined, { expected }: Put<T>, now: Instant): boolean {
  if (expected === undefined || expected === record?.token) return true;
  return expected === 0 && (record === undefined || damageOf(record, now) !== undefined);
}

/** It was put before as it is now: its age goes on. */
function isRepeated<T>(record: StoredRecord<T> | undefined, { text, keepMs }: Put<T>, now: Instant): boolean {
  return record?.text === text && record.keepMs === keepMs && damageOf(record, now) === undefined;
}

/** Those that may become earlier ones, newest first. */
export function editionsOf<T>({ token, at, text, keepMs, older }: StoredRecord<T>): readonly Edition<T>[] {
  return keepMs === undefined ? [{ token, at, text }, ...older] : older;
}

/** Its lease or its hold is not over. */
function isLive({ until, at: begunAt, changedAt }: StoredRecord<unknown>, at: number): boolean {
  return until > at && Math.max(begunAt, changedAt) <= at + CLOCK_BACK_MS;
}

const PHASES: ReadonlySet<unknown> = new Set<Phase>(['leased', 'seized', 'held']);

/**
 * The first field of a record that no edit has written: it was edited by hand, and is implausible or of a wrong type.
 * `undefined`: the record is sound.
 */
export function damageOf(
  { token, id, phase, until, at, changedAt }: StoredRecord<unknown>,
  now: Instant,
): keyof StoredRecord | undefined {
  const isInstant = (one: number): boolean => Number.isFinite(one) && one - now.at <= LONGEST_AHEAD_MS;
  if (!isPlausibleToken(token, now.wall)) return 'token';
  if (!PHASES.has(phase)) return 'phase';
  if (!isInstant(until)) return 'until';
  if (!isInstant(at)) return 'at';
  if (!isInstant(changedAt)) return 'changedAt';
  return typeof id === 'string' ? undefined : 'id';
}

/** In place of a record that can't be read, or is in another format. Its token is damaged, unless that is all that is left of it. */
export const UNREADABLE: StoredRecord = {
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

/** The token if the backend can have given it, else 0. */
function plausible(token: number | undefined, { wall }: Instant): number {
  return isPlausibleToken(token, wall) ? token : 0;
}

/** The next token: the backend's clock in microseconds, and more than a token before it that the backend can have given. */
function successorOf(token: number | undefined, now: Instant): number {
  const micros = Math.floor(now.wall * 1000);
  return isPlausibleToken(token, now.wall) ? Math.max(token + 1, micros) : micros;
}

/** The record as its backend returns it. */
export function rowOf<T>(record: StoredRecord<T>, now: Instant, textOf: (text: T) => string): Row {
  const { at } = now;
  const { token, id, phase, text, note, until, replaced } = record;
  const damage = damageOf(record, now);
  return {
    token,
    id,
    phase,
    text: textOf(text),
    note,
    age: sinceOf(record.at, at),
    changedAgo: sinceOf(record.changedAt, at),
    left: damage === undefined && isLive(record, at) ? until - at : 0,
    damage,
    replaced,
    pinnedFor: pinnedFor(record, now),
  };
}

/** A damaged instant may be of any type. */
function sinceOf(instant: number, at: number): number {
  return Number.isFinite(instant) ? at - instant : NaN;
}

/** The edition that a read asks for, in place of the present one. `undefined`: there is none, or none that is newer. */
export function foundBy<T>(
  record: StoredRecord<T> | undefined,
  { token: wanted, newerThan = -1 }: Read,
): StoredRecord<T> | undefined {
  if (record === undefined) return undefined;
  const found =
    wanted === undefined ? record : [record, ...record.older].find(({ token }) => token === wanted);
  if (found === undefined || found.token <= newerThan) return undefined;
  return found === record ? record : earlierOf(record, found as Edition<T>);
}

/** An earlier edition as a record: nothing of the present one decides about it. */
export function earlierOf<T>(record: StoredRecord<T>, edition: Edition<T>): StoredRecord<T> {
  const { at } = edition;
  return { ...record, ...edition, phase: 'held', changedAt: at, until: at, note: '', replaced: undefined };
}

/** It was to be kept until before now. As long as it is there, {@link edited} takes it as any other. */
export function isExpired(
  { until, changedAt, keepMs = Infinity }: StoredRecord<unknown>,
  at: number,
): boolean {
  if (![until, changedAt, keepMs].every(Number.isFinite)) return false;
  return Math.max(until, changedAt) + keepMs <= at;
}
