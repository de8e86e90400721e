import { LOCK } from '../../../../../src/records/names.ts';
import { recordsIn, recordsOf } from '../../../../support/cell-layout.ts';
import type { ServerKind } from '../servers/server.ts';

/** What a command does to a record, or that it looks at it. */
export interface WireStep {
  readonly step: 'acquire' | 'write' | 'release' | 'read';
  readonly record: string;
}

/** A change of a cell, as a command has it. */
interface WireChange {
  readonly name: string;
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
  return CHANGES[kind](command).flatMap(({ name, after, isWhole }): readonly WireStep[] => {
    const looks = after === undefined || isWhole;
    return [
      ...changesIn(name, after),
      ...(looks ? recordsOf(name).map((record) => ({ step: 'read', record }) as const) : []),
    ];
  });
}

/**
 * The steps of a round, by the text after them: that before is a digest in SQL. An extension looks like a request for the lease, and a
 * release after a value that was confirmed like one after a load that has failed.
 */
function changesIn(cell: string, after: string | undefined): WireStep[] {
  const records = [...recordsIn(cell, after)];
  const [lock, held] = records.find(([record]) => record.startsWith(LOCK)) ?? [];
  if (lock === undefined) return [];
  if (held?.phase !== 'held') return [{ step: 'acquire', record: lock }];
  const written = records.filter(([record, { token }]) => record !== lock && token === held.token);
  return [
    ...written.map(([record]) => ({ step: 'write', record }) as const),
    { step: 'release', record: lock },
  ];
}

/** A call of the script for each key: `swap` or `look`, whether it is whole, and what else it takes. */
function changesInRedis(command: string): readonly WireChange[] {
  const calls = [...command.matchAll(/ \d+ (swap|look) ([01]) /g)];
  const [first] = calls;
  const names = [...command.slice(0, first?.index).matchAll(/tickless:(\S+)/g)].map(([, name = '']) => name);
  return calls.map(({ 1: call, 2: whole, index }, i) => {
    const name = names[i] ?? '';
    const after = textsOf(name, command.slice(index, calls[i + 1]?.index)).at(-1);
    return { name, isWhole: whole === '1', ...(call === 'swap' && { after }) };
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

/** One parameter has all changes; the texts after them are in the next one. */
function changesInPostgres(command: string): readonly WireChange[] {
  const from = command.indexOf('[{"i":0,');
  if (from < 0) return [];
  let at = endOfJson(command, from);
  const given = JSON.parse(command.slice(from, at)) as readonly (Pick<WireChange, 'name'> & {
    readonly whole: boolean;
    readonly look: boolean;
    readonly gone?: boolean;
  })[];
  return given.map(({ name, whole: isWhole, look, gone }) => {
    if (look || gone === true) return { name, isWhole };
    const begin = command.indexOf('{"', at);
    at = endOfJson(command, begin);
    return { name, isWhole, after: command.slice(begin, at) };
  });
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
    return { name, isWhole: row.get('whole') === '1', after: swaps.get(name)?.get('after') };
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
