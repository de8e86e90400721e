// Checks the package as a user gets it: packs the built dist, looks into the tarball, installs it in an empty folder
// and uses it there. Needs `npm run build` first.
//
//   node scripts/check-package.mjs
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
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { importsOf } from './support/imports.mjs';
import { npm, root, tool } from './support/project.mjs';
import { run } from './support/run.mjs';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const workspace = mkdtempSync(join(tmpdir(), 'tickless-package-'));
const user = join(workspace, 'user');

/** What is wrong, one text each. */
const failures = [];

/** Runs one check, which returns its problems, and says how it went. */
async function check(name, action) {
  const begun = performance.now();
  const problems = await action();
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  for (const problem of problems) console.log(problem.trimEnd().replace(/^/gm, '     '));
  failures.push(...problems);
}

/** A check by a command: its output is the problem. */
const command = async (line, options) => {
  const { code, output } = await run(line, options);
  return code === 0 ? [] : [output || `exit code ${code}`];
};

// ---- the tarball ------------------------------------------------------------------------------------------------

/** @returns {Promise<{ tarball: string, paths: string[], size: number }>} */
async function pack() {
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', workspace];
  const { code, stdout, output } = await run(npm(args));
  if (code !== 0) throw new Error(`npm pack failed:\n${output}`);
  const [{ filename, files, size }] = JSON.parse(stdout);
  return { tarball: join(workspace, filename), paths: files.map(({ path }) => path), size };
}

/** Every target of `exports` is in the tarball; no wildcard; `types` is the first condition. */
function exportProblems(paths) {
  const problems = [];
  const packed = new Set(paths);
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    const conditions = typeof target === 'string' ? { default: target } : target;
    if (`${subpath}${JSON.stringify(conditions)}`.includes('*'))
      problems.push(`exports["${subpath}"]: a wildcard`);
    if (typeof target !== 'string' && Object.keys(conditions)[0] !== 'types') {
      problems.push(`exports["${subpath}"]: "types" must be the first condition`);
    }
    for (const path of Object.values(conditions)) {
      if (!packed.has(path.slice('./'.length)))
        problems.push(`exports["${subpath}"]: ${path} is not in the package`);
    }
  }
  return problems;
}

/** Compiled modules import each other, Node's modules and declared dependencies. (Which may what: check-arrows.mjs.) */
function importProblems(paths) {
  const packed = new Set(paths);
  const isDependency = (specifier) =>
    Object.keys(manifest.dependencies).some((name) => specifier === name || specifier.startsWith(`${name}/`));
  return paths
    .filter((path) => path.startsWith('dist/') && path.endsWith('.js'))
    .flatMap((path) =>
      importsOf(readFileSync(join(root, path), 'utf8'))
        .filter(({ specifier }) =>
          specifier.startsWith('.')
            ? !packed.has(posix.join(posix.dirname(path), specifier))
            : !isBuiltin(specifier) && !isDependency(specifier),
        )
        .map(({ specifier, line }) => `${path}:${line} imports ${specifier}, which a user does not have`),
    );
}

// ---- the user ---------------------------------------------------------------------------------------------------

async function install(tarball) {
  mkdirSync(user);
  writeFileSync(join(user, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n');
  const args = ['install', tarball, '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  return command(npm([...args, '--loglevel=error']), { cwd: user });
}

/** One process per entry, so that none leans on what another has loaded. */
async function importEntries() {
  const entries = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith('.json'));
  const problems = await Promise.all(
    entries.map(async (subpath) => {
      const specifier = posix.join(manifest.name, subpath);
      const program = `if (Object.keys(await import('${specifier}')).length === 0) throw new Error('exports nothing')`;
      const [problem] = await command([process.execPath, '--input-type=module', '-e', program], {
        cwd: user,
      });
      return problem === undefined ? [] : [`import '${specifier}': ${problem}`];
    }),
  );
  return problems.flat();
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

// ---- all of it --------------------------------------------------------------------------------------------------

if (!existsSync(join(root, 'dist'))) {
  console.log('There is no dist to pack: run `npm run build` first.');
  process.exit(1);
}
try {
  const { tarball, paths, size } = await pack();
  console.log(`${paths.length} files, ${(size / 1000).toFixed(0)} kB packed`);
  await check('exports map', () => exportProblems(paths));
  await check('imports of dist', () => importProblems(paths));
  await Promise.all([
    check('publint', () => command(tool('publint', ['run', tarball, '--strict']))),
    check('are the types wrong', () =>
      command(
        tool(
          '@arethetypeswrong/cli',
          [tarball, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'],
          'attw',
        ),
      ),
    ),
    (async () => {
      await check('installs in an empty folder', () => install(tarball));
      await check('every entry is imported by plain node', importEntries);
      await check('type-checks, module nodenext', () => typeCheck({ module: 'nodenext' }));
      await check('type-checks, module esnext, resolution bundler', () =>
        typeCheck({ module: 'esnext', moduleResolution: 'bundler' }),
      );
    })(),
  ]);
} finally {
  rmSync(workspace, { recursive: true, force: true });
}
process.exitCode = failures.length === 0 ? 0 : 1;
