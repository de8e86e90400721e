import type { Read } from '../../records/records.ts';
import { IS_TOKEN, isOfType, KEEP_MS, NOW, OLDER } from './expressions.ts';

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
