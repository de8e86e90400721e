// Keeps a build of a commit, for the test that runs it beside the present one (test/system/integration/two-builds.test.ts):
//
//   node scripts/keep-build.mjs <commit>
//
// Of the package it has what `tickless`, `tickless/redis` and `tickless/postgres` need. A release replaces it by its own.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { root } from './support/project.mjs';

const KEPT = 'test/system/integration/fixtures/build-before.tgz';
const ENTRIES = ['dist/index.js', 'dist/backends/redis.js', 'dist/backends/postgres.js'];

const [commit] = scriptArguments({}, { name: 'commit', most: 1 }).positionals;
if (commit === undefined) {
  console.error('keep-build: of which commit?');
  process.exit(1);
}
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
const folder = join(mkdtempSync(join(tmpdir(), 'tickless-build-')), 'package');

/** The files that a module imports, itself included. */
function withImports(file, known = new Set()) {
  if (known.has(file)) return known;
  known.add(file);
  const text = readFileSync(join(folder, file), 'utf8');
  for (const [, path] of text.matchAll(/(?:from|import\(?) ?"(\.[^"]+)"/g))
    withImports(posix.join(posix.dirname(file), path), known);
  return known;
}

git('worktree', 'add', '--detach', folder, commit);
try {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'inherit' });
  const { name, version, type, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const built = git('rev-parse', commit).trim();
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name, version, type, license, built }, null, 2),
  );
  const files = ENTRIES.reduce((known, entry) => withImports(entry, known), new Set());
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replace(/\n\/\/# sourceMappingURL=.*/, '')); // they are not kept
  }
  const packed = ['package.json', 'LICENSE', ...files].map((file) => `package/${file}`);
  execFileSync('tar', ['-czf', join(root, KEPT), ...packed], { cwd: dirname(folder) });
  console.log(`${KEPT}: ${files.size} files of ${built}`);
} finally {
  git('worktree', 'remove', '--force', folder);
  rmSync(dirname(folder), { recursive: true, force: true });
}
