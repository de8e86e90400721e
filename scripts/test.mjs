// npm test: everything that must hold before a change is merged, the quick and frequent faults first.
//
// Stops at the first step that fails, with its output. The last line is `N passed, N failed`: every step is one, but
// for the tests, which are counted one by one.

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { report as integrationReport } from './support/integration.mjs';
import { root, tool } from './support/project.mjs';
import { run } from './support/run.mjs';

const script = (file) => [process.execPath, join(root, 'scripts', file)];
/** Far beyond the slowest step: a hang must end in a failure. */
const TIMEOUT_MS = 15 * 60_000;
const vitestReport = join(root, '.tmp', 'vitest.json');

const STEPS = [
  { name: 'format and lint', command: tool('@biomejs/biome', ['ci', '.', '--colors=off'], 'biome') },
  // Before the types: examples and demo import 'tickless' by its name, and so are checked against the built types.
  { name: 'build', command: script('build.mjs') },
  // The type tests too: `expectTypeOf` and `@ts-expect-error` in test are judged by the compiler.
  { name: 'types', command: tool('typescript', ['--noEmit', '-p', '.'], 'tsc') },
  { name: 'import arrows', command: script('check-arrows.mjs'), saysLast: true },
  { name: 'unused code and dependencies', command: tool('knip', ['--treat-config-hints-as-errors']) },
  {
    name: 'unit and property tests',
    command: tool('vitest', [
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${vitestReport}`,
    ]),
    count: countTests(vitestReport),
  },
  {
    name: 'integration tests with real servers',
    command: script('integration.mjs'),
    count: countTests(integrationReport),
  },
  {
    name: 'simulated clusters',
    command: [...script('simulate.mjs'), '--ci'],
    count: countByLastLine('worlds'),
  },
  {
    name: 'faults with real processes',
    command: [...script('faults.mjs'), '--quick'],
    count: countByLastLine('scenarios'),
  },
  { name: 'planted faults', command: script('planted.mjs'), count: countByLastLine('faults') },
  { name: 'package', command: script('check-package.mjs'), saysFirst: true },
  { name: 'size of imports', command: script('check-size.mjs'), saysLast: true },
  { name: 'speed beside others', command: script('check-speed.mjs'), count: countByLastLine('ratios') },
  { name: 'code blocks of the documentation', command: script('run-docs.mjs'), saysLast: true },
  { name: 'examples', command: script('run-examples.mjs'), saysLast: true },
  { name: 'demo', command: [...script('demo.mjs'), '--seconds', '10'] },
  { name: 'demo of a cluster', command: [...script('demo.mjs'), '--cluster', '--seconds', '12'] },
];

/** What a step adds to the last line, and to its own. */
function countStep({ saysFirst, saysLast }, { code, stdout }) {
  const lines = stdout.trimEnd().split('\n');
  const says = (saysFirst && lines[0]) || (saysLast && lines.at(-1)) || '';
  return code === 0 ? { passed: 1, failed: 0, says } : { passed: 0, failed: 1, says };
}

/**
 * The tests by Vitest's own count. A run that went wrong outside of a test, or ran none, is one failure. What the run
 * says is not tested here is said too.
 */
function countTests(file) {
  return (_, { code, stdout }) => {
    let report;
    try {
      report = JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      return { passed: 0, failed: 1, says: 'no report from Vitest' };
    }
    const { numPassedTests: passed, numFailedTests, numTotalTests } = report;
    const wentWrong = code !== 0 || passed === 0;
    const failed = wentWrong ? Math.max(1, numFailedTests) : numFailedTests;
    const skipped = numTotalTests - passed - numFailedTests;
    const says = [`${passed} tests passed${skipped > 0 ? `, ${skipped} skipped` : ''}`];
    says.push(...stdout.split('\n').filter((line) => /^\S.*: (.*\b)?not tested\b/.test(line)));
    return { passed, failed, says: says.join(' · ') };
  };
}

/** By what the step counts itself: its last line is `N passed, N failed`. A run that does not come to that is one failure. */
function countByLastLine(what) {
  return (_, { code, stdout }) => {
    const [, passed, failed] = /(\d+) passed, (\d+) failed\s*$/.exec(stdout)?.map(Number) ?? [0, 0, 1];
    const wentWrong = code !== 0 || passed === 0;
    return { passed, failed: wentWrong ? Math.max(1, failed) : failed, says: `${passed} ${what} held` };
  };
}

mkdirSync(join(root, '.tmp'), { recursive: true });
for (const file of [vitestReport, integrationReport]) rmSync(file, { force: true }); // an old one must not be counted

const total = { passed: 0, failed: 0 };
for (const [index, step] of STEPS.entries()) {
  console.log(`── ${index + 1}/${STEPS.length} ${step.name}`);
  const result = await run(step.command, {
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
    timeoutMs: TIMEOUT_MS,
  });
  const { passed, failed, says } = (step.count ?? countStep)(step, result);
  total.passed += passed;
  total.failed += failed;
  if (failed > 0) console.log(result.output.trimEnd());
  console.log(`   ${failed > 0 ? 'FAILED' : 'ok'} in ${result.seconds.toFixed(1)} s${says && ` · ${says}`}`);
  if (failed > 0) break;
}
process.exitCode = total.failed > 0 ? 1 : 0;
console.log(`${total.passed} passed, ${total.failed} failed`);
