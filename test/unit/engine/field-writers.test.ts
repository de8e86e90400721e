import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

// Each field of an entry has one writer: the file that is named at the field, beside the methods of the entry itself.

const ENTRY = 'src/engine/entry.ts';
/** Makes an entry of what it was, before anyone else has it. */
const MAKER = 'src/cache/slot-columns.ts';
/** Names under which src has an entry. */
const SUBJECT = String.raw`\b(?:entry|#entry|oldest|first|one)`;
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /[.]tsx?$/.test(file))
  .map((file) => join('src', file));
const sourceOf = (file: string): string =>
  readFileSync(file, 'utf8').replaceAll(/^ *(?:\/\/|\/?\*).*$/gm, '');
const sources = new Map(files.map((file) => [file.replaceAll('\\', '/'), sourceOf(file)]));

/** The fields of the class, and the writer that is named at each. */
function writers(): Map<string, string> {
  const text = readFileSync(ENTRY, 'utf8');
  const body = text.slice(text.indexOf('export class Entry'), text.indexOf('constructor('));
  const found = body.matchAll(/(?:@writer ([\w.-]+)[^/]*\*\/\n)? {2}(readonly )?(\w+): [^;]*;/g);
  return new Map(
    [...found].flatMap(([, writer, isReadonly, field]) =>
      isReadonly ? [] : [[field as string, writer ?? 'none']],
    ),
  );
}

/** The files that assign the field of an entry: `entry.a = entry.b = 1`, `+=`, `??=`, `++`. */
function assigning(field: string): string[] {
  const assignment = new RegExp(`${SUBJECT}[.]${field} *(?:=(?![=>])|[-+*/|&?]{1,2}=|[+]{2}|--)`);
  return [...sources].flatMap(([file, text]) => (assignment.test(text) ? [file] : []));
}

describe('the fields of an entry', () => {
  it('are all known', () => {
    expect(writers().size).toBeGreaterThan(20);
    expect([...writers()].filter(([, writer]) => writer === 'none')).toEqual([]);
    for (const field of ['dueAt', 'value', 'flight', 'coolDownUntil'])
      expect(writers().has(field)).toBe(true);
  });

  it('stand in the architecture', () => {
    const text = readFileSync('docs/ARCHITECTURE.md', 'utf8');
    const begin = text.indexOf('## The fields of an entry');
    const rows = text.slice(begin, text.indexOf('\n## ', begin + 1)).split('\n');
    for (const [field, writer] of writers()) {
      const row = rows.filter((line) => line.split('|')[1]?.includes(`\`${field}\``));
      expect(row, field).toHaveLength(1);
      expect(row[0], field).toContain(`/${writer}`);
    }
  });

  it.each([...writers()])('%s is written by %s alone', (field, writer) => {
    const others = assigning(field).filter((file) => file !== ENTRY && file !== MAKER);
    expect(others.filter((file) => basename(file) !== writer)).toEqual([]);
    if (!['entry.ts', 'keyed-entry.ts'].includes(writer)) expect(others).toHaveLength(1);
  });

  it.each(['setDue', 'setDueNow', 'addFailure', 'clearFailures'])(
    '%s is called by timing.ts alone',
    (method) => {
      const calling = [...sources].filter(([, text]) => new RegExp(`${SUBJECT}[.]${method}[(]`).test(text));
      const names = calling.map(([file]) => file).filter((file) => file !== MAKER);
      expect(names).toEqual(['src/engine/timing.ts']);
    },
  );

  it('have no other names in src', () => {
    // A variable of that type with another name would not be looked at.
    const declared = [...sources].flatMap(([file, text]) =>
      [...text.matchAll(/(\w+)\??: (?:Keyed)?Entry<[^>]*>(?!\[)/g)].map(([, name]) => `${file}: ${name}`),
    );
    const known = /: (?:entry|oldest|first|one|_entry|_)$/;
    expect(declared.filter((name) => !known.test(name))).toEqual([]);
  });
});
