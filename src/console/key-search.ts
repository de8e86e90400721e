import { isIdOf, keyText } from './member-access.ts';
import type { TurnsOfOperators } from './turns-of-operators.ts';
import { nextTurn } from './watch-time.ts';

/** The part of a cache that is used here. */
interface Cache {
  readonly size: number;
  keys(options: { readonly recentFirst: true }): Iterable<unknown>;
}

/** Finds at most this many keys. */
const MOST_KEYS = 100;

/** Looks at no more keys than this: those that were used last. */
const MOST_LOOKED_AT = 100_000;

/** Looks at this many keys at a time: a few milliseconds. Reads of the service go on in between. */
const SLICE = 2000;

/** Walks over the keys at most this often: keys that are used or deleted meanwhile lead it back, or end it. */
const MOST_WALKS = 3;

/** Types of keys are those of the keys that were used last. */
const MOST_TYPES = 100;

/** The keys that contain a text, the ones that were used last first. */
export interface FoundKeys {
  readonly keys: readonly unknown[];
  readonly matching: number;
  /** How many keys were looked at: less than `size` where the cache is large. */
  readonly looked: number;
}

/** Looks for keys of caches: one search after the other, in slices, with a bound. Holds no timer between searches. Rejects with `TooMany`. */
export class KeySearch {
  readonly #turns: TurnsOfOperators;
  readonly #types: WeakMap<Cache, ReadonlySet<string>> = new WeakMap();

  constructor(turns: TurnsOfOperators) {
    this.#turns = turns;
  }

  /** @param by the id of the operator. */
  async search(cache: Cache, text: string, by: string): Promise<FoundKeys> {
    const wanted = text.toLowerCase();
    if (wanted === '') return { keys: recent(cache, MOST_KEYS), matching: cache.size, looked: cache.size };
    const keys: unknown[] = [];
    let matching = 0;
    const looked = await this.#each(cache, by, (key) => {
      if (!keyText(key).toLowerCase().includes(wanted)) return;
      matching += 1;
      if (keys.length < MOST_KEYS) keys.push(key);
    });
    return { keys, matching, looked };
  }

  /**
   * The key that an id names: one that the cache holds, or a text, a number, true or false, where it holds keys of that type.
   * Empty: none, or two.
   */
  async find(cache: Cache, id: unknown, by: string): Promise<readonly [key?: unknown]> {
    if (typeof id !== 'string') return [];
    const plain = parsed(id);
    if (plain !== undefined && this.#typesOf(cache).has(typeof plain)) return [plain];
    const found: unknown[] = [];
    await this.#each(cache, by, (key) => {
      if (isIdOf(id, keyText(key))) found.push(key);
    });
    return found.length === 1 ? [found[0]] : [];
  }

  /** Those that were seen first: the keys of a cache keep their types. */
  #typesOf(cache: Cache): ReadonlySet<string> {
    const known = this.#types.get(cache);
    if (known !== undefined) return known;
    const types = new Set(recent(cache, MOST_TYPES).map((key) => typeof key));
    if (types.size > 0) this.#types.set(cache, types);
    return types;
  }

  /** After the work before. Looks at each key once. @returns how many there were. */
  #each(cache: Cache, by: string, look: (key: unknown) => void): Promise<number> {
    return this.#turns.run(by, () => walk(cache, look));
  }
}

async function walk(cache: Cache, look: (key: unknown) => void): Promise<number> {
  const seen = new Set<unknown>();
  let steps = 0;
  for (let walks = 0; walks < MOST_WALKS && seen.size < cache.size; walks++) {
    for (const key of cache.keys({ recentFirst: true })) {
      if (seen.size >= MOST_LOOKED_AT || steps >= MOST_WALKS * MOST_LOOKED_AT) return seen.size;
      steps += 1;
      if (steps % SLICE === 0) await nextTurn();
      if (seen.has(key)) continue;
      seen.add(key);
      look(key);
    }
  }
  return seen.size;
}

/** Those that were used last. */
function recent(cache: Cache, most: number): readonly unknown[] {
  const keys = new Set<unknown>();
  for (const key of cache.keys({ recentFirst: true })) {
    if (keys.size >= most) break;
    keys.add(key);
  }
  return [...keys];
}

function parsed(text: string): string | number | boolean | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' || value === undefined ? undefined : (value as string);
  } catch {
    return undefined;
  }
}
