import { bytesOf } from '../../cluster/history.ts';
import type { Amend, Claim, Put } from '../../records/records.ts';
import {
  after,
  DAMAGE,
  IS_HELD,
  IS_LIVE,
  IS_SOUND,
  IS_TOKEN,
  isOfType,
  KEEP_MS,
  LEASED,
  literal,
  NEXT_TOKEN,
  NOW,
  OLDER,
  TOKEN,
} from './expressions.ts';

// `records/edited.ts` in the language of MongoDB's pipelines.

/** Changes only the time of the edit: its answer needs the server's clock. */
const UNCHANGED = { $mergeObjects: ['$$ROOT', { askedAt: NOW }] };

/** An edit as the update of one document. */
export interface Change {
  readonly filter: { readonly _id: string; readonly $expr?: object };
  readonly pipeline: object[];
  /** Where no document matches, there is a new one. */
  readonly upsert: boolean;
  /** The document has an `expireAt`, at which the server deletes it. */
  readonly expires: boolean;
}

/** @param retentionMs the document is kept for this long after its end, at most. `Infinity`: for ever. */
export function changeOf(edit: Claim | Amend | Put, retentionMs: number): Change {
  const { keepMs = Infinity } = edit.op === 'claim' ? {} : edit;
  const keptMs = Math.min(retentionMs, keepMs);
  const expires = keptMs < Infinity;
  const expiry = (ms: number): object | null => (expires ? after(ms + keptMs) : null);
  switch (edit.op) {
    case 'claim':
      return { ...claimed(edit, expiry(edit.forMs)), expires };
    case 'amend':
      return { ...amended(edit, expiry(edit.forMs)), expires };
    case 'put':
      return { ...put(edit, expiry(0)), expires };
  }
}

type Update = Omit<Change, 'expires'>;

function claimed({ name, id, text, forMs, force }: Claim, expireAt: object | null): Update {
  const isTaken = force ? { $and: [IS_LIVE, { $not: [IS_HELD] }] } : IS_LIVE;
  const lease = {
    _id: '$_id',
    token: NEXT_TOKEN,
    id: literal(id),
    phase: { $cond: [{ $in: ['$phase', LEASED] }, 'seized', 'leased'] },
    at: NOW,
    changedAt: NOW,
    until: after(forMs),
    text: literal(text),
    note: '',
    replaced: DAMAGE,
    keepMs: null,
    older: [],
    askedAt: NOW,
    expireAt,
  };
  const pipeline = [{ $replaceWith: { $cond: [isTaken, UNCHANGED, lease] } }];
  return { filter: { _id: name }, pipeline, upsert: true };
}

function amended(edit: Amend, expireAt: object | null): Update {
  const { name, token, id, phase, note = '', forMs, keepMs } = edit;
  const isHolder = { $and: [IS_LIVE, { $not: [IS_HELD] }, { $eq: ['$id', literal(id)] }] };
  const isEnded = { $and: [IS_HELD, { $eq: ['$id', literal(id)] }, { $eq: ['$note', literal(note)] }] };
  const isRepeated = id !== undefined && phase === 'held' && isEnded;
  const isAllowed = id === undefined || { $or: [isHolder, isRepeated] };
  const $expr = { $and: [IS_SOUND, { $eq: ['$token', literal(token)] }, isAllowed] };
  const end = {
    until: after(forMs),
    keepMs: literal(keepMs),
    ...(phase !== undefined && { phase, note: literal(note), changedAt: NOW }),
    askedAt: NOW,
    expireAt,
  };
  const pipeline = [{ $replaceWith: { $cond: [isRepeated, UNCHANGED, { $mergeObjects: ['$$ROOT', end] }] } }];
  return { filter: { _id: name, $expr }, pipeline, upsert: false };
}

function put({ name, token, over, text, keepMs, older }: Put, expireAt: object | null): Update {
  const next = token ?? NEXT_TOKEN;
  const isOver = over === undefined ? false : { $eq: [TOKEN, over] };
  const isRefused = token === undefined ? false : { $and: [{ $gt: [TOKEN, token] }, { $not: [isOver] }] };
  const isSame = { $and: [{ $eq: ['$text', '$$text'] }, { $eq: [KEEP_MS, literal(keepMs)] }] };
  const isRepeated = token === undefined ? false : { $and: [IS_SOUND, { $eq: ['$token', token] }, isSame] };
  const written = {
    _id: '$_id',
    token: next,
    id: '',
    phase: 'held',
    at: NOW,
    changedAt: NOW,
    until: NOW,
    text: '$$text',
    note: '',
    replaced: null,
    keepMs: literal(keepMs),
    older: older > 0 && keepMs === undefined ? olderEditions(next, older, bytesOf(text)) : [],
    askedAt: NOW,
    expireAt,
  };
  const result = { $cond: [{ $or: [isRefused, isRepeated] }, UNCHANGED, written] };
  // The text is in the command once: it may be as long as a command may be.
  const pipeline = [{ $replaceWith: { $let: { vars: { text: literal(text) }, in: result } } }];
  return { filter: { _id: name }, pipeline, upsert: true };
}

/** The most bytes of all texts of a document, which may have 16 MiB. */
const MOST_BYTES = 16_000_000;

/** Bytes of an edition beside its text, at most. */
const BYTES_BESIDE = 100;

/** The present edition and those before it, newest first, that are kept beside the one to be written: as many as fit. */
function olderEditions(token: number | object, room: number, bytes: number): object {
  const isKept = { $and: [IS_TOKEN, isOfType('$text', 'string'), { $eq: [KEEP_MS, null] }] };
  const present = { token: '$token', at: '$at', text: '$text' };
  const before = {
    $filter: {
      input: { $concatArrays: [{ $cond: [isKept, [present], []] }, OLDER] },
      as: 'one',
      cond: { $lt: ['$$one.token', token] },
    },
  };
  const size = { $add: ['$$value.bytes', BYTES_BESIDE, { $strLenBytes: '$$this.text' }] };
  const kept = {
    $cond: [{ $lte: [size, MOST_BYTES] }, { $concatArrays: ['$$value.kept', ['$$this']] }, '$$value.kept'],
  };
  const fitting = {
    $reduce: {
      input: { $slice: [before, room] },
      initialValue: { bytes, kept: [] },
      in: { bytes: size, kept },
    },
  };
  return { $let: { vars: { fitting }, in: '$$fitting.kept' } };
}
