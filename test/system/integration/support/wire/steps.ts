import { recordsIn, recordsOf } from '../../../../support/cell-layout.ts';
import { type Effect, effectsOf } from '../../../../support/record-effects.ts';
import type { ServerKind } from '../servers/server.ts';

/** What a command does to a record, or that it looks at it. */
export interface WireStep {
  readonly step: Effect['step'] | 'read';
  readonly record: string;
}

/** A change of a cell, as a command has it. */
interface WireChange {
  readonly name: string;
  readonly before?: string | undefined;
  /** `undefined`: a look. */
  readonly after?: string | undefined;
  /** Its answer has the main text. */
  readonly isWhole: boolean;
}

const CHANGES: Readonly<Record<ServerKind, (command: string) => readonly WireChange[]>> = {
  redis: changesInRedis,
  postgres: changesInPostgres,
  mariadb: changesInMariadb,
};

/** The steps of a command. A swap that asks for the main text too is a look as well. @param command as `FaultProxy` shows it. */
export function stepsIn(kind: ServerKind, command: string): readonly WireStep[] {
  return CHANGES[kind](command).flatMap(({ name, before, after, isWhole }): readonly WireStep[] => {
    const effects = after === undefined ? [] : effectsOf(name, before, after);
    const looks = after === undefined || isWhole;
    return [
      ...effects,
      ...(looks ? recordsOf(name).map((record) => ({ step: 'read', record }) as const) : []),
    ];
  });
}

/** A call of the script for each key: `swap` or `look`, whether it is whole, and what else it takes. */
function changesInRedis(command: string): readonly WireChange[] {
  const calls = [...command.matchAll(/ \d+ (swap|look) ([01]) /g)];
  const [first] = calls;
  const names = [...command.slice(0, first?.index).matchAll(/tickless:(\S+)/g)].map(([, name = '']) => name);
  return calls.map(({ 1: call, 2: whole, index }, i) => {
    const name = names[i] ?? '';
    const texts = textsOf(name, command.slice(index, calls[i + 1]?.index));
    const [before, after] = texts.length > 1 ? texts : [undefined, texts[0]];
    return { name, isWhole: whole === '1', ...(call === 'swap' && { before, after }) };
  });
}

/** The texts of a cell among the words of a call. */
function textsOf(name: string, words: string): string[] {
  const texts: string[] = [];
  for (let at = words.indexOf('{'); at >= 0; at = words.indexOf('{', at)) {
    const end = endOfJson(words, at);
    const text = words.slice(at, end);
    if ([...recordsIn(name, text).values()].some(({ token }) => Number.isFinite(token))) texts.push(text);
    at = end;
  }
  return texts;
}

/** Where the object or the array ends that begins there. */
function endOfJson(text: string, from: number): number {
  let depth = 0;
  let isString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at] as string;
    if (isString && character === '\\') at += 1;
    else if (character === '"') isString = !isString;
    else if (!isString && '{['.includes(character)) depth += 1;
    else if (!isString && '}]'.includes(character)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** One parameter has all changes. */
function changesInPostgres(command: string): readonly WireChange[] {
  const from = command.indexOf('[{"i":0,');
  if (from < 0) return [];
  const given = JSON.parse(command.slice(from, endOfJson(command, from))) as readonly (Pick<
    WireChange,
    'name' | 'before' | 'after'
  > & { readonly whole: boolean })[];
  return given.map(({ name, before, after, whole }) => ({ name, before, after, isWhole: whole }));
}

const COLUMN =
  /(?:_utf8mb4 X'(?<digits>[0-9a-f]*)'|FROM_BASE64\('(?<base64>[^']*)'\)|(?<plain>[\w.]+|X''))[^,]*? AS g_(?<column>\w+)/g;

/** Tables of literals: rows of swaps, then one for each change with the number `i`, by which the present texts are read. */
function changesInMariadb(command: string): readonly WireChange[] {
  const rows = command.split('SELECT ').map(columnsOf);
  const swaps = new Map(rows.filter((row) => row.has('keep')).map((row) => [row.get('name'), row]));
  const changes = rows.filter((row) => row.has('i'));
  return changes.map((row) => {
    const name = row.get('name') ?? '';
    const swap = swaps.get(name);
    const isWhole = row.get('whole') === '1';
    return { name, isWhole, before: swap?.get('before'), after: swap?.get('after') };
  });
}

function columnsOf(row: string): ReadonlyMap<string, string> {
  return new Map(
    [...row.matchAll(COLUMN)].map(({ groups = {} }) => {
      const { digits, base64, plain = '', column = '' } = groups;
      const [text, encoding] = digits === undefined ? [base64, 'base64' as const] : [digits, 'hex' as const];
      return [column, text === undefined ? plain : Buffer.from(text, encoding).toString()];
    }),
  );
}
