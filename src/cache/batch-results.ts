import { absent, type KeyedLoadReturn } from '../engine/load-result.ts';
import { showKey } from '../errors.ts';
import { isPlainObject } from '../plain-object.ts';
import type { KeyId } from './keyed-entry.ts';

/**
 * For each of the keys its value, `loaded()`, `keep()`, `absent()`, or the `Error` that it failed with: a `Map`, or a
 * plain object by key where the keys, or the results of `keyOf` for them, are strings or numbers.
 */
export type ManyAnswers<K, V> =
  | ReadonlyMap<K, KeyedLoadReturn<V> | Error>
  | { readonly [key: string]: KeyedLoadReturn<V> | Error };

/** The results of one call of `loadMany`, by the identities of keys. */
export class BatchResults<V> {
  /** The keys that were returned without a request. */
  readonly unrequested: readonly unknown[];
  readonly #byId: Map<KeyId, KeyedLoadReturn<V> | Error>;

  /**
   * @param requested the identities of the keys.
   * @throws {TypeError} when it is neither a `Map` nor a plain object.
   */
  constructor(answers: ManyAnswers<never, V>, requested: readonly KeyId[], idOf: (key: never) => KeyId) {
    const ids = new Set(requested);
    const byId = new Map<KeyId, KeyedLoadReturn<V> | Error>();
    const unrequested: unknown[] = [];
    for (const [key, id, answer] of entriesOf(answers, requested, idOf)) {
      if (id !== undefined && ids.has(id)) byId.set(id, answer);
      else unrequested.push(key);
    }
    this.unrequested = unrequested;
    this.#byId = byId;
  }

  /** The result for a requested key. An `Error`: its load has failed. */
  of(id: KeyId): KeyedLoadReturn<V> | Error {
    if (this.#byId.has(id)) return this.#byId.get(id) as KeyedLoadReturn<V> | Error;
    const [stray] = this.unrequested;
    if (stray !== undefined) {
      const returned = `${showKey(stray)}, which was not requested`;
      return new TypeError(`loadMany left it out, and returned ${returned}: another type of key?`);
    }
    return absent();
  }
}

/** The entries of a result, each with the identity of its key; `undefined`: it has none. */
function* entriesOf<V>(
  answers: ManyAnswers<never, V>,
  requested: readonly KeyId[],
  idOf: (key: never) => KeyId,
): Generator<readonly [unknown, KeyId | undefined, KeyedLoadReturn<V> | Error]> {
  if (Object.prototype.toString.call(answers) === '[object Map]') {
    const map = answers as ReadonlyMap<never, KeyedLoadReturn<V> | Error>;
    for (const [key, answer] of map) yield [key, idOrNone(idOf, key), answer];
    return;
  }
  if (!isPlainObject(answers)) {
    throw new TypeError(`loadMany must return a Map or a plain object by key, returned ${showKey(answers)}`);
  }
  const texts = requested.filter((id) => ['string', 'number', 'bigint'].includes(typeof id));
  const byText = new Map<string, KeyId[]>();
  for (const id of texts) byText.set(`${id}`, [...(byText.get(`${id}`) ?? []), id]);
  for (const [key, answer] of Object.entries(answers)) {
    const ids = byText.get(key) ?? [undefined];
    const result = ids.length > 1 ? ambiguous(key) : (answer as KeyedLoadReturn<V> | Error);
    for (const id of ids) yield [key, id, result];
  }
}

function ambiguous(key: string): TypeError {
  return new TypeError(`loadMany returned an object, in which ${key} may be another key too: return a Map`);
}

/** The identity of a key that the source returned; `keyOf` may throw for it. */
function idOrNone(idOf: (key: never) => KeyId, key: never): KeyId | undefined {
  try {
    return idOf(key);
  } catch {
    return undefined;
  }
}
