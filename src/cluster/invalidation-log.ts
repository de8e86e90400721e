import type { KeysMark, Mark, NamedId } from '../data/mark.ts';
import { boardCodec } from './board-codec.ts';
import type { Codec } from './store-contract.ts';

/** The marks on the keys of a member, as its rounds see them. */
export interface MarksOnKeys {
  /** Resolves when they were read for the first time, or could not be. Never rejects. */
  known(): Promise<void>;
  /** The version up to which values of a key with these tags are out of date. */
  outOfDateUpTo(id: unknown, tags: readonly string[] | undefined): number;
  /** A mark of this instance on many keys, also on one with these tags, is being published: its version is not known yet. */
  isBeingMarked(tags: readonly string[] | undefined): boolean;
}

/** A mark with the version under which it was published. */
type LoggedInvalidation = KeysMark & {
  readonly version: number;
  /** Of an earlier mark that has dropped the key, which others may not know yet. */
  readonly droppedBy?: number | undefined;
};

/**
 * The marks on the keys of a cache that all instances are to learn of, oldest first. It is bounded: marks that have left it
 * are summed up in two versions. 0: there are none.
 */
export interface InvalidationLog {
  /** Values up to this version are out of date, whatever their key. */
  readonly invalidatedUpTo: number;
  /** An instance that knows no mark of a later version than this is to drop all its values. */
  readonly droppedUpTo: number;
  readonly entries: readonly LoggedInvalidation[];
}

/** The invalidation log of a cache without marks. */
export const EMPTY: InvalidationLog = { invalidatedUpTo: 0, droppedUpTo: 0, entries: [] };

/** Bounds of an invalidation log: marks, and characters of their texts. */
const MOST_MARKS = 1000;
const MOST_CHARACTERS = 64_000;

/** The rest of a mark, in characters. */
const MARK_CHARACTERS = 80;

/** The invalidation log with further marks, of that version. Of one tag the last mark counts, of one key that of the last change. */
export function withMarks(
  log: InvalidationLog,
  marks: readonly KeysMark[],
  version: number,
): InvalidationLog {
  let base = log;
  const entries = new Map(log.entries.map((entry) => [subjectOf(entry), entry]));
  for (const mark of marks) {
    if (mark.of === 'all') {
      base = summedUp({ ...base, entries: [...entries.values()] }, entries.size, {
        mark: mark.mark,
        version,
      });
      entries.clear();
      continue;
    }
    const subject = subjectOf(mark);
    const before = entries.get(subject);
    entries.delete(subject); // the last one is at the end
    const last = lastChange(mark, before);
    const drop = mark.mark === 'dropped' ? version : before && dropOf(before);
    const droppedBy = last.mark === 'dropped' ? undefined : drop;
    entries.set(subject, { ...last, version, ...(droppedBy && { droppedBy }) });
  }
  return bounded({ ...base, entries: [...entries.values()] });
}

/** The mark of a change of a key may be published after that of a later change, which counts. */
function lastChange(mark: KeysMark, before: LoggedInvalidation | undefined): KeysMark {
  const isOvertaken = mark.of === 'key' && before?.of === 'key' && before.at > mark.at;
  return isOvertaken ? { ...mark, mark: before.mark, at: before.at } : mark;
}

/** The invalidation log as it is known, where that of a later version can't be read: its marks may concern any key. */
export function lostUpTo(log: InvalidationLog, version: number): InvalidationLog {
  return { ...log, invalidatedUpTo: version };
}

function bounded(log: InvalidationLog): InvalidationLog {
  const { entries } = log;
  let characters = 0;
  let kept = 0;
  for (const entry of [...entries].reverse()) {
    characters += subjectOf(entry).length + MARK_CHARACTERS;
    if (characters > MOST_CHARACTERS || kept === MOST_MARKS) break;
    kept += 1;
  }
  return kept === entries.length ? log : summedUp(log, entries.length - kept);
}

/** The invalidation log without its first marks, which are summed up, with another one. */
function summedUp(
  { invalidatedUpTo, droppedUpTo, entries }: InvalidationLog,
  count: number,
  also?: { readonly mark: Mark; readonly version: number },
): InvalidationLog {
  const left = [...entries.slice(0, count), ...(also ? [also] : [])];
  const latest = (some: readonly { readonly version: number }[], least: number): number =>
    some.reduce((most, { version }) => Math.max(most, version), least);
  return {
    invalidatedUpTo: latest(left, invalidatedUpTo),
    droppedUpTo: latest(
      left.flatMap((one) => ({ version: dropOf(one) ?? 0 })),
      droppedUpTo,
    ),
    entries: entries.slice(count),
  };
}

