import { bytesOf } from '../../cluster/history.ts';
import { CLOCK_BACK_MS, LONGEST_AHEAD_MICROS } from '../../cluster/plausible.ts';
import { LONGEST_AHEAD_MS } from '../../records/edited.ts';
import type { Amend, Claim, Put, Read } from '../../records/records.ts';

// `records/edited.ts` in the language of MongoDB's pipelines. A document has the fields of a record, its instants as dates. Types
// are checked, because MongoDB orders values of different types.

/** The server's clock: one instant per command. */
const NOW = '$$NOW';

/** A hundred years, which still gives a valid date. */
const LONGEST_MS = 100 * 365 * 86_400_000;

/** The instant `ms` milliseconds from now, rounded up: dates have no fractions. */
function after(ms: number): object {
  return { $add: [NOW, Math.min(Math.ceil(ms), LONGEST_MS)] };
}

/** A value of the caller, which may mean something in a pipeline. */
function literal(value: unknown): object {
  return { $literal: value ?? null };
}

/** The server's clock in microseconds. */
const MICROS = { $multiply: [{ $toLong: NOW }, 1000] };

const isOfType = (field: string, type: string): object => ({ $eq: [{ $type: field }, type] });
const isBefore = (field: string, ms: number): object => ({ $lte: [field, after(ms)] });
const isInstant = (field: string): object => ({
  $and: [isOfType(field, 'date'), isBefore(field, LONGEST_AHEAD_MS)],
});

/** The backend can have given the token. */
const IS_TOKEN = {
  $and: [
    { $in: [{ $type: '$token' }, ['int', 'long', 'double']] },
    { $gte: ['$token', 0] },
    { $lte: ['$token', { $add: [MICROS, LONGEST_AHEAD_MICROS] }] },
  ],
};
const TOKEN = { $cond: [IS_TOKEN, '$token', 0] };

/** The next token: greater than the present one, and than any that this backend has ever issued. */
const NEXT_TOKEN = { $max: [{ $add: [TOKEN, 1] }, MICROS] };

const LEASED = ['leased', 'seized'];

/** Rules for the fields of a sound record. */
const RULES: Readonly<Record<string, object>> = {
  token: IS_TOKEN,
  phase: { $in: ['$phase', [...LEASED, 'held']] },
  until: isInstant('$until'),
  at: isInstant('$at'),
  changedAt: isInstant('$changedAt'),
  id: isOfType('$id', 'string'),
  text: isOfType('$text', 'string'),
};

const IS_SOUND = { $and: Object.values(RULES) };

/** The first field that breaks its rule. Of a new document all are missing, and `null` is what is replaced. */
const DAMAGE = {
  $switch: {
    branches: [
      { case: { $and: Object.keys(RULES).map((field) => isOfType(`$${field}`, 'missing')) }, then: null },
      ...Object.entries(RULES).map(([field, rule]) => ({ case: { $not: [rule] }, then: field })),
    ],
    default: null,
  },
};

const IS_HELD = { $eq: ['$phase', 'held'] };
const IS_LIVE = {
  $and: [
    IS_SOUND,
    { $gt: ['$until', NOW] },
    isBefore('$at', CLOCK_BACK_MS),
    isBefore('$changedAt', CLOCK_BACK_MS),
  ],
};

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

const KEEP_MS = { $ifNull: ['$keepMs', null] };
const OLDER = { $ifNull: ['$older', []] };

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

/** Leaves out the texts of a document. */
export const WITHOUT_TEXTS = { text: 0, older: 0 } as const;

/** @param hides the fields that are left out. */
export function pipelineOf(match: object, hides: object): object[] {
  return [{ $match: match }, { $set: { askedAt: NOW } }, { $project: hides }];
}

/** Finds the documents of reads, but for those that are not newer than their read asks for. */
export function isRead(reads: readonly Read[]): object {
  const names: Map<number, string[]> = new Map();
  for (const { name, newerThan = -1 } of reads) {
    const same = names.get(newerThan);
    if (same === undefined) names.set(newerThan, [name]);
    else same.push(name);
  }
  const wanted = Array.from(names, ([newerThan, some]) => ({
    _id: some.length === 1 ? some[0] : { $in: some },
    $expr: { $or: [{ $gt: ['$token', newerThan] }, { $not: [IS_TOKEN] }] },
  }));
  return wanted.length === 1 ? (wanted[0] as object) : { $or: wanted };
}

/** The documents of names that begin with a text, and are to be kept longer than until now. */
export function listPipeline(prefix: string, limit: number): object[] {
  const isKept = { $or: [{ $eq: [KEEP_MS, null] }, { $gt: ['$expireAt', NOW] }] };
  return [
    { $match: { _id: { $regex: `^${escaped(prefix)}` }, $expr: isKept } },
    { $sort: { _id: 1 } },
    { $limit: limit },
    { $set: { askedAt: NOW } },
    { $project: { older: 0 } },
  ];
}

/** Escapes a text for a regular expression. */
function escaped(prefix: string): string {
  return prefix.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The document of a name with the beginnings of its texts, and their bytes. */
export function editionsPipeline(name: string, beginning: number): object[] {
  const begun = (text: string): object => ({
    text: ofText(text, { $substrCP: [text, 0, beginning] }, null),
    bytes: ofText(text, { $strLenBytes: text }, 0),
  });
  const older = {
    $map: { input: OLDER, as: 'one', in: { token: '$$one.token', at: '$$one.at', ...begun('$$one.text') } },
  };
  return [{ $match: { _id: name } }, { $set: { askedAt: NOW, older, ...begun('$text') } }];
}

function ofText(field: string, expression: object, other: unknown): object {
  return { $cond: [isOfType(field, 'string'), expression, other] };
}
