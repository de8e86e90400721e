import type { GroupMember, RefreshGroup } from '../index.ts';

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
