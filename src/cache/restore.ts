import { messageOf } from '../observe/logger.ts';
import { isNumber, OptionChecks } from '../option-checks.ts';
import { isThenable } from '../time/deferred.ts';
import type { CacheDump, DumpedEntry, RestoreReport } from './dump.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyId } from './keyed-entry.ts';
import type { RestoredEntry } from './restored-entry.ts';
import { type SizeOptions, sizeOfValue } from './value-size.ts';

/** An entry that is invalid ends a restore. At most this number is collected, to report them together. */
const MOST_INVALID = 100;

/**
 * Restores the values of a dump that are not too old, not too large, and not older than the value in the cache.
 *
 * The dump is read from its end, the value used last, and only as far as its values fit: the work is bounded by the cache,
 * not by the dump. Values that are too old are dropped by their age alone.
 *
 * @throws {OptionError} when it is not a dump, or an entry that was looked at is invalid; nothing is restored then.
 */
export function restore<K, V>(
  dump: CacheDump<K, V>,
  entries: KeyedEntries<K, V>,
  options: SizeOptions<K, V>,
): RestoreReport {
  const picked = entriesToRestore(dump, (key) => entries.idOf(key), options);
  const taken = [...picked.values()].reverse().filter((entry) => entries.restore(entry));
  const held = taken.filter(({ key }) => entries.table.find(entries.idOf(key)) !== undefined).length;
  return { restored: held, dropped: dump.entries.length - held };
}

/**
 * The entries that fit, by the identity of their keys, the one used last first. They have aged since the dump by the wall
 * clock; a clock that was set back adds nothing.
 */
function entriesToRestore<K, V>(
  dump: CacheDump<K, V>,
  idOf: (key: K) => KeyId,
  { member, sizeOf, bound }: SizeOptions<K, V>,
): Map<KeyId, RestoredEntry<K, V>> {
  const { max = Infinity, maxSize = Infinity } = bound;
  const checks = new OptionChecks(member.name);
  const isDump = dump?.version === 1 && isNumber(dump.at, 0, Number.MAX_VALUE) && Array.isArray(dump.entries);
  checks.that(isDump, 'dump', 'must be what dump() returned, of version 1', dump);
  checks.done();
  const sinceThen = Math.max(0, member.clock.now() - dump.at);
  const picked = new Map<KeyId, RestoredEntry<K, V>>();
  let total = 0;
  let invalid = 0;
  for (let index = dump.entries.length - 1; index >= 0; index--) {
    if (picked.size >= max || invalid >= MOST_INVALID) break;
    const { age, maxStaleness } = dump.entries[index] ?? {};
    const limit = maxStaleness === null ? Infinity : (maxStaleness ?? member.maxStalenessMs);
    const areNumbers = isNumber(age, 0, Number.MAX_VALUE) && isNumber(limit, 0, Infinity);
    if (areNumbers && (age as number) + sinceThen > limit) continue;
    const entry = checkedEntry(dump, index, sinceThen, { idOf, sizeOf, member, checks });
    if (entry === undefined) {
      invalid += 1;
      continue;
    }
    if (invalid > 0 || entry.size > maxSize) continue;
    const id = idOf(entry.key);
    const same = picked.get(id);
    if (same !== undefined && same.ageMs <= entry.ageMs) continue;
    total += entry.size - (same?.size ?? 0);
    if (total > maxSize) break; // it would be evicted by those that were used later
    picked.set(id, entry);
  }
  checks.done();
  return picked;
}

/** One entry of a dump; `undefined`: it is invalid, `checks` has the reasons. */
function checkedEntry<K, V>(
  dump: CacheDump<K, V>,
  index: number,
  sinceThen: number,
  {
    idOf,
    sizeOf,
    member,
    checks,
  }: Pick<SizeOptions<K, V>, 'sizeOf' | 'member'> & {
    readonly idOf: (key: K) => KeyId;
    readonly checks: OptionChecks;
  },
): RestoredEntry<K, V> | undefined {
  const path = `dump.entries[${index}]`;
  let isValid = true;
  const check = (holds: boolean, option: string, rule: string, received: unknown): void => {
    checks.that(holds, `${path}.${option}`, rule, received);
    isValid &&= holds;
  };
  const { key, value, age, nextExecuteTime, maxStaleness, tags } = (dump.entries[index] ?? {}) as DumpedEntry<
    K,
    V
  >;
  check(hasId(idOf, key), 'key', 'must be a key of this cache', key);
  const isValue = (value !== undefined || member.allowUndefined) && !isThenable(value);
  check(isValue, 'value', 'must be a value', value);
  check(isNumber(age, 0, Number.MAX_VALUE), 'age', 'must be a finite number of 0 or more', age);
  const isTime = nextExecuteTime === null || isNumber(nextExecuteTime, 0, Infinity);
  check(isTime, 'nextExecuteTime', 'must be epoch milliseconds or null', nextExecuteTime);
  const isLimit = (maxStaleness ?? null) === null || isNumber(maxStaleness, 0, Infinity);
  check(isLimit, 'maxStaleness', 'must be a number of 0 or more, or null', maxStaleness);
  const areTags = tags === undefined || (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'));
  check(areTags, 'tags', 'must be an array of strings', tags);
  let size = 1;
  try {
    size = sizeOfValue(sizeOf, value, key);
  } catch (error) {
    check(false, 'value', `must have a size: ${messageOf(error)}`, value);
  }
  if (!isValid) return undefined;
  return {
    key,
    value,
    size,
    ageMs: age + sinceThen,
    nextExecuteTime: nextExecuteTime ?? Infinity,
    maxStalenessMs: maxStaleness === null ? Infinity : maxStaleness,
    tags,
  };
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
