import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { messageOf } from '../observe/logger.ts';
import { isNumber, OptionChecks } from '../option-checks.ts';
import { isThenable } from '../time/deferred.ts';
import { type ResolvedCacheOptions, type SizeOptions, sizeOfValue } from './cache-options.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';
import type { RestoredEntry } from './restored-entry.ts';

/** One value of a {@link CacheDump}. */
export interface DumpedEntry<K, V> {
  readonly key: K;
  readonly value: V;
  /** Its age in milliseconds when it was dumped. */
  readonly age: number;
  /** When it is due, in epoch milliseconds; `null`: never by itself. */
  readonly nextExecuteTime: number | null;
  /** Its age limit in milliseconds, where that is not the one of the cache; `null`: none. */
  readonly maxStaleness?: number | null | undefined;
  readonly tags?: readonly string[] | undefined;
}

/**
 * The values of a cache for a warm start: plain data, which JSON, `structuredClone` and `v8.serialize` can encode if they
 * can encode the keys and values.
 */
export interface CacheDump<K, V> {
  /** The version of this format. */
  readonly version: 1;
  /** The `name` of the cache. */
  readonly name: string;
  /** When it was made, in epoch milliseconds. */
  readonly at: number;
  /** The least recently used first. */
  readonly entries: readonly DumpedEntry<K, V>[];
}

/** The result of `restore`. */
export interface RestoreReport {
  /** How many values are in the cache now. */
  readonly restored: number;
  /** How many were left out: older than `maxStaleness`, older than the value in the cache, or beyond its bound. */
  readonly dropped: number;
}

/** Dumps entries. @param entries the least recently used first. */
export function dumpOf<K, V>(
  entries: Iterable<KeyedEntry<K, V>>,
  { name, clock, maxStalenessMs: usual }: ResolvedOptions,
): CacheDump<K, V> {
  const now = clock.monotonic();
  const at = clock.now();
  const dumped = Array.from(entries, (entry): DumpedEntry<K, V> => {
    const { key, value, tags, maxStalenessMs, isInvalidated, nextExecuteTime } = entry;
    return {
      key,
      value: value as V,
      age: Math.max(0, now - entry.loadedAt),
      nextExecuteTime: isInvalidated ? at : orNull(nextExecuteTime),
      ...(maxStalenessMs === usual ? {} : { maxStaleness: orNull(maxStalenessMs) }),
      ...(tags === undefined ? {} : { tags }),
    };
  });
  return { version: 1, name, at, entries: dumped };
}

/**
 * Reads a dump. Its entries have aged since by the wall clock; a clock that was set back adds nothing.
 *
 * @param idOf throws for a value that is not a key.
 * @throws {OptionError} when it is not a dump, naming the first broken rules.
 */
export function entriesOf<K, V>(
  dump: CacheDump<K, V>,
  idOf: (key: K) => KeyId,
  { member, sizeOf }: Pick<ResolvedCacheOptions<K, V>, 'member' | 'sizeOf'>,
): RestoredEntry<K, V>[] {
  const checks = new OptionChecks(member.name);
  const isDump = dump?.version === 1 && isNumber(dump.at, 0, Number.MAX_VALUE) && Array.isArray(dump.entries);
  checks.that(isDump, 'dump', 'must be what dump() returned, of version 1', dump);
  checks.done();
  const sinceThen = Math.max(0, member.clock.now() - dump.at);
  const entries = dump.entries.map((dumped, index) => {
    const path = `dump.entries[${index}]`;
    const { key, value, age, nextExecuteTime, maxStaleness, tags } = dumped ?? {};
    checks.that(hasId(idOf, key), `${path}.key`, 'must be a key of this cache', key);
    const isValue = (value !== undefined || member.allowUndefined) && !isThenable(value);
    checks.that(isValue, `${path}.value`, 'must be a value', value);
    const isAge = isNumber(age, 0, Number.MAX_VALUE);
    checks.that(isAge, `${path}.age`, 'must be a finite number of 0 or more', age);
    const isTime = nextExecuteTime === null || isNumber(nextExecuteTime, 0, Infinity);
    checks.that(isTime, `${path}.nextExecuteTime`, 'must be epoch milliseconds or null', nextExecuteTime);
    const isLimit = (maxStaleness ?? null) === null || isNumber(maxStaleness, 0, Infinity);
    checks.that(isLimit, `${path}.maxStaleness`, 'must be a number of 0 or more, or null', maxStaleness);
    const areTags =
      tags === undefined || (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'));
    checks.that(areTags, `${path}.tags`, 'must be an array of strings', tags);
    let size = 1;
    try {
      size = sizeOfValue(sizeOf, value, key);
    } catch (error) {
      checks.that(false, `${path}.value`, `must have a size: ${messageOf(error)}`, value);
    }
    return {
      key,
      value,
      size,
      ageMs: isAge ? age + sinceThen : Number.NaN,
      nextExecuteTime: nextExecuteTime ?? Infinity,
      maxStalenessMs: maxStaleness === null ? Infinity : maxStaleness,
      tags,
    };
  });
  checks.done();
  return entries;
}

/** Restores the entries that are not too old, not too large, and not older than the value in the cache. */
export function restoreInto<K, V>(
  entries: KeyedEntries<K, V>,
  restored: readonly RestoredEntry<K, V>[],
  { member, bound }: SizeOptions<K, V>,
): RestoreReport {
  const { maxStalenessMs: usual } = member;
  const { maxSize = Infinity } = bound;
  const taken = restored.filter(
    (entry) =>
      entry.ageMs <= (entry.maxStalenessMs ?? usual) && entry.size <= maxSize && entries.restore(entry),
  );
  const ids = new Set(taken.map(({ key }) => entries.idOf(key)));
  const held = [...ids].filter((id) => entries.table.find(id) !== undefined).length;
  return { restored: held, dropped: restored.length - held };
}

/** It is a key, and has an identity. */
function hasId<K>(idOf: (key: K) => KeyId, key: K): boolean {
  try {
    idOf(key);
    return true;
    // Stryker disable next-line BlockStatement: undefined means no, as false does.
  } catch {
    return false;
  }
}

function orNull(number: number): number | null {
  return number === Infinity ? null : number;
}
