import type { MemberEngine } from '../engine/member-engine.ts';
import { putRestored, type RestoredValue } from '../engine/restored-value.ts';
import { messageOf } from '../observe/logger.ts';
import { DumpReader, type RestoreReport } from '../value/dump.ts';
import type { CacheDump, DumpedEntry } from './dump.ts';
import type { KeyedEntries } from './keyed-entries.ts';
import type { KeyId } from './keyed-entry.ts';
import { type SizeOptions, sizeOfValue } from './value-size.ts';

/** An entry of a dump, checked, with its age now. */
interface RestoredEntry<K, V> extends RestoredValue<V> {
  readonly key: K;
  readonly size: number;
  readonly tags: readonly string[] | undefined;
}

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
  engine: MemberEngine<V>,
  options: SizeOptions<K, V>,
): RestoreReport {
  const { idOf, table } = entries;
  const picked = [...entriesToRestore(dump, idOf, options).values()].reverse();
  const taken = picked.filter((restored) =>
    entries.use(restored.key, (entry) => {
      const describe = (): void => entry.describe(restored.size, restored.tags);
      const isTaken = putRestored(engine, entry, restored, describe);
      if (isTaken) table.place(entry); // also while it is being loaded
      return isTaken;
    }),
  );
  const held = taken.filter(({ key }) => table.find(idOf(key)) !== undefined).length;
  return { restored: held, dropped: dump.entries.length - held };
}

/** The entries that fit, by the identity of their keys, the one used last first. */
function entriesToRestore<K, V>(
  dump: CacheDump<K, V>,
  idOf: (key: K) => KeyId,
  { member, sizeOf, bound }: SizeOptions<K, V>,
): Map<KeyId, RestoredEntry<K, V>> {
  const { max = Infinity, maxSize = Infinity } = bound;
  const reader = new DumpReader(dump, member);
  const picked = new Map<KeyId, RestoredEntry<K, V>>();
  let total = 0;
  let invalid = 0;
  for (let index = dump.entries.length - 1; index >= 0; index--) {
    if (picked.size >= max || invalid >= MOST_INVALID) break;
    if (reader.isTooOld(index)) continue;
    const entry = readEntry(reader, index, { idOf, sizeOf });
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
  reader.checks.done();
  return picked;
}

/** One entry of a dump; `undefined`: it is invalid, the checks of the reader have the reasons. */
function readEntry<K, V>(
  reader: DumpReader<DumpedEntry<K, V>>,
  index: number,
  { idOf, sizeOf }: Pick<SizeOptions<K, V>, 'sizeOf'> & { readonly idOf: (key: K) => KeyId },
): RestoredEntry<K, V> | undefined {
  let size = 1;
  let given: Partial<DumpedEntry<K, V>> = {};
  const restored = reader.read<V>(index, (entry, check) => {
    given = entry;
    const { key, value, tags } = entry;
    check(hasId(idOf, key as K), 'key', 'must be a key of this cache', key);
    const areTags =
      tags === undefined || (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'));
    check(areTags, 'tags', 'must be an array of strings', tags);
    try {
      size = sizeOfValue(sizeOf, value as V, key as K);
    } catch (error) {
      check(false, 'value', `must have a size: ${messageOf(error)}`, value);
    }
  });
  return restored && { ...restored, key: given.key as K, size, tags: given.tags };
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
