// npm run mutation: changes src in thousands of small ways, and sees for each whether a test fails (Stryker).
//
//   --only <part>…      the parts of test/system/mutation/parts.mjs. Default: all, one after the other
//   --changed           only the files of src that were changed since --base
//   --base <commit>     default: where the branch left main, or else the commit before
//   --files <file>…     only these
//   --again             forgets what earlier runs found out, and runs every mutant
//   --concurrency <n>   processes. Default: 2
//
// Only what has changed since the last run is run again. A part with a score below 95 % has failed. What survives is
// printed, and is in .tmp/mutation/<part>.html for people. The last line is `N passed, N failed`, counted by part.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { partOf, parts } from '../test/system/mutation/parts.mjs';
import { installDrivers } from './support/integration.mjs';
import { npm, root, tool } from './support/project.mjs';

const folder = join(root, 'test/system/mutation');
const results = join(root, '.tmp/mutation');
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(parts) },
    changed: { type: 'boolean', default: false },
    base: { type: 'string' },
    files: { type: 'string', multiple: true },
    again: { type: 'boolean', default: false },
    concurrency: { type: 'string', default: '2' },
  },
});

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

function baseCommit() {
  const base = values.base ?? git('merge-base', 'HEAD', 'main');
  return values.base === undefined && base === git('rev-parse', 'HEAD') ? 'HEAD~1' : base;
}

function files() {
  if (values.files !== undefined) return values.files;
  const list = values.changed ? ['diff', '--name-only', '--diff-filter=d', baseCommit()] : ['ls-files'];
  return git(...list, '--', 'src/*.ts').split('\n');
}

/** @returns {boolean} whether the command came to its end, and was content. */
function run([file, ...args], options) {
  return spawnSync(file, args, { cwd: root, stdio: 'inherit', ...options }).status === 0;
}

mkdirSync(results, { recursive: true });
// Stryker, pinned. Its peer, Vitest, is that of the project: a second one would not be the one that the tests import.
run(npm(['install', '--no-save', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']), {
  cwd: folder,
});
if (!run(tool('typescript', ['-p', folder], 'tsc'))) process.exit(1);

const total = { passed: 0, failed: 0 };
const mutated = files();
for (const part of values.only) {
  const mutate = mutated.filter((file) => partOf(file) === part);
  if (mutate.length === 0) continue;
  console.log(`── ${part}: ${mutate.length} files`);
  if (parts[part].packages) await installDrivers();
  if (values.again) rmSync(join(results, `${part}.json`), { force: true });
  const stryker = [join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run'];
  const config = join('test/system/mutation/stryker.config.mjs');
  const options = ['--mutate', mutate.join(','), '--concurrency', values.concurrency];
  const env = { ...process.env, MUTATION_PART: part };
  total[run([process.execPath, ...stryker, config, ...options], { env }) ? 'passed' : 'failed'] += 1;
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
