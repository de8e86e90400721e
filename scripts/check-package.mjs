// Checks the package as a user gets it: packs the built dist (`npm run build` first), looks into the tarball, installs it
// in an empty folder and uses it there.
//
// Prints one line per check and exits with 1 when one fails.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { BEGINNINGS } from './support/notices.mjs';
import { npm, root, tool } from './support/project.mjs';
import { run } from './support/run.mjs';

scriptArguments();

const LIMITS = { files: 220, kB: 690, readmeWords: 1500 };

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const workspace = mkdtempSync(join(tmpdir(), 'tickless-package-'));
const user = join(workspace, 'user');

/** Runs one check, which resolves with what is wrong, and says how it went. */
async function check(name, action) {
  const begun = performance.now();
  const problem = await action();
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${problem === undefined ? 'ok  ' : 'failed:'} ${name} (${seconds} s)`);
  if (problem === undefined) return;
  console.log(problem.trimEnd().replace(/^/gm, '     '));
  process.exitCode = 1;
}

/** A check by a command: its output is the problem. */
const command = async (line, options) => {
  const { code, output } = await run(line, options);
  return code === 0 ? undefined : output || `exit code ${code}`;
};

/** @returns {Promise<{ tarball: string, paths: string[], size: number }>} */
async function pack() {
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', workspace];
  const { code, stdout, output } = await run(npm(args));
  if (code !== 0) throw new Error(`npm pack failed:\n${output}`);
  const [{ filename, files, size }] = JSON.parse(stdout);
  return { tarball: join(workspace, filename), paths: files.map(({ path }) => path), size };
}

function limits({ paths, size }) {
  const kB = size / 1000;
  console.log(`${paths.length} files, ${kB.toFixed(0)} kB packed (at most ${LIMITS.files}, ${LIMITS.kB})`);
  return paths.length <= LIMITS.files && kB <= LIMITS.kB ? undefined : 'the tarball is over its limits';
}

/** Every link and picture of the README is absolute or in the tarball, or the page of the package would have dead ones. */
function readmeLinks({ paths }) {
  const home = manifest.homepage.replace(/#.*/, '');
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const dead = Array.from(text.matchAll(/\]\(([^)#\s]+)/g), ([, link]) => link).filter((link) => {
    const path = link.startsWith(home) ? /\/(?:blob|raw)\/main\/(.+)/.exec(link)?.[1] : undefined;
    if (path !== undefined) return !existsSync(join(root, path));
    return !/^https:/.test(link) && !paths.includes(link);
  });
  return dead.length === 0 ? undefined : `README.md has dead links: ${dead.join(', ')}`;
}

/** The first page is read in minutes. Counted as `wc -w` does. */
function readmeLength() {
  const words = readFileSync(join(root, 'README.md'), 'utf8').trim().split(/\s+/).length;
  return words <= LIMITS.readmeWords
    ? undefined
    : `README.md has ${words} words, more than ${LIMITS.readmeWords}`;
}

/** The license of each package that a bundle names is in the file of notices. */
function notices({ paths }) {
  const path = 'dist/THIRD-PARTY-NOTICES.txt';
  if (!paths.includes(path)) return `${path} is not in the tarball`;
  const sections = readFileSync(join(root, path), 'utf8').split(/^-{80}$/m);
  const bundles = paths.filter((one) => one.endsWith('.js'));
  const named = bundles.flatMap((one) =>
    Array.from(readFileSync(join(root, one), 'utf8').matchAll(/\/\* With (.+?)\. \*\//g), ([, packages]) =>
      packages.split('; ').map((each) => each.split(',')[0]),
    ),
  );
  if (named.length !== 3)
    return `3 bundles name their packages (command, page, thread), found ${named.length}`;
  const missing = named.flat().filter((title) => {
    const section = sections.find((text) => text.trimStart().startsWith(`${title}\n`));
    return (
      !Object.values(BEGINNINGS).some((words) => section?.includes(words)) ||
      !/copyright|\(c\)/i.test(section)
    );
  });
  return missing.length === 0 ? undefined : `${path} lacks the license of ${missing.join(', ')}`;
}

/** One process per entry, so that none leans on what another has loaded, or on what only a developer has. */
async function importEntries(isWanted, peerOf = {}) {
  const entries = Object.keys(manifest.exports).filter(
    (subpath) => !subpath.endsWith('.json') && isWanted(subpath),
  );
  copyFileSync(join(root, 'scripts', 'support', 'quiet-import.mjs'), join(user, 'quiet-import.mjs'));
  const problems = [];
  for (const entry of entries) {
    const args = ['quiet-import.mjs', posix.join(manifest.name, entry), ...(peerOf[entry] ?? [])];
    problems.push((await command([process.execPath, ...args], { cwd: user })) ?? '');
  }
  return problems.join('') || undefined;
}

/** The entries for an optional peer. That of NestJS is imported by scripts/nestjs.mjs, which installs it. */
const PEERS = {
  './prometheus': [],
  './otel': [],
  './openfeature': ['@openfeature/server-sdk'], // has an effect of its own: a global of all its copies
};
const needsPeer = (subpath) => subpath in PEERS;
const needsNest = (subpath) => subpath === './nestjs';

const peers = () =>
  Object.keys(manifest.peerDependencies)
    .filter((name) => name in manifest.devDependencies)
    .map((name) => `${name}@${manifest.devDependencies[name]}`);

async function install(...packages) {
  const args = ['install', ...packages, '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  return command(npm([...args, '--loglevel=error']), { cwd: user });
}

/** @param {{ module: string, moduleResolution?: string }} resolution */
function typeCheck(resolution) {
  const config = join(user, `tsconfig.${resolution.module}.json`);
  copyFileSync(join(root, 'scripts', 'support', 'consumer.ts'), join(user, 'consumer.ts'));
  const compilerOptions = {
    ...resolution,
    target: 'ES2022',
    lib: ['ES2022', 'ESNext.Disposable', 'DOM'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  return command(tool('typescript', ['-p', config], 'tsc'), { cwd: user });
}

try {
  const packed = await pack();
  const { tarball } = packed;
  const attw = [tarball, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'];
  await check('limits', () => limits(packed));
  await check('links of the README', () => readmeLinks(packed));
  await check('length of the README', readmeLength);
  await check('notices of what is bundled', () => notices(packed));
  await check('publint', () => command(tool('publint', ['run', tarball, '--strict'])));
  await check('are the types wrong', () => command(tool('@arethetypeswrong/cli', attw, 'attw')));
  mkdirSync(user);
  writeFileSync(join(user, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n');
  await check('installs in an empty folder', () => install(tarball));
  await check('every entry is imported by plain node, without an effect', () =>
    importEntries((entry) => !needsPeer(entry) && !needsNest(entry)),
  );
  await check('optional peers are installed', () => install(...peers()));
  await check('their entries are imported by plain node, without an effect', () =>
    importEntries(needsPeer, PEERS),
  );
  const help = [process.execPath, join(user, 'node_modules/.bin/tickless'), 'status', '--help'];
  await check('the command runs', () => command(help, { cwd: user }));
  await check('type-checks, module nodenext', () => typeCheck({ module: 'nodenext' }));
  const bundler = { module: 'esnext', moduleResolution: 'bundler' };
  await check('type-checks, module esnext, resolution bundler', () => typeCheck(bundler));
} finally {
  rmSync(workspace, { recursive: true, force: true });
}
