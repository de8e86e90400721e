import type { RefreshingCache } from '../index.ts';
import { keyText, shortId } from './short-id.ts';

type Cache = Pick<RefreshingCache<unknown, unknown>, 'keys' | 'size'>;

/** Finds at most this many keys. */
const MOST_KEYS = 100;

/** Looks at no more keys than this: those that were used last. */
const MOST_LOOKED_AT = 100_000;

/** Looks at this many keys at a time: a few milliseconds. Reads of the service go on in between. */
const SLICE = 2000;

/** Copies the keys of a cache at most this much of the time: of a million keys it takes a while. */
const COPY_SHARE = 0.1;

/** Types of keys are those of the keys that were used last. */
const MOST_TYPES = 100;

/** The keys that contain a text, the ones that were used last first. */
export interface FoundKeys {
  readonly keys: readonly unknown[];
  readonly matching: number;
  /** How many keys were looked at: less than `size` where the cache is large. */
  readonly looked: number;
}

/** Looks for keys of caches: one search after the other, in slices, with a bound. Holds no timer between searches. */
export class KeySearch {
  #last: Promise<unknown> = Promise.resolve();
  readonly #copies: WeakMap<Cache, Promise<readonly unknown[]>> = new WeakMap();
  readonly #types: WeakMap<Cache, ReadonlySet<string>> = new WeakMap();
  /** By the monotonic clock. */
  #nextCopyAt = 0;

  async search(cache: Cache, text: string): Promise<FoundKeys> {
    const wanted = text.toLowerCase();
    if (wanted === '') {
      const all = await this.#keys(cache);
      return { keys: all.slice(-MOST_KEYS).reverse(), matching: all.length, looked: all.length };
    }
    const keys: unknown[] = [];
    let matching = 0;
    const looked = await this.#each(cache, (key) => {
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
  async find(cache: Cache, id: unknown): Promise<readonly [key?: unknown]> {
    if (typeof id !== 'string') return [];
    const plain = parsed(id);
    if (plain !== undefined && (await this.#typesOf(cache)).has(typeof plain)) return [plain];
    const found: unknown[] = [];
    await this.#each(cache, (key) => {
      if (shortId(keyText(key)) === id) found.push(key);
    });
    return found.length === 1 ? [found[0]] : [];
  }

  /** Those that were seen first: the keys of a cache keep their types. */
  async #typesOf(cache: Cache): Promise<ReadonlySet<string>> {
    const known = this.#types.get(cache);
    if (known !== undefined) return known;
    const types = new Set((await this.#keys(cache)).slice(-MOST_TYPES).map((key) => typeof key));
    if (types.size > 0) this.#types.set(cache, types);
    return types;
  }

  /** After the searches before. @returns how many keys were looked at. */
  #each(cache: Cache, look: (key: unknown) => void): Promise<number> {
    const walk = async (): Promise<number> => {
      const all = await this.#keys(cache);
      const least = Math.max(0, all.length - MOST_LOOKED_AT);
      for (let at = all.length - 1; at >= least; at--) {
        look(all[at]);
        if (at % SLICE === 0) await pause(0);
      }
      return all.length - least;
    };
    const walked = this.#last.then(walk);
    this.#last = walked.catch(() => {});
    return walked;
  }

  /** The least recently used first. Searches that wait for a copy share it. */
  #keys(cache: Cache): Promise<readonly unknown[]> {
    const copying = this.#copies.get(cache);
    if (copying !== undefined) return copying;
    const copy = this.#copy(cache).finally(() => this.#copies.delete(cache));
    this.#copies.set(cache, copy);
    return copy;
  }

  async #copy(cache: Cache): Promise<readonly unknown[]> {
    for (let wait = this.#wait(); wait > 0; wait = this.#wait()) await pause(wait);
    const begun = performance.now();
    const all = [...cache.keys()];
    const ended = performance.now();
    this.#nextCopyAt = ended + (ended - begun) / COPY_SHARE;
    return all;
  }

  #wait(): number {
    return this.#nextCopyAt - performance.now();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function parsed(text: string): string | number | boolean | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' || value === undefined ? undefined : (value as string);
  } catch {
    return undefined;
  }
}
