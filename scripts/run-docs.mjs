// Executes the TypeScript code blocks of the documentation against the built package (`npm run build` first):
// README.md, CONTRIBUTING.md, CHANGELOG.md, docs/**/*.md, and the doc comments in src.
//
//   node scripts/run-docs.mjs
//   --drivers      also the blocks that import a database driver; installs the drivers where they are missing
//   --peers        also those that import another library, in docs/openfeature.md; installs it
//   --only plain   without all of these, installed or not
//   --only apart   nothing but these
//
// Every block is a program of its own: it imports what it uses, and ends by itself. A block that opens with
//
//   ```ts          is type-checked and run, and must exit with 0
//   ```ts no-run   is only type-checked (a server that stays up, a host that does not exist)
//   ```ts ignore   is neither (a signature, an excerpt)
//
// What it prints is asserted by comments, each one line of stdout: `// prints: …` anywhere, and whatever stands behind
// a console.log. They must occur in that order; other lines may stand between them. `…` stands for any text.
//
//   console.log(rates.get('USD')); // 1.08
//   rates.on('load-ended', report); // prints: failed after … ms

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';
import { installApart } from './support/apart.mjs';
import { scriptArguments } from './support/arguments.mjs';
import { codeBlocksOf, docCommentsOf } from './support/code-blocks.mjs';
import { folder as driversFolder, installDrivers } from './support/integration.mjs';
import { root, shown, tool } from './support/project.mjs';
import { run, severalAtOnce } from './support/run.mjs';

const TIMEOUT_MS = 20_000;
const MARKS = ['no-run', 'ignore'];
/** Nobody would execute these: a typo in the fence must not take a block out of the check. */
const OTHER_NAMES = ['typescript', 'tsx', 'mts', 'js', 'jsx', 'javascript', 'mjs'];

/** Inside the repository, so that `import 'tickless'` finds it as its own name. */
const folder = join(root, '.tmp', 'docs');

/** What is wrong, one text each. */
const failures = [];

// ---- find the blocks --------------------------------------------------------------------------------------------

const filesIn = (path, ending, options) =>
  existsSync(join(root, path))
    ? readdirSync(join(root, path), { ...options, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
        .map((entry) => shown(join(entry.parentPath, entry.name)))
        .sort()
    : [];

function blocksOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  try {
    return codeBlocksOf(file.endsWith('.ts') ? docCommentsOf(text) : text).map((block) => ({
      ...block,
      file,
    }));
  } catch (error) {
    failures.push(`${file}: ${error.message}`);
    return [];
  }
}

const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].filter((file) => existsSync(join(root, file))),
  ...filesIn('docs', '.md', { recursive: true }),
  ...filesIn('src', '.ts', { recursive: true }),
];
const blocks = documents.flatMap(blocksOf).filter(({ language, marks, file, line }) => {
  if (OTHER_NAMES.includes(language))
    failures.push(`${file}:${line}: call it \`\`\`ts, or it is not executed`);
  if (language !== 'ts') return false;
  const unknown = marks.filter((mark) => !MARKS.includes(mark));
  if (unknown.length > 0)
    failures.push(`${file}:${line}: "${unknown.join(' ')}" is none of ${MARKS.join(', ')}`);
  return true;
});
// Packages that are not for every `npm ci`: the drivers are those of the tests with real servers.
const { values } = scriptArguments({
  drivers: { type: 'boolean' },
  peers: { type: 'boolean' },
  only: { type: 'string', choices: ['plain', 'apart'] },
});
const peersFolder = join(root, 'test/system/openfeature');
if (values.drivers) await installDrivers();
if (values.peers) await installApart(peersFolder);
const apart = [driversFolder, peersFolder].flatMap((where) => {
  const manifest = JSON.parse(readFileSync(join(where, 'package.json'), 'utf8'));
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  return names.map((name) => ({ name, path: join(where, 'node_modules', name) }));
});
const missing = apart.filter(({ path }) => !existsSync(path));
const imports = ({ code }, packages) =>
  packages.map(({ name }) => name).find((name) => new RegExp(`from '${name}['/]`).test(code.join('\n')));
