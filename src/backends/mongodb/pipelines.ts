import type { Change, Swap } from '../../records/cells/cells.ts';
import { idsIn, partsIn } from '../../records/cells/stored-text.ts';

// The document of a name: `_id`, its text `record`, the id `main`, its long texts `long`, `askedAt` (the server's clock), `isOther`
// (the last swap has found another text than it expected), and `expireAt`. Types are checked, because people edit documents, and
// MongoDB orders values of different types.

/** The server's clock: one instant per command. */
export const NOW = '$$NOW';

/** A hundred years, which still gives a valid date. */
const LONGEST_MS = 100 * 365 * 86_400_000;

/** Changes nothing but what an answer needs. */
const UNCHANGED = { $mergeObjects: ['$$ROOT', { askedAt: NOW, isOther: true }] };

const LONG = { $cond: [{ $isArray: '$long' }, '$long', []] };

/** The document after a swap. */
export function swapped(swap: Swap): object[] {
  const { after, main, adds, keepForMs } = swap;
  const added = adds === undefined ? [] : [adds];
  const keptFor = Math.min(Math.ceil(keepForMs), LONGEST_MS);
  const next = {
    _id: '$_id',
    record: literal(after),
    main: literal(main),
    long: { $concatArrays: [longOf(idsIn(partsIn(after))), literal(added)] },
    askedAt: NOW,
    expireAt: keepForMs === Infinity ? null : { $add: [NOW, keptFor] },
  };
  return [{ $replaceWith: { $cond: [isAsBefore(swap), next, UNCHANGED] } }];
}

/** Finds a document that is to be deleted. */
export function deletedBy(name: string, swap: Swap): object {
  return { _id: name, $expr: isAsBefore(swap) };
}

/** An upsert begins with a document that has only its `_id`. */
function isAsBefore({ before }: Swap): object {
  if (before === undefined) return { $eq: ['$$ROOT', { _id: '$_id' }] };
  return { $eq: [{ $cond: [isText('$record'), '$record', ''] }, literal(before)] };
}

/** Creates the document that tells the clock. */
export const TICK: object[] = [{ $set: { askedAt: NOW } }];

/** The main texts of looks and of swaps that are not done, but for those that are known. */
export function mainOf(whole: readonly Change[]): object {
  const names = whole.map(({ name }) => name);
  const swapped = whole.flatMap(({ name, swap }) => (swap?.after === undefined ? [] : name));
  const known = whole.flatMap((change) => change.known ?? []);
  const isMain = { $eq: ['$$one.id', '$main'] };
  const isShown = { $or: ['$isOther', { $not: [{ $in: ['$_id', literal(swapped)] }] }] };
  const isNew = { $not: [{ $in: ['$main', literal(known)] }] };
  const cond = { $and: [isMain, { $in: ['$_id', literal(names)] }, isShown, isNew] };
  return { $arrayElemAt: [{ $filter: { input: LONG, as: 'one', cond } }, 0] };
}

/** Long texts, as many characters of each. */
export function beginnings(ids: readonly string[], most: number): object {
  const begun = { $cond: [isText('$$one.text'), { $substrCP: ['$$one.text', 0, most] }, null] };
  const text = most === Infinity ? '$$one.text' : begun;
  return { $map: { input: longOf(ids), as: 'one', in: { id: '$$one.id', text } } };
}

function longOf(ids: readonly string[]): object {
  return { $filter: { input: LONG, as: 'one', cond: { $in: ['$$one.id', literal(ids)] } } };
}

/** Finds the documents of names that begin with a text, and are to be kept longer than until now. */
export function keptFrom(prefix: string): object {
  const isKept = { $or: [{ $eq: [{ $ifNull: ['$expireAt', null] }, null] }, { $gt: ['$expireAt', NOW] }] };
  return { _id: { $regex: `^${escaped(prefix)}` }, $expr: isKept };
}

function isText(field: string): object {
  return { $eq: [{ $type: field }, 'string'] };
}

/** A value of the caller, which may mean something in a pipeline. */
function literal(value: unknown): object {
  return { $literal: value ?? null };
}

/** Escapes a text for a regular expression. */
function escaped(prefix: string): string {
  return prefix.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
