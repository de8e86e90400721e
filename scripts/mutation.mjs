// npm run mutation: changes src in thousands of small ways, and sees for each whether a test fails (Stryker).
//
//   --only <part>…      the parts of test/system/mutation/parts.mjs. Default: all, one after the other
//   --files <glob>…     only these files of the part
//   --again             forgets what earlier runs found out, and runs every mutant
//   --report            runs nothing: judges what the last runs have found
//   --concurrency <n>   processes. Default: MUTATION_CONCURRENCY, or else 2
//
// Only what has changed since the last run is run again. A part fails with a score below 90 %, or with a mutant that
// survives and is not in test/system/mutation/survivors/<part>.json, where the reason is why it can't matter. A folder of several
// parts needs that score as a whole too. What the runs find is in .tmp/mutation: <part>.html for people. The last line is
// `N passed, N failed`, counted by part and such folder.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compare, figuresOf, sumOf } from '../test/system/mutation/compare.mjs';
import { folders, parts } from '../test/system/mutation/parts.mjs';
import { strykerProgram } from '../test/system/mutation/stryker.mjs';
import { installDrivers } from './support/integration.mjs';
import { npm, root, tool } from './support/project.mjs';
import { run } from './support/run.mjs';

const LEAST_SCORE = 90;
const folder = join(root, 'test/system/mutation');
const results = join(root, '.tmp/mutation');

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(parts) },
    files: { type: 'string', multiple: true, default: [] },
    again: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    concurrency: { type: 'string', default: process.env.MUTATION_CONCURRENCY ?? '2' },
  },
});
const unknown = values.only.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`not a part (${Object.keys(parts).join(', ')}): ${unknown.join(', ')}`);
  process.exit(2);
}

/** Stryker, pinned. Its peer, Vitest, is that of the project: a second one would not be the one that the tests import. */
async function install() {
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  const stamp = join(folder, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  console.log('installs Stryker into test/system/mutation');
  const command = npm(['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']);
  const { code, output } = await run(command, { cwd: folder, timeoutMs: 5 * 60_000 });
  if (code !== 0) throw new Error(`test/system/mutation: npm ci failed:\n${output}`);
  writeFileSync(stamp, hash);
}

const reportFile = (part) => join(results, `${part}.report.json`);

/** @returns {boolean} whether Stryker came to its end; it does not judge */
function mutate(part) {
  if (values.again) rmSync(join(results, `${part}.json`), { force: true });
  rmSync(reportFile(part), { force: true }); // an old one must not be judged
  const files = values.files.length > 0 ? ['--mutate', values.files.join(',')] : [];
  const { status } = spawnSync(
    process.execPath,
    [
      strykerProgram(),
      'run',
      'test/system/mutation/stryker.config.mjs',
      '--concurrency',
      values.concurrency,
      ...files,
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, MUTATION_PART: part } },
  );
  return status === 0;
}

/** Lines of columns; all but the first are flush right. */
function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    )
    .join('\n');
}

function tell(title, survivors) {
  if (survivors.length === 0) return;
  console.log(`\n${title}`);
  for (const { file, at, status, mutator, line, original, replacement } of survivors) {
    console.log(
      `${at === undefined ? file : `${file}:${at}`} ${mutator}${status === 'NoCoverage' ? ' (no test)' : ''}`,
    );
    console.log(`    ${line}\n  - ${original}\n  + ${replacement}`);
  }
}

await install();
mkdirSync(results, { recursive: true });
const { status } = spawnSync(...first(tool('typescript', ['-p', folder], 'tsc')), {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);

function first([file, ...args]) {
  return [file, args];
}

const listOf = (part) => JSON.parse(readFileSync(join(folder, 'survivors', `${part}.json`), 'utf8'));
const figuresByPart = new Map();
const rows = [['part', 'mutants', 'killed', 'timeout', 'survived', 'no coverage', 'score']];
let failed = 0;
let passed = 0;
for (const part of values.only) {
  if (parts[part].packages && !values.report) await installDrivers();
  const isOver = values.report || mutate(part);
  if (!isOver || !existsSync(reportFile(part))) {
    console.log(`${part}: no report`);
    failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(reportFile(part), 'utf8'));
  const { unlisted, gone, withoutReason } = compare(report, listOf(part));
  tell(`${part}: survivors that are not listed`, unlisted);
  tell(`${part}: listed, but no longer there`, gone);
  tell('listed without a reason', withoutReason);
  const figures = figuresOf(report);
  figuresByPart.set(part, figures);
  judge(part, figures, unlisted.length === 0 && withoutReason.length === 0);
}
for (const [name, its] of Object.entries(folders)) {
  if (its.every((part) => figuresByPart.has(part))) {
    judge(name, sumOf(its.map((part) => figuresByPart.get(part))), true);
  }
}

function judge(name, { mutants, killed, timeout, survived, noCoverage, pending, score }, areListed) {
  const counts = [mutants, killed, timeout, survived, noCoverage].map(String);
  rows.push([name, ...counts, `${score.toFixed(1)} %`]);
  if (pending > 0) console.log(`${name}: ${pending} mutants were not run`);
  if (areListed && pending === 0 && score >= LEAST_SCORE) passed += 1;
  else failed += 1;
}
console.log(`\n${table(rows)}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
