import { messageOf } from '../observe/logger.ts';
import { isNumber } from '../option-checks.ts';
import { optionError } from '../option-error.ts';
import { ignoreThenable } from '../time/deferred.ts';
import type { KeyId } from './keyed-entry.ts';
import type { ResolvedCacheOptions } from './resolve-cache-options.ts';

/** The size of a value. Throws when `sizeOf` does, or returns what is not a size. */
function sizeOfValue<K, V>(sizeOf: ResolvedCacheOptions<K, V>['sizeOf'], value: V, key: K): number {
  if (sizeOf === undefined) return 1;
  const size = ignoreThenable(sizeOf(value, key));
  if (!isNumber(size, 0, Number.MAX_SAFE_INTEGER)) {
    throw new TypeError(`sizeOf must return a finite number of 0 or more, returned ${String(size)}`);
  }
  return Math.max(1, Math.ceil(size));
}

/** The options that the size of a value depends on. */
export type SizeOptions<K, V> = Pick<ResolvedCacheOptions<K, V>, 'member' | 'sizeOf' | 'bound'>;

/** As {@link sizeOfValue}, of a value that is to be kept. Throws also when it is larger than `maxSize`. */
export function sizeToKeep<K, V>({ sizeOf, bound }: SizeOptions<K, V>, value: V, key: K): number {
  const size = sizeOfValue(sizeOf, value, key);
  if (Object.hasOwn(bound, 'maxSize') && size > (bound.maxSize ?? Infinity)) {
    throw new RangeError(`the value has the size ${size}, maxSize is ${bound.maxSize}`);
  }
  return size;
}

/**
 * As {@link sizeToKeep}, for a value that was given to a method.
 *
 * @throws {TicklessError} `OPTION` naming the key.
 */
export function sizeArgument<K, V>(options: SizeOptions<K, V>, value: V, key: K): number {
  try {
    return sizeToKeep(options, value, key);
  } catch (cause) {
    const problem = {
      option: 'value',
      rule: `must have a size up to maxSize: ${messageOf(cause)}`,
      received: value,
    };
    throw optionError([problem], { member: options.member.name, key, cause });
  }
}

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
