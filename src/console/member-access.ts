import { lockName } from '../errors.ts';
import type { GroupMember, RefreshGroup } from '../index.ts';
import { asItIs, type Redact, shownText, withoutCredentials } from './redact.ts';

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

/** In characters: longer ones would not fit into a URL. */
const LONGEST = 200;

/** The id of a member or a key in the API: the text itself, or its hash where it is long, or looks like a credential. */
export function shortId(text: string, redact: Redact): string {
  const isShown = text.length <= LONGEST && redact(withoutCredentials(text)) === text;
  return isShown ? text : hashed(text);
}

/** Whether {@link shortId} has made the id of this text, whatever is hidden. */
export function isIdOf(id: string, text: string): boolean {
  return id === text || id === hashed(text);
}

export function isHashed(id: string): boolean {
  return /^#[0-9a-f]{16}\d{1,10}$/.test(id);
}

/** A key of a cache as text: strings in quotes, others as JSON or as they are written. Well-formed, whatever the key is. */
export function keyText(key: unknown): string {
  return lockName('', key).slice(1, -1);
}

function hashed(text: string): string {
  return `#${hash(text)}${text.length}`;
}

/** The 64 bits of two FNV-1a hashes. It protects nothing: a request for two texts of one hash is refused. */
function hash(text: string): string {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x01000193);
    other = Math.imul(other ^ text.charCodeAt(at), 0x85ebca6b);
  }
  return [one, other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
