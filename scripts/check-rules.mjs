// Takes the code of each rule out, one fault at a time, and demands that the tests of that rule see it; so with the
// promises of keyed caches, groups, clusters and loads in threads. A fault that no test sees, or that fits the source no
// longer, fails the check.
//
//   node scripts/check-rules.mjs            all faults
//   node scripts/check-rules.mjs 5          those of rule 5, with the first failing test of each
//   node scripts/check-rules.mjs keys       those of keyed caches and groups
//   node scripts/check-rules.mjs cluster    those of clusters that are no rule's
//   node scripts/check-rules.mjs worker     those of loads in threads

import { spawn } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterFaults } from './cluster-faults.mjs';
import { keyedFaults } from './keyed-faults.mjs';
import { faults } from './rule-faults.mjs';
import { plant } from './support/plant.mjs';
import { root } from './support/project.mjs';
import { workerFaults } from './worker-faults.mjs';

const PARALLEL = 2;

/** What the tests of the rules need. */
const PARTS = [
  'src',
  'test/support',
  'test/contract/rules',
  'test/unit/time/coarse-clock.test.ts',
  'test/unit/cache',
  'test/unit/cluster',
  'test/unit/engine',
  'test/unit/worker',
  'scripts/support',
  'vitest.config.ts',
  'tsconfig.json',
  'package.json',
];

/** The files with the tests of a rule. */
async function testsOf(rule) {
  const prefix = `rule-${String(rule).padStart(2, '0')}`;
  const names = (await readdir(join(root, 'test/contract/rules'))).filter((name) => name.startsWith(prefix));
  if (names.length === 0) throw new Error(`no test/contract/rules/${prefix}*`);
  return names.map((name) => `test/contract/rules/${name}`);
}

/** Runs tests in a copy, up to the first that fails; resolves with their report. */
async function runTests(copy, tests) {
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      copy,
      '--testTimeout',
      '3000',
      '--bail',
      '1',
      '--reporter',
      'json',
      ...tests,
    ],
    { cwd: copy, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  return JSON.parse(output.slice(output.indexOf('{')));
}

async function check(fault) {
  const copy = await plant(fault, PARTS);
  try {
    let failed = [];
    for (let run = 0; run < (fault.runs ?? 1) && failed.length === 0; run++) {
      const report = await runTests(copy, fault.tests ?? (await testsOf(fault.rule)));
      failed = report.testResults.flatMap((file) =>
        file.assertionResults.filter((test) => test.status === 'failed'),
      );
    }
    return { seen: failed.length > 0, failed };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const only = process.argv[2];
const all = [
  ...faults,
  ...keyedFaults.map((fault) => ({ ...fault, rule: 'keys' })),
  ...clusterFaults.map((fault) => ({ rule: 'cluster', ...fault })),
  ...workerFaults.map((fault) => ({ ...fault, rule: 'worker' })),
];
const chosen = all.filter(({ rule }) => only === undefined || String(rule) === only);
const queue = chosen.entries();
let unseen = 0;
await Promise.all(
  Array.from({ length: PARALLEL }, async () => {
    for (const [, fault] of queue) {
      const { seen, failed } = await check(fault);
      if (!seen) unseen += 1;
      const verdict = seen ? 'seen' : 'NOT SEEN';
      console.log(`rule ${fault.rule}: ${fault.name}: ${verdict}`);
      if (only !== undefined && failed.length > 0) console.log(`    ${failed[0].fullName}`);
    }
  }),
);
console.log(`${chosen.length - unseen} of ${chosen.length} planted faults seen`);
process.exitCode = unseen === 0 ? 0 : 1;
