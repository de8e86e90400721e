import type { GroupMember, RefreshGroup } from '../index.ts';
import { asItIs, type Redact, shownText } from './redact.ts';
import { keyText, shortId } from './short-id.ts';

const ids: WeakMap<GroupMember, string> = new WeakMap();

/** The id of a member in the API: it is looked for among all, with each request. */
export function memberId(member: GroupMember): string {
  const known = ids.get(member);
  if (known !== undefined) return known;
  const id = shortId(member.name, asItIs);
  ids.set(member, id);
  return id;
}

/** The member that an id of the API names; `undefined`: there is none, or two have the same. */
export function memberOf(group: RefreshGroup, id: unknown): GroupMember | undefined {
  const [found, second] = group.members().filter((member) => memberId(member) === id);
  return second === undefined ? found : undefined;
}

/** A key of a cache as operators see it. */
export interface ShownKey {
  /** Names it in the API. */
  readonly id: string;
  /** At most 200 characters of it. */
  readonly text: string;
}

export function shownKey(key: unknown, redact: Redact): ShownKey {
  const text = keyText(key);
  return { id: shortId(text, redact), text: shownText(text, 200, redact) };
}
