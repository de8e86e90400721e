import { optionError } from '../option-error.ts';
import { ignoreThenable } from '../time/deferred.ts';
import type { KeyId } from './keyed-entry.ts';
import type { ResolvedCacheOptions } from './resolve-cache-options.ts';

/** The types of what `keyOf` may return. */
const IDS: readonly string[] = ['string', 'number', 'bigint', 'boolean'];

/** @returns the identity of a key. Throws `OPTION` when the key is `undefined`, or has none. */
export function keyIdentity<K, V>({
  idOf,
  keepsKeys,
  member,
}: Pick<ResolvedCacheOptions<K, V>, 'idOf' | 'keepsKeys' | 'member'>): (key: K) => KeyId {
  return (key) => {
    const id: unknown = key === undefined ? undefined : idOf(key);
    const isId = keepsKeys ? IDS.includes(typeof id) : id !== undefined && !isObject(id);
    if (isId) return id as KeyId;
    const [option, rule, received] =
      key === undefined
        ? ['key', 'must not be undefined', key]
        : keepsKeys
          ? ['keyOf', 'must return a string, a number, a bigint or a boolean', ignoreThenable(id)]
          : ['keyOf', 'must be given for keys that are objects: two equal ones are never the same', key];
    throw optionError([{ option, rule, received }], { member: member.name });
  };
}

function isObject(key: unknown): boolean {
  return typeof key === 'function' || (typeof key === 'object' && key !== null);
}
