import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

interface Habit {
  readonly line: number;
  readonly found: string;
  readonly advice: string;
}

const module = new URL('../../../scripts/check-prose.mjs', import.meta.url);
const { habitsIn } = (await import(module.href)) as {
  readonly habitsIn: (text: string, isMarkdown: boolean) => Habit[];
};

const foundIn = (text: string, isMarkdown = true): string[] =>
  habitsIn(text, isMarkdown).map(({ line, found }) => `${line}: ${found}`);

const folder = mkdtempSync(join(tmpdir(), 'prose-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['Who comes during the cool-down gets an error.', 'Who'],
  ['What is invalidated is seen at once.', 'What'],
  ['Two ways; what follows is the first.', '; what follows'],
  ['That which is due starts.', 'That which'],
  ['The holder keeps his lease.', 'his'],
  ['The logger is told.', 'told'],
  ['It was said above.', 'said'],
  ['The load brings a value.', 'brings'],
  ['It decides what becomes of a read.', 'becomes of'],
  ['At most so many keys.', 'so many'],
  ['It waits so long.', 'so long'],
  ['Nobody waits.', 'Nobody'],
  ['An option that there is not.', 'that there is not'],
  ['That is no error.', 'is no error'],
  ['Step 1. Is it before that, the value is returned.', 'Is it before that, the value is returned.'],
  ["The engine's clock decides.", "engine's clock"],
  ['A value is pushed out.', 'pushed out'],
  ['It passes over the hold.', 'passes over'],
])('finds the habit in "%s"', (text, found) => {
  expect(foundIn(text)).toEqual([`1: ${found}`]);
});

it.each([
  'There is no timer, and the lease is no longer valid.',
  'The operators who own the server decide. Who owns it?',
  '## What happens when…',
  'What happens when the source is down is in the table.',
  'As long as the value lives, as many reads as you like share it.',
  'An event brings down nothing; the process tells two keys apart.',
  'It says what it is and what it is not.',
  'The engine of tickless is one part.',
])('finds nothing in "%s"', (text) => {
  expect(foundIn(text)).toEqual([]);
});

it('looks over line breaks, and names the line on which the habit begins', () => {
  expect(foundIn('One.\nAn error is kept so\nlong.')).toEqual(['2: so long']);
});

it('leaves out code, link targets and generated sections', () => {
  const text = [
    '```ts',
    '// nobody',
    '```',
    'See `nobody` and [the page](nobody.md).',
    '<!-- matrix: a command -->',
    'who stood still',
    '<!-- end of matrix -->',
    'Nobody.',
  ];
  expect(foundIn(text.join('\n'))).toEqual(['8: Nobody']);
});

it('looks at comments and literals of TypeScript, not at its code', () => {
  const text = [
    '/** What a load is',
    ' * told. */',
    'const nobody = who(his);',
    "const text = 'it was said';",
    '// so',
    '// many',
    "import { x } from '../his/nobody.ts';",
    "const url = 'https://example.org'; // fine",
  ];
  expect(foundIn(text.join('\n'), false)).toEqual(['1: What', '2: told', '4: said', '5: so many']);
});

it('prints place, finding and advice, and exits with 1', () => {
  const file = join(folder, 'sample.md');
  writeFileSync(file, 'Fine.\nNobody waits.\n');
  const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(module), file], { encoding: 'utf8' });
  expect(stdout).toMatch(/sample\.md:2: found "Nobody": say no caller/);
  expect(status).toBe(1);
  writeFileSync(file, 'No caller waits.\n');
  expect(execFileSync(process.execPath, [fileURLToPath(module), file], { encoding: 'utf8' })).toContain(
    '0 habits of wording found in 1 files',
  );
});
