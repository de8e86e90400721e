import { expect, test } from 'vitest';

interface Llms {
  llmsFiles(site: {
    readonly index: string;
    readonly summary: string;
    readonly textOf: (page: string) => string;
  }): { readonly 'llms.txt': string; readonly 'llms-full.txt': string; readonly pages: readonly string[] };
  plainText(markdown: string): string;
  deadLinks(text: string, exists: (path: string) => boolean): string[];
}

const { href } = new URL('../../../scripts/support/llms.mjs', import.meta.url);
const { deadLinks, llmsFiles, plainText } = (await import(href)) as Llms;

const INDEX = `# tickless

About it.

## Begin

- [Start](start.md): a first value

## About tickless

- [Decisions](decisions.md): with their reasons
`;

const files = llmsFiles({ index: INDEX, summary: 'Fresh data.', textOf: (page) => `text of ${page}\n` });

test('llms.txt has a title, a summary, and each page in its section', () => {
  expect(files['llms.txt']).toMatch(/^# tickless\n\n> Fresh data\.\n/);
  expect(files['llms.txt']).toContain('## Begin\n\n- [Start](start.md): a first value\n');
  expect(files['llms.txt']).toContain('## Optional\n\n- [Decisions](decisions.md): with their reasons\n');
  expect(files.pages).toEqual(['start.md', 'decisions.md']);
});

test('llms-full.txt has the text of each guide, and of nothing optional', () => {
  expect(files['llms-full.txt']).toContain('text of start.md');
  expect(files['llms-full.txt']).not.toContain('text of decisions.md');
});

test('a text has words in the place of pictures', () => {
  expect(plainText('a\n![states](states.svg)\n<!-- generated -->\nb\n')).toBe('a\n(Picture: states)\nb\n');
});

test('a dead link is a relative one without a file, outside of code', () => {
  const text =
    '[a](there.md#x) [b](gone.md) [c](https://host/x) [d](#e) `[f](code.md)`\n```\n[g](block.md)\n```\n';
  expect(deadLinks(text, (path) => path === 'there.md')).toEqual(['gone.md']);
});
