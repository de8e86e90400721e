// Plants faults into the code, one at a time, and demands that tests see each: those of its rule, or the simulation in the
// worlds that are recorded with it (test/system/planted). Without a fault the same tests must be green.
//
//   --only <kind>      rules or simulation
//   --fault <text>…    those whose names hold one of these, with what has seen them
//   --seeds <n>        simulation: the worlds 1 to n instead, up to the first that sees the fault
//   --markdown <file>  simulation: the table, between the marks in there
//   --list             names them, and runs nothing
//
// A fault whose function is no longer there has failed. Any change of src may change what happens in a world: if the
// recorded worlds no longer see a fault, the worlds 1 to 300 are searched, and the first that does is named. The last line is `N passed, N failed`, counted by fault; the run
// without one counts too.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { createVitest } from 'vitest/node';
import { scriptArguments } from './support/arguments.mjs';
import { putBetweenMarks } from './support/marks.mjs';
import { root } from './support/project.mjs';

const PARALLEL = 2;
/** A fault must not hang the run: the slowest takes a few seconds, and so does a world. */
const HANGS_MS = 300_000;
/** The worlds that are searched for a fault that the recorded ones no longer see. */
const SEARCHED = Array.from({ length: 300 }, (_, index) => index + 1);
/** What a world has seen. */
const WORLD = /seed (\d+): rule (\w+): /;
/** By test/support/hang-watch. */
const KILLED = /^\[vitest-pool\]: Worker forks emitted error/;
/** A fault that names what is no longer there: what failed is the fault, not the code. */
const BROKEN = /is not a function|Cannot (read|set) propert/;

const { values } = scriptArguments({
  only: { type: 'string', choices: ['rules', 'simulation'] },
  fault: { type: 'string', multiple: true },
  seeds: { type: 'string', number: 'a whole number over 0' },
  markdown: { type: 'string' },
  list: { type: 'boolean', default: false },
});

const folder = join(root, 'test/system/planted');
const [{ rules }, { simulation }, { planted, problemOf }] = await Promise.all(
  ['rules', 'simulation', 'plugin'].map((name) => tsImport(join(folder, `${name}.ts`), import.meta.url)),
);
const testsOfRules = readdirSync(join(root, 'test/contract/rules'));
function testsOf(rule) {
  const names = testsOfRules.filter((name) => name.startsWith(`rule-${String(rule).padStart(2, '0')}-`));
  return names.map((name) => join(root, 'test/contract/rules', name));
}

const upTo = Array.from({ length: Number(values.seeds ?? 0) }, (_, index) => index + 1);
const worlds = [join(folder, 'worlds.ts')];
const all = [
  ...rules.map((fault) => ({
    ...fault,
    kind: `rule ${fault.rule}: `,
    tests: testsOf(fault.rule),
    seeds: [],
  })),
  ...simulation.map((fault) => ({ ...fault, kind: 'simulation: ', tests: worlds })),
].map((fault) => ({ ...fault, name: fault.kind + fault.name }));
const prefix = { rules: 'rule ', simulation: 'simulation: ' }[values.only] ?? '';
const chosen = all.filter(
  ({ name }) => name.startsWith(prefix) && (values.fault ?? ['']).some((text) => name.includes(text)),
);
for (const text of values.fault ?? []) {
  if (chosen.some(({ name }) => name.includes(text))) continue;
  console.error(`--fault: no fault has ${JSON.stringify(text)} in its name (--list names them)`);
  process.exit(2);
}
if (values.list) {
  for (const { name, replace } of chosen) console.log(`${name} (${replace})`);
  process.exit();
}

const total = { passed: 0, failed: 0 };
/** Of each rule the worlds that have seen a fault. */
const worldsOf = {};
function tell({ name }, isPassed, verdict, why = '') {
  total[isPassed ? 'passed' : 'failed'] += 1;
  console.log(`${isPassed ? '' : 'failed: '}${verdict.padEnd(8)}  ${name}`);
  if (why !== '' && (!isPassed || values.fault !== undefined)) console.log(`          ${why}`);
  const [, seed, rule] = WORLD.exec(why) ?? [];
  if (seed !== undefined) worldsOf[rule] = [...(worldsOf[rule] ?? []), Number(seed)];
}

