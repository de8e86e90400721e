// npm run site: builds the documentation site from docs/ into site/dist, with the API reference of the built package (`npm run build` first).
// A dead link, also to a heading, fails it; so does a question of site/check-search.mjs that does not find its guide, and a section that is too long for a phone. Beside the pages are
// their texts, llms.txt and llms-full.txt, for assistants. `-- --serve` shows the result at http://localhost:4173;
// `-- --pictures` draws the pictures of docs/pictures, and nothing else.
//
// Its tools are a package of their own, site/package.json, installed where they are missing.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { deadLinks, llmsFiles, plainText } from './support/llms.mjs';
import { npm, root, shown } from './support/project.mjs';
import { run } from './support/run.mjs';

const { values } = scriptArguments({ serve: { type: 'boolean' }, pictures: { type: 'boolean' } });
const site = join(root, 'site');
const pages = join(site, 'pages');
const { homepage, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** @param {string[]} command */
async function succeed(name, command, options) {
  const { code, output, seconds } = await run(command, { cwd: site, env: { NO_COLOR: '1' }, ...options });
  if (code !== 0) throw new Error(`${name} failed:\n${output}`);
  console.log(`${name}: ${seconds.toFixed(0)} s`);
}
const tool = (name, ...args) => [process.execPath, join(site, 'node_modules', name), ...args];

/** When a file was written; 0: it is missing. */
const writtenAt = (file) => statSync(join(site, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The page of a document; `undefined`: it is none. */
function pageOf(document) {
  if (['README.md', 'docs/README.md'].includes(document)) return 'index.md';
  if (['CONTRIBUTING.md', 'CHANGELOG.md'].includes(document)) return document;
  return /^docs\/(.+)$/.exec(document)?.[1];
}

/** The text with its links as the site has them: those to other files of the repository lead to its home. */
function linked(document, text) {
  return text.replace(/(?<=\]\()(?!\w+:|#)[^)#\s]+/g, (link) => {
    const target = shown(join(root, dirname(document), link));
    const page = pageOf(target);
    if (page === undefined) return `${homepage.replace(/#.*/, '')}/blob/main/${target}`;
    return shown(join(pages, page), join(pages, dirname(pageOf(document))));
  });
}

/** The documents as pages, in one folder. */
function gatherPages() {
  rmSync(pages, { recursive: true, force: true });
  cpSync(join(root, 'docs'), pages, { recursive: true });
  rmSync(join(pages, 'README.md'));
  cpSync(join(root, 'docs/bench'), join(pages, 'public/bench'), { recursive: true }); // pictures that are linked
  const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const listed = readFileSync(join(root, 'docs/README.md'), 'utf8');
  const missing = documents.filter((name) => name !== 'README.md' && !listed.includes(`](${name})`));
  if (missing.length > 0)
    throw new Error(`docs/README.md, the order of the pages, lacks ${missing.join(', ')}`);
  for (const document of [...documents.map((name) => `docs/${name}`), 'CONTRIBUTING.md', 'CHANGELOG.md']) {
    const text = readFileSync(join(root, document), 'utf8');
    writeFileSync(join(pages, pageOf(document)), linked(document, text));
  }
}

/** On a phone 12,000 px, at most: a table with long cells takes a pixel for each character. */
const LONGEST_PART = 12_000;

/**
 * Throws for a section, or a part of one (`###`), that is too long for a phone, where long ones open part by part. Tables that a script
 * writes are not counted.
 */
function checkParts() {
  const documents = readdirSync(pages).filter((name) => name.endsWith('.md') && name !== 'index.md');
  const long = documents.flatMap((name) =>
    readFileSync(join(pages, name), 'utf8')
      .replace(/<!-- \w+: [\s\S]*?<!-- end of/g, '')
      .split(/^(?=#{2,3} )/m)
      .map((part) => part.replace(/\]\([^)]*\)/g, ']'))
      .filter(({ length }) => length > LONGEST_PART)
      .map((part) => `${name}: ${part.split('\n')[0]}: ${part.length} characters`),
  );
  if (long.length > 0)
    throw new Error(
      `parts with ### are missing in sections over ${LONGEST_PART} characters:\n${long.join('\n')}`,
    );
}

/** Puts the text of each listed page, llms.txt and llms-full.txt beside the pages. Throws for a document that is missing, and for a dead link. */
function writeTexts() {
  const dist = join(site, 'dist');
  const read = (page) => readFileSync(join(pages, page), 'utf8');
  const { pages: listed, ...files } = llmsFiles({
    index: read('index.md'),
    summary: description,
    textOf: (page) => plainText(read(page)),
  });
  const texts = { ...files, ...Object.fromEntries(listed.map((page) => [page, plainText(read(page))])) };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(dist, name), text);
  const documents = readdirSync(pages).filter((name) => name.endsWith('.md') && name !== 'index.md');
  const unlisted = documents.filter((name) => !listed.includes(name)).map((name) => `llms.txt lacks ${name}`);
  const dead = Object.entries(texts).flatMap(([name, text]) =>
    deadLinks(text, (link) => existsSync(join(dist, link))).map((link) => `${name} has a dead link: ${link}`),
  );
  const problems = [...unlisted, ...dead];
  if (problems.length > 0) throw new Error(`texts for assistants failed:\n${problems.join('\n')}`);
  console.log(
    `texts for assistants: ${listed.length} pages, ${(files['llms-full.txt'].length / 1000).toFixed(0)} kB in one`,
  );
}

if (writtenAt('node_modules/.package-lock.json') < writtenAt('package-lock.json')) {
  await succeed('tools of the site', npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund']));
}
const drawing = [process.execPath, '--import', 'tsx', 'pictures/main.mjs'];
if (values.pictures) {
  await succeed('pictures', drawing);
  process.exit();
}
await succeed('pictures', [...drawing, '--check']);
gatherPages();
checkParts();
await succeed('API reference', tool('typedoc/bin/typedoc'));
const links = ['--use', 'remark-validate-links=repository:false', '--frail', '--quiet', '--no-stdout'];
const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs'].map((name) => `../${name}`);
await succeed('links', tool('remark-cli/cli.js', ...documents, 'pages', ...links));
await succeed('pages', tool('vitepress/bin/vitepress.js', 'build'));
await succeed('search', [process.execPath, 'check-search.mjs']);
writeTexts();
if (values.serve) {
  const [file, ...args] = tool('vitepress/bin/vitepress.js', 'preview');
  spawnSync(file, args, { cwd: site, stdio: 'inherit' });
}