const wanted = blocks.filter((block) => {
  if (block.marks.includes('ignore')) return false;
  return values.only === undefined || (values.only === 'apart') === (imports(block, apart) !== undefined);
});
const checked = wanted.filter((block) => {
  const driver = imports(block, missing);
  if (driver)
    console.log(`skipped: ${block.file}:${block.line}: ${driver} is not installed (npm run test:all)`);
  return driver === undefined;
});
const executed = checked.filter(({ marks }) => !marks.includes('no-run'));

// ---- check their types ------------------------------------------------------------------------------------------

const nameOf = ({ file, line }) => `${file.replaceAll('/', '__')}__${line}.ts`;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { name, path } of apart.filter((one) => !missing.includes(one))) {
  const link = join(folder, 'node_modules', name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(path, link, 'junction');
}
for (const block of checked) {
  // Empty lines before it give the code the line numbers that it has in the document.
  writeFileSync(
    join(folder, nameOf(block)),
    `${'\n'.repeat(block.line - 1)}${block.code.join('\n')}\nexport {};\n`,
  );
}

/** Replaces the names of the written files by those of the documents. */
const located = (output) =>
  checked
    .reduce((text, block) => text.replaceAll(nameOf(block), block.file), output)
    .replaceAll(`${folder}/`, '')
    .replaceAll('.tmp/docs/', '')
    .replace(/^(\S+)\((\d+),(\d+)\): /gm, '$1:$2:$3: ');

/** The used part of a module of workerd. `npx wrangler types` writes it for an application. */
const CLOUDFLARE = `declare module 'cloudflare:workers' {
  export const env: { readonly TICKLESS: import('tickless/durable-object').ObjectNamespace };
  export function waitUntil(promise: Promise<unknown>): void;
}
`;

if (checked.length > 0) {
  writeFileSync(join(folder, 'cloudflare.d.ts'), CLOUDFLARE);
  // Strict as ours, but for what only matters to a library's own source.
  const compilerOptions = {
    noEmit: true,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
    noUnusedLocals: false,
  };
  const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { code, output } = await run(tool('typescript', ['-p', join(folder, 'tsconfig.json')], 'tsc'));
  if (code !== 0) failures.push(located(output));
}

// ---- run them ---------------------------------------------------------------------------------------------------

const ASSERTION = /(?:\/\/ prints: |\bconsole\.log\(.*\);? *\/\/ (?:prints: )?)(?<text>.*)$/;

/** The lines that a block says it prints, each with its place. */
const expectedOf = ({ code, line }) =>
  code.flatMap((source, index) => {
    const text = ASSERTION.exec(source)?.groups.text.trim();
    return text === undefined ? [] : [{ text, line: line + index }];
  });

const agrees = (printed, expected) => {
  const parts = expected.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(printed.trim());
};

/** The block as JavaScript: plain Node starts in a fifth of the time that one with a loader for TypeScript takes. */
function compiled(block) {
  const source = join(folder, nameOf(block));
  const file = source.replace(/\.ts$/, '.mjs');
  const how = { loader: 'ts', format: 'esm', target: 'node20', sourcemap: 'inline', sourcefile: source };
  writeFileSync(file, transformSync(readFileSync(source, 'utf8'), how).code);
  return file;
}

async function execute(block) {
  const place = `${block.file}:${block.line}`;
  const { code, stdout, output } = await run([process.execPath, '--enable-source-maps', compiled(block)], {
    cwd: folder, // for blocks that write files
    timeoutMs: TIMEOUT_MS,
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_OPTIONS: undefined },
  });
  if (code !== 0) return failures.push(`${place}: the block ends with exit code ${code}\n${located(output)}`);
  const printed = stdout.split('\n');
  let next = 0;
  for (const expected of expectedOf(block)) {
    const found = printed.findIndex((text, index) => index >= next && agrees(text, expected.text));
    if (found < 0) {
      return failures.push(
        `${block.file}:${expected.line}: does not print "${expected.text}", but\n${stdout}`,
      );
    }
    next = found + 1;
  }
}

await severalAtOnce(executed, execute);

for (const failure of failures) console.log(`failed: ${failure.trimEnd()}\n`);
const leftOut = blocks.length - checked.length;
console.log(
  `${executed.length} code blocks executed, ${checked.length - executed.length} type-checked only` +
    `${leftOut > 0 ? `, ${leftOut} left out` : ''} (${documents.length} documents)`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
