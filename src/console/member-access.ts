import type { GroupMember, RefreshGroup, RefreshingCache } from '../index.ts';

import { shownText } from './redact.ts';
import { keyText, shortId } from './short-id.ts';

/** The member that an id of the API names; `undefined`: there is none, or two have the same. */
export function memberOf(group: RefreshGroup, id: unknown): GroupMember | undefined {
  const [found, second] = group.members().filter(({ name }) => shortId(name) === id);
  return second === undefined ? found : undefined;
}

/** A key of a cache as operators see it. */
export interface ShownKey {
  /** Names it in the API. */
  readonly id: string;
  /** At most 200 characters of it. */
  readonly text: string;
}

export function shownKey(key: unknown): ShownKey {
  const text = keyText(key);
  return { id: shortId(text), text: shownText(text, 200) };
}

/** The key that an id names: one that the cache holds, or a text, a number, true or false. Empty: none, or two. */
export function keyOf(cache: RefreshingCache<unknown, unknown>, id: unknown): readonly [key?: unknown] {
  if (typeof id !== 'string') return [];
  const plain = parsed(id);
  if (plain !== undefined) return [plain];
  const [found, second] = [...cache.keys()].filter((key) => shortId(keyText(key)) === id);
  return found === undefined || second !== undefined ? [] : [found];
}

/** Finds at most this many keys. */
const MOST_KEYS = 100;

/** The keys that contain a text, the ones that were used last first; of all that the cache holds. */
export function searchKeys(
  cache: RefreshingCache<unknown, unknown>,
  search: string,
): { readonly keys: readonly unknown[]; readonly matching: number } {
  const wanted = search.toLowerCase();
  const all = [...cache.keys()].reverse();
  const matching = wanted === '' ? all : all.filter((key) => keyText(key).toLowerCase().includes(wanted));
  return { keys: matching.slice(0, MOST_KEYS), matching: matching.length };
}

function parsed(text: string): string | number | boolean | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' || value === undefined ? undefined : (value as string);
  } catch {
    return undefined;
  }
}
