import type { Detail } from '../console/detail.ts';
import { keyText } from '../console/member-access.ts';
import type { Overview } from '../console/overview.ts';
import type { MemberRow } from '../console/rows.ts';
import { printable } from '../printable.ts';
import { type ConsoleClient, ConsoleError } from './client.ts';
import { nearest } from './nearest.ts';

/** The member, or the key of a cache, that a command is about. */
export interface Target {
  /** Names it in the API. */
  readonly ids: { readonly id: string; readonly key?: string };
  /** For people: `prices`, `cities["1012"]`. */
  readonly label: string;
  readonly detail: Detail;
  /** Of the member; of a key none. */
  readonly problems: MemberRow['problems'];
  /** The instance that answers; `undefined`: instances are not known. */
  readonly here: string | undefined;
  /** The number of instances that have it; `undefined`: not known. */
  readonly instances: number | undefined;
  /** The other instances on which a value was refused. */
  readonly refusedOn: readonly string[];
}

/** Finds it by its name as the console shows it. Rejects with {@link ConsoleError} where there is none. */
export async function targetOf(client: ConsoleClient, name: string, key?: string): Promise<Target> {
  const { members, instances } = await client.get<Overview>('overview');
  const row = members.find((one) => one.name === name);
  if (row === undefined) throw new ConsoleError(unknownName(name, members));
  const { id } = row;
  const isOfCache = row.kind === 'cache' && key !== undefined;
  if (key !== undefined && !isOfCache) throw new ConsoleError(notOneName(name, key, row.kind, members));
  const detail = isOfCache
    ? await keyDetail(client, id, name, key)
    : await client.get<Detail>('member', { id });
  const labels = new Map(instances.map(({ id: of, label }) => [of, printable(label, 80)]));
  const own = instances.find(({ isHere }) => isHere)?.id;
  const refused = row.cells.filter(({ on, refused }) => refused !== undefined && on !== own);
  const shownKey = detail.key === undefined ? '' : `[${printable(detail.key.text, 200)}]`;
  return {
    ids: { id, ...(detail.key === undefined ? {} : { key: detail.key.id }) },
    label: `${printable(name, 200)}${shownKey}`,
    detail,
    problems: detail.key === undefined ? row.problems : [],
    here: own === undefined ? undefined : labels.get(own),
    instances: row.fleet?.of,
    refusedOn: refused.map(({ on }) => labels.get(on) ?? on),
  };
}

function unknownName(name: string, members: Overview['members']): string {
  const near = nearest(
    name,
    members.map((one) => one.name),
  );
  const hint =
    near.length > 0
      ? `did you mean ${near.map(quoted).join(' or ')}?`
      : 'npx tickless status --all lists them';
  return `there is no member ${printable(name, 200)}\n${hint}`;
}

/** A name of several words without quotes is a name and a key. */
function notOneName(name: string, key: string, kind: string, members: Overview['members']): string {
  const joined = `${name} ${key}`;
  const hint = members.some((one) => one.name === joined) ? `\ndid you mean ${quoted(joined)}?` : '';
  return `${printable(name, 200)} has no keys: it is not a cache but ${kind === 'value' ? 'a value' : 'an executor'}${hint}`;
}

/** As a shell takes it. */
function quoted(name: string): string {
  const shown = printable(name, 200);
  return /^[\w./:@-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}

/** Of a key that is typed as a text, or as the console shows it: `1012`, `"1012"`, `{"zone":7}`. */
async function keyDetail(client: ConsoleClient, id: string, name: string, typed: string): Promise<Detail> {
  const found: Detail[] = [];
  for (const key of keyIds(typed)) {
    const detail = await client.get<Detail>('member', { id, key }).catch((error: unknown) => {
      if (error instanceof ConsoleError && error.code === 'not-found') return undefined;
      throw error;
    });
    if (detail !== undefined) found.push(detail);
  }
  const held = found.filter(({ here }) => here.state !== 'empty');
  const [only, second] = held.length > 0 ? held : found;
  const shown = printable(typed, 200);
  if (only === undefined) {
    throw new ConsoleError(
      `${printable(name, 200)} has no key ${shown} here, nor keys of its type\nA key is typed as a text, or as the console shows it: 1012, '"1012"', '{"zone":7}'`,
    );
  }
  if (second === undefined) return only;
  const choices = [only, second].map((one) => quoted(one.key?.text ?? '')).join(' or ');
  throw new ConsoleError(`${shown} could be two keys: the text has quotes of its own (${choices})`);
}

/** The ids of the API that a person may have meant. */
function keyIds(typed: string): readonly string[] {
  return isJsonText(typed) ? [typed] : [keyText(typed), typed];
}

function isJsonText(typed: string): boolean {
  try {
    return typeof JSON.parse(typed) === 'string';
  } catch {
    return false;
  }
}