/** A mark as it concerns the keys of an instance. */
export interface DueMark {
  readonly mark: KeysMark;
  /** Values up to this version are meant. */
  readonly upTo: number;
}

/** The marks that were published after a version, for an instance that has applied all before. */
export function marksAfter(
  { invalidatedUpTo, droppedUpTo, entries }: InvalidationLog,
  version: number,
): DueMark[] {
  const newer = entries.filter((entry) => entry.version > version);
  const due = newer.map((entry): DueMark => {
    if (entry.of !== 'key') return { mark: entry, upTo: entry.version };
    const isDropped = (dropOf(entry) ?? 0) > version;
    return { mark: isDropped ? { ...entry, mark: 'dropped' } : entry, upTo: entry.at };
  });
  if (droppedUpTo > version) due.unshift({ mark: { of: 'all', mark: 'dropped' }, upTo: droppedUpTo });
  if (invalidatedUpTo > Math.max(version, droppedUpTo))
    due.unshift({ mark: { of: 'all', mark: 'invalidated' }, upTo: invalidatedUpTo });
  return due;
}

/** The version up to which values of a key with these tags are out of date; 0: none are. */
export function outOfDateUpTo(
  { invalidatedUpTo, entries }: InvalidationLog,
  id: unknown,
  tags: readonly string[] | undefined,
): number {
  let most = invalidatedUpTo;
  for (const entry of entries) {
    if (entry.of === 'tag' && tags?.includes(entry.tag)) most = Math.max(most, entry.version);
    if (entry.of === 'key' && (entry.id === id || Object.is(entry.id, id)) && entry.mark !== 'changed')
      most = Math.max(most, entry.at);
  }
  return most;
}

/** The invalidation log of an edition, in which no mark is later than its version. */
export function datedLog(
  { invalidatedUpTo, droppedUpTo, entries }: InvalidationLog,
  version: number,
): InvalidationLog {
  const dated = (one: number): number => Math.min(one, version);
  return {
    invalidatedUpTo: dated(invalidatedUpTo),
    droppedUpTo: dated(droppedUpTo),
    entries: entries.map((entry) => ({
      ...entry,
      version: dated(entry.version),
      ...(entry.droppedBy && { droppedBy: dated(entry.droppedBy) }),
    })),
  };
}

/** The invalidation log as it travels: JSON has no bigint, and no `NaN`. */
export const invalidationLogCodec: Codec = boardCodec('tickless-journal/1', checked, (_, value) => {
  if (typeof value === 'bigint') return { bigint: String(value) };
  return typeof value === 'number' && !Number.isFinite(value) ? { number: String(value) } : value;
});

function checked(log: InvalidationLog): InvalidationLog {
  const isVersion = (version: unknown): boolean => Number.isSafeInteger(version) && (version as number) >= 0;
  const isSound =
    isVersion(log?.invalidatedUpTo) &&
    isVersion(log.droppedUpTo) &&
    Array.isArray(log.entries) &&
    log.entries.every((entry) => {
      const isNamed =
        entry.of === 'tag' ? typeof entry.tag === 'string' : entry.of === 'key' && isVersion(entry.at);
      return (
        isNamed && isVersion(entry.version) && isVersion(entry.droppedBy ?? 0) && MARKS.includes(entry.mark)
      );
    });
  if (!isSound) throw new TypeError('not an invalidation log');
  return { ...log, entries: log.entries.map(withId) };
}

const MARKS: readonly string[] = ['invalidated', 'dropped', 'changed'];

function withId(entry: LoggedInvalidation): LoggedInvalidation {
  if (entry.of !== 'key' || typeof entry.id !== 'object') return entry;
  const { bigint, number } = entry.id as { readonly bigint: string; readonly number?: string };
  return { ...entry, id: number === undefined ? BigInt(bigint) : Number(number) };
}

/** The version of the last mark that has dropped the values; `undefined`: none has. */
function dropOf(entry: {
  readonly mark: string;
  readonly version: number;
  readonly droppedBy?: number | undefined;
}): number | undefined {
  return entry.mark === 'dropped' ? entry.version : entry.droppedBy;
}

/** The same for two marks on the same thing. */
function subjectOf(mark: KeysMark): string {
  switch (mark.of) {
    case 'all':
      return 'all';
    case 'tag':
      return `tag ${mark.tag}`;
    case 'key':
      return `key ${typeof mark.id} ${String(mark.id satisfies NamedId)}`;
  }
}
