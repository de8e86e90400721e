// npm run mutation: changes src in thousands of small ways, and sees for each whether a test fails (Stryker).
//
//   --only <part>…      the parts of test/system/mutation/parts.mjs. Default: all, one after the other
//   --changed           only the lines of src that differ from where the branch left main, or else from the commit before,
//                       at most 100 of them and for about five minutes: the files with the most changed lines first, as
//                       far as they fit. The rest is named. Without the parts that need servers
//   --files <file>…     only these
//   --again             forgets what earlier runs found out, and runs every mutant
//   --concurrency <n>   processes. Default: 2
//
// Only what has changed since the last run is run again. A part has failed if more than 5 % of its mutants survive, and
// two more. They are printed, and are in .tmp/mutation/<part>.html for people. The last line is `N passed,
// N failed`, counted by part.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { partOf, parts } from '../test/system/mutation/parts.mjs';
import { scriptArguments } from './support/arguments.mjs';
import { installDrivers } from './support/integration.mjs';
import { npm, root, tool } from './support/project.mjs';

const folder = join(root, 'test/system/mutation');
const results = join(root, '.tmp/mutation');
const names = Object.keys(parts);
const { values } = scriptArguments({
  only: { type: 'string', multiple: true, default: names, choices: names },
  changed: { type: 'boolean', default: false },
  files: { type: 'string', multiple: true },
  again: { type: 'boolean', default: false },
  concurrency: { type: 'string', number: 'a whole number over 0', default: '2' },
});
for (const file of values.files ?? []) {
  if (existsSync(join(root, file)) && partOf(file) !== undefined) continue;
  console.error(`--files: ${file} is not a file of a part (test/system/mutation/parts.mjs)`);
  process.exit(2);
}

/** What `--changed` may take: a mutant takes about a second, and each part a minute more. */
const MAX_CHANGED_LINES = 100;
const MAX_CHANGED_MS = 4 * 60_000;
/** Changed lines with no more lines than this between them are mutated as one range. */
const JOINED_GAP = 3;
/** Of all mutants; and two more, or one that changes nothing would decide where there are only a handful. */
const MAX_SURVIVORS = { part: 0.05, more: 2 };

/** @returns {string | undefined} `undefined`: git knows no such commit. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return status === 0 ? stdout.trim() : undefined;
}

function baseCommit() {
  const head = git('rev-parse', 'HEAD');
  const branched = ['main', 'origin/main'].map((main) => git('merge-base', 'HEAD', main));
  return (
    branched.find((base) => base !== undefined && base !== head) ?? git('rev-parse', '--verify', 'HEAD~1')
  );
}

/** What is mutated of a file: all of it, or ranges of lines. */
function changesSince(base) {
  const diff = git('diff', '--unified=0', '--find-renames', '--diff-filter=d', base, '--', 'src/*.ts') ?? '';
  return diff.split(/^diff --git /m).flatMap((text) => {
    const file = /^\+\+\+ b\/(.*)$/m.exec(text)?.[1];
    const ranges = [];
    for (const [, first, count = '1'] of text.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)) {
      if (count === '0') continue;
      const [from, to] = [Number(first), Number(first) + Number(count) - 1];
      const before = ranges.at(-1);
      if (before !== undefined && from - before.to - 1 <= JOINED_GAP) before.to = to;
      else ranges.push({ from, to });
    }
    const lines = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    return lines === 0 || partOf(file) === undefined ? [] : [{ file, ranges, lines }];
  });
}

/** Says what it leaves out. The same commits always give the same. */
function changed() {
  const base = baseCommit();
  if (base === undefined) {
    console.log('no commit to compare with: nothing to do');
    return [];
  }
  const all = changesSince(base).toSorted((a, b) => b.lines - a.lines || (a.file < b.file ? -1 : 1));
  let left = MAX_CHANGED_LINES;
  const chosen = all.filter(({ file, lines }) => {
    const fits = lines <= left && !parts[partOf(file)].servers;
    if (fits) left -= lines;
    return fits;
  });
  const names = all
    .filter((change) => !chosen.includes(change))
    .map(({ file, lines }) => `${file} (${lines})`);
  console.log(
    `changed since ${base}: ${all.length} files; mutated: ${MAX_CHANGED_LINES - left} lines of ${chosen.length}`,
  );
  if (names.length > 0) console.log(`left out, with their changed lines: ${names.join(', ')}`);
  return chosen;
}

function files() {
  if (values.changed && values.files === undefined) return changed();
  return (values.files ?? git('ls-files', '--', 'src/*.ts').split('\n')).map((file) => ({ file }));
}

/** What Stryker calls it. */
function pattern({ file, ranges }) {
  return ranges === undefined ? [file] : ranges.map(({ from, to }) => `${file}:${from}-${to}`);
}

/** Whether enough of the mutants were killed, as the report of Stryker has it. */
function isGood(part, mutated) {
  const report = JSON.parse(readFileSync(join(results, `${part}.report.json`), 'utf8'));
  const statuses = mutated.flatMap(({ file, ranges = [{ from: 0, to: Infinity }] }) =>
    (report.files[file]?.mutants ?? [])
      .filter(({ location: { start, end } }) =>
        ranges.some(({ from, to }) => start.line >= from && end.line <= to),
      )
      .map(({ status }) => status),
  );
  const count = (...wanted) => statuses.filter((status) => wanted.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const survived = count('Survived', 'NoCoverage');
  console.log(`${part}: ${killed} mutants killed, ${survived} survived`);
  return survived <= MAX_SURVIVORS.part * (killed + survived) + MAX_SURVIVORS.more;
}

/** @returns {boolean} whether the command came to its end, and was content. */
function run([file, ...args], options) {
  return spawnSync(file, args, { cwd: root, stdio: 'inherit', ...options }).status === 0;
}

const startedAt = performance.now();
const all = files();
if (all.length === 0) {
  console.log('nothing of src was changed that is mutated\n1 passed, 0 failed');
  process.exit();
}
mkdirSync(results, { recursive: true });
// Stryker, pinned. Its peer, Vitest, is that of the project: a second one would not be the one that the tests import.
run(npm(['install', '--no-save', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']), {
  cwd: folder,
});
if (!run(tool('typescript', ['-p', folder], 'tsc'))) process.exit(1);

const total = { passed: 0, failed: 0 };
for (const part of values.only) {
  const mutated = all.filter(({ file }) => partOf(file) === part);
  if (mutated.length === 0) continue;
  if (values.changed && performance.now() - startedAt > MAX_CHANGED_MS) {
    console.log(`left out, for want of time: ${mutated.map(({ file }) => file).join(', ')}`);
    continue;
  }
  console.log(`── ${part}: ${mutated.length} files`);
  if (parts[part].packages) await installDrivers();
  if (values.again) rmSync(join(results, `${part}.json`), { force: true });
  rmSync(join(results, `${part}.report.json`), { force: true });
  const stryker = [join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run'];
  const config = join('test/system/mutation/stryker.config.mjs');
  const options = ['--mutate', mutated.flatMap(pattern).join(','), '--concurrency', values.concurrency];
  const env = { ...process.env, MUTATION_PART: part };
  const isRun = run([process.execPath, ...stryker, config, ...options], { env });
  const isPassed = isRun && isGood(part, mutated);
  total[isPassed ? 'passed' : 'failed'] += 1;
  if (!isPassed) console.log(`failed: mutation of ${part}`);
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
