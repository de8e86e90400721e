// npm run faults: what a cluster does when things go wrong, with real processes and real servers, or files. Six
// instances share a value with a period of one second; they, their server and the network between them are hit, and
// what they do is held against what tickless promises. Prints the figures; each is judged. The last line is
// `N passed, N failed`, counted by scenario and engine. Quarter of an hour; the first run installs drivers and servers.
//
//   --quick                  a quarter of the repetitions: two minutes
//   --engine <name>…         redis, postgres, mysql (a MariaDB), sqlite, file. Default: all. Servers side by side, then
//                            those without one; in a quick run all at once
//   --scenario <number>…     1 to 8. Default: all. What makes no sense with an engine is left out there, and said
//   --markdown <file>        the matrix of the figures, between its marks in there

import { scriptArguments } from './support/arguments.mjs';
import { faultMatrix } from './support/fault-matrix.mjs';
import { forkProgram } from './support/fork.mjs';
import { installDrivers, installServers } from './support/integration.mjs';
import { putBetweenMarks } from './support/marks.mjs';
import { printTable } from './support/table.mjs';

const SERVERS = ['redis', 'postgres', 'mysql'];
const ENGINES = [...SERVERS, 'sqlite', 'file'];
const SCENARIOS = [1, 2, 3, 4, 5, 6, 7, 8];
const isServer = (name) => SERVERS.includes(name);
/** Far beyond what a scenario takes: a hang must end in a failure. */
const SILENCE_MS = 10 * 60_000;
/** What a run that is told to end takes for its children and its server. */
const GRACE_MS = 10_000;

const numbers = SCENARIOS.map(String);
const { values } = scriptArguments({
  quick: { type: 'boolean', default: false },
  engine: { type: 'string', multiple: true, default: ENGINES, choices: ENGINES },
  scenario: { type: 'string', multiple: true, default: numbers, choices: numbers },
  markdown: { type: 'string' },
});

await installDrivers();
if (values.engine.some(isServer)) installServers();

const date = new Date().toISOString();
const begunAt = performance.now();
const verdicts = [];
/** Scenarios with engines where they make no sense. */
const leftOut = [];

/** As soon as it has failed: the run may not come to its end. */
function tellFailure({ version, scenario, title, figures, notes }) {
  const found = figures.filter(({ isBroken }) => isBroken);
  const told = found.map(({ label, value, bound }) => `${label}: ${value}, expected ${bound}`);
  const what = [...told, ...notes.slice(0, 1)].join('; ') || 'it did not end';
  console.log(`failed: ${version}, ${scenario} ${title}: ${what.replaceAll('\n', ' ')}`);
}

/** Runs the scenarios of one engine in a process of its own. Resolves with why it did not come to its end, if so. */
async function runEngine(engine) {
  const args = [engine, ...values.scenario.flatMap((number) => ['--scenario', number])];
  if (values.quick) args.push('--quick');
  const onMessage = (told) => {
    const about = `${told.version.padEnd(18)} ${told.scenario} ${told.title}`;
    if (told.leftOut !== undefined) {
      leftOut.push(told);
      console.log(`-    ${about}: left out, ${told.leftOut}`);
      return;
    }
    verdicts.push(told);
    console.log(`${told.isOk ? 'ok  ' : 'FAIL'} ${about} (${told.seconds.toFixed(0)} s)`);
    if (!told.isOk) tellFailure(told);
  };
  const options = { onMessage, silenceMs: SILENCE_MS, graceMs: GRACE_MS };
  const why = await forkProgram('test/system/integration/faults/main.ts', args, options);
  return why && `${engine}: ${why}`;
}

/** What was asked for beside all, as a command line has it. */
function options() {
  const named = (name, all) =>
    all.every((value) => values[name].includes(value))
      ? []
      : values[name].map((value) => `--${name} ${value}`);
  return [
    ...(values.quick ? ['--quick'] : []),
    ...named('engine', ENGINES),
    ...named('scenario', SCENARIOS.map(String)),
  ];
}

/** One table for each scenario: a column for each engine. */
function print(scenario) {
  const found = ENGINES.flatMap((engine) =>
    verdicts.filter((verdict) => verdict.engine === engine && verdict.scenario === scenario),
  );
  if (found.length === 0) return;
  const labels = [...new Set(found.flatMap(({ figures }) => figures.map(({ label }) => label)))];
  const rows = labels.map((label) => {
    const figures = found.map((verdict) => verdict.figures.find((figure) => figure.label === label));
    const bound = figures.find((figure) => figure?.bound !== undefined)?.bound ?? '';
    const cells = figures.map((figure) =>
      figure === undefined ? '-' : `${figure.isBroken ? 'FAIL ' : ''}${figure.value}`,
    );
    return [label, bound, ...cells];
  });
  console.log(`\n${scenario} ${found[0].title}`);
  printTable(['', 'bound', ...found.map(({ version }) => version)], rows);
  for (const { version, notes } of found) {
    for (const note of notes) console.log(`  ${version}: ${note}`);
  }
}

/** Runs those engines side by side. */
async function runEngines(engines) {
  const reasons = await Promise.all(engines.map(runEngine));
  return reasons.filter((reason) => reason !== undefined);
}

const groups = values.quick
  ? [values.engine]
  : [values.engine.filter(isServer), values.engine.filter((name) => !isServer(name))];
const broken = [];
for (const group of groups) broken.push(...(await runEngines(group)));
for (const scenario of SCENARIOS) print(scenario);
for (const reason of broken) console.log(`\nfailed: ${reason}`);
if (values.markdown !== undefined) {
  const seconds = (performance.now() - begunAt) / 1000;
  const run = {
    date,
    node: process.version,
    options: options(),
    seconds,
    engines: ENGINES.filter((name) => values.engine.includes(name)),
    verdicts,
    leftOut,
    broken,
  };
  await putBetweenMarks(values.markdown, 'matrix', faultMatrix(run));
}

const passed = verdicts.filter(({ isOk }) => isOk).length;
const failed = values.engine.length * values.scenario.length - leftOut.length - passed;
console.log(`\nin ${((performance.now() - begunAt) / 1000).toFixed(0)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || broken.length > 0 ? 1 : 0;