async function startVitest(faults) {
  const options = {
    root,
    watch: false,
    include: ['test/**/*.test.ts', ...worlds],
    setupFiles: [join(folder, 'setup.ts')],
    pool: 'forks', // one that a fault blocks is killed
    maxWorkers: 1,
    bail: 1,
    reporters: [{}],
  };
  const vitest = await createVitest('test', options, { plugins: [planted(root, faults)] });
  await vitest.standalone();
  return vitest;
}

/** Runs tests up to the first failure. Resolves with that; rejects where the tests can't be run. */
async function firstFailure(vitest, task) {
  const { kind, name, isSound, tests, seeds } = task;
  const hangs = () => {
    tell(task, false, 'HANGS', 'what comes after it was not run');
    console.log(`${total.passed} passed, ${total.failed} failed`);
    process.exit(1);
  };
  const watchdog = setTimeout(hangs, HANGS_MS + (seeds.length * HANGS_MS) / 30);
  vitest.provide('planted', isSound ? undefined : name);
  vitest.provide('seeds', seeds);
  const files = tests.map((file) => vitest.getRootProject().createSpecification(file));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(files);
  clearTimeout(watchdog);
  if (unhandledErrors.some((error) => KILLED.test(error.message)))
    return 'a test that blocks its process, see above';
  const modules = testModules.filter(({ moduleId }) => tests.includes(moduleId));
  for (const module of modules) for (const { message } of module.errors()) throw new Error(message);
  const [failed] = modules.flatMap((module) => [...module.children.allTests('failed')]);
  const why = failed && `${failed.fullName}: ${failed.result().errors[0]?.message.split('\n')[0]}`;
  if (BROKEN.test(why) || (kind === 'simulation: ' && failed && !WORLD.test(why))) throw new Error(why);
  return why;
}

/** As {@link firstFailure}, in other worlds than the recorded ones. One that does not hold without the fault is no find. */
async function search(vitest, task) {
  const failure = await firstFailure(vitest, { ...task, seeds: SEARCHED });
  const seed = Number(WORLD.exec(failure)?.[1]);
  if (failure === undefined) return undefined;
  const without = await firstFailure(vitest, { ...task, isSound: true, seeds: [seed] });
  if (without !== undefined) throw new Error(`without the fault too: ${without}`);
  console.log(`the fault below is seen in world ${seed}, and no longer in ${task.seeds.join(', ')}`);
  return failure;
}

async function run(vitest, task) {
  const isSearched = !task.isSound && task.seeds.length > 0 && values.seeds === undefined;
  try {
    let failure = await firstFailure(vitest, task);
    if (failure === undefined && isSearched) failure = await search(vitest, task);
    const isRed = failure !== undefined;
    if (task.isSound) tell(task, !isRed, isRed ? 'RED' : 'green', failure);
    else tell(task, isRed, isRed ? 'seen' : 'NOT SEEN', failure);
  } catch (error) {
    tell(task, false, 'BROKEN', error.message);
  }
}

const faults = [];
for (const fault of all) {
  const problem = await problemOf(root, fault);
  if (problem === undefined) faults.push(fault);
  else if (chosen.includes(fault)) tell(fault, false, 'STALE', problem);
}
const tasks = faults.filter((fault) => chosen.includes(fault));
const union = (field) => [...new Set(tasks.flatMap((fault) => fault[field]))];
const sound = { name: 'no fault', isSound: true, tests: union('tests'), seeds: union('seeds') };
const queue = [sound, ...tasks.map((task) => ({ ...task, ...(values.seeds && { seeds: upTo }) }))].values();
const vitests = await Promise.all(Array.from({ length: PARALLEL }, () => startVitest(faults)));
await Promise.all(
  vitests.map(async (vitest) => {
    for (const task of queue) await run(vitest, task);
    await vitest.close();
  }),
);
if (values.markdown !== undefined) {
  const head = ['| rule | faults seen | last world needed |', '| --- | ---: | ---: |'];
  const rows = Object.keys(worldsOf).map((rule) => {
    return `| ${rule} | ${worldsOf[rule].length} | ${Math.max(...worldsOf[rule])} |`;
  });
  await putBetweenMarks(values.markdown, 'simulation', [...head, ...rows].join('\n'));
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
