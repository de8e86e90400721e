// Plants faults into the code, one at a time, and demands that tests see each: those of its rule, or the simulation by its
// recorded seeds (test/system/planted). Without a fault the same tests must be green.
//
//   --only <kind>     rules or simulation. Default: both
//   --fault <text>    those whose name holds that, with what has seen them
//   --seeds <n>       simulation: the seeds 1 to n, in the place of those that are recorded
//   --list            names them, and runs nothing
//
// The last line is `N passed, N failed`, counted by fault; the run without one counts too.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tsImport } from 'tsx/esm/api';
import { createVitest } from 'vitest/node';
import { root } from './support/project.mjs';

/** Beyond that a fault hangs all. */
const TIMEOUT_MS = 120_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    fault: { type: 'string', multiple: true, default: [''] },
    seeds: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const folder = join(root, 'test/system/planted');
const [{ rules }, { simulation }, { planted }] = await Promise.all(
  ['rules', 'simulation', 'plugin'].map((name) => tsImport(join(folder, `${name}.ts`), import.meta.url)),
);

const testsOfRules = readdirSync(join(root, 'test/contract/rules'));
function testsOf({ rule }) {
  if (rule === undefined) return [join(folder, 'worlds.ts')];
  const names = testsOfRules.filter((name) => name.startsWith(`rule-${String(rule).padStart(2, '0')}-`));
  if (names.length === 0) throw new Error(`no tests of rule ${rule}`);
  return names.map((name) => join(root, 'test/contract/rules', name));
}

const all = [
  ...rules.map((fault) => ({ kind: 'rules', label: `rule ${fault.rule}`, ...fault })),
  ...simulation.map((fault) => ({ kind: 'simulation', label: 'simulation', ...fault })),
];
const chosen = all.filter(({ kind, name }) => (values.only ?? kind) === kind && values.fault.some((part) => name.includes(part)));
if (values.list) {
  for (const { label, name, in: file, replace } of chosen) console.log(`${label}: ${name} (${replace} in ${file})`);
  process.exit(0);
}

async function start() {
  const vitest = await createVitest(
    'test',
    {
      root,
      watch: false,
      include: ['test/**/*.test.ts', 'test/system/planted/worlds.ts'],
      setupFiles: [join(folder, 'setup.ts')],
      maxWorkers: 1,
      bail: 1,
      pool: 'threads',
      testTimeout: 3000,
      reporters: [{}],
    },
    { plugins: [planted(root, all)] },
  );
  await vitest.standalone();
  return vitest;
}

/** Runs tests with a fault, or without one. Resolves with what failed. */
async function failuresOf(vitest, name, tests) {
  const project = vitest.getRootProject();
  vitest.provide('planted', name);
  vitest.provide('seeds', values.seeds === undefined ? undefined : Number(values.seeds));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    tests.map((file) => project.createSpecification(file)),
  );
  const failures = [];
  for (const module of testModules.filter(({ moduleId }) => tests.includes(moduleId))) {
    for (const error of module.errors()) failures.push({ isBroken: true, message: error.message });
    for (const test of module.children.allTests('failed')) {
      failures.push({ message: `${test.fullName}: ${test.result().errors[0]?.message.split('\n')[0]}` });
    }
  }
  return { failures, unhandledErrors };
}

const vitests = await Promise.all([start(), start()]);
const begunAt = performance.now();
const queue = chosen.values();
let missed = 0;
await Promise.all(
  vitests.map(async (vitest) => {
    for (const fault of queue) {
      const t = performance.now();
      const { failures } = await failuresOf(vitest, fault.name, testsOf(fault));
      console.log(fault.label, fault.name, failures[0], (performance.now() - t).toFixed(0));
    }
  }),
);
console.log(performance.now() - begunAt);
await Promise.all(vitests.map((vitest) => vitest.close()));
