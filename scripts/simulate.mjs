// npm run simulate: whole clusters in virtual time, three from each seed, and the rules of the design after each step
// (test/system/simulation). What fails can be run again: the same seed is the same worlds.
//
//   --seed <n>      that one, with traces of all that happened: the scenario, and --last <lines>. Default: 150
//   --seeds <n>     so many. Default: 500
//   --from <n>      the first of them. Default: a random one
//   --ci            the seeds 1 to 120: the gate says the same of the same commit. Fresh ones by hand: 1 in 200 may find something
//
// The last line is `N passed, N failed`, counted by seed.

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { forkProgram } from './support/fork.mjs';

/** Within a minute or so, on two processors that are busy. */
const SEEDS_OF_CI = 120;
/** Seeds are below that. */
const HIGHEST = 2 ** 31;
const PROGRESS_MS = 10_000;
/** A world that hangs must not hang the run: the slowest takes a few seconds. */
const SILENCE_MS = 120_000;
/** Processes. */
const JOBS = 2;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '500' },
    from: { type: 'string' },
    last: { type: 'string', default: '150' },
    ci: { type: 'boolean', default: false },
  },
});

const begunAt = performance.now();
const secondsPassed = () => (performance.now() - begunAt) / 1000;
const total = { passed: 0, failed: 0, steps: 0, loads: 0, lasted: 0 };

function count({ seed, violation, steps, loads, lasted }) {
  total.steps += steps;
  total.loads += loads;
  total.lasted += lasted;
  if (violation === undefined) {
    total.passed += 1;
    return;
  }
  total.failed += 1;
  console.log(`seed ${seed}: rule ${violation.rule}: ${violation.message}`);
  console.log(`    npm run simulate -- --seed ${seed}`);
}

const runWorlds = (args, onMessage) =>
  forkProgram('test/system/simulation/main.ts', args, { onMessage, silenceMs: SILENCE_MS });

async function runSeeds(from, seeds, seconds) {
  const jobs = Math.min(JOBS, seeds);
  const ends = Array.from({ length: jobs }, (_, job) => {
    const ofJob = Math.ceil((seeds - job) / jobs);
    return runWorlds([from + job, jobs, ofJob, seconds].map(String), count);
  });
  for (const why of await Promise.all(ends)) {
    if (why === undefined) continue;
    total.failed += 1;
    console.log(`a process did not come to its end: ${why}`);
  }
}

async function replay(seed) {
  const why = await runWorlds(['--trace', String(seed)], (verdict) => {
    for (const [scenario, ...lines] of verdict.traces) {
      console.log([scenario, ...lines.slice(-Number(values.last))].join('\n'));
    }
    count(verdict);
  });
  if (why !== undefined) throw new Error(why);
}

const told = setInterval(() => {
  const { passed, failed } = total;
  console.log(`${secondsPassed().toFixed(0)} s: ${passed} seeds hold, ${failed} do not`);
}, PROGRESS_MS);
if (values.seed !== undefined) {
  await replay(Number(values.seed));
} else if (values.ci) {
  await runSeeds(1, SEEDS_OF_CI, Infinity);
} else {
  await runSeeds(Number(values.from ?? randomInt(HIGHEST / 2)), Number(values.seeds), Infinity);
}
clearInterval(told);
const { steps, loads, lasted, passed, failed } = total;
const hours = (lasted / 3_600_000).toFixed(1);
console.log(`${hours} virtual hours, ${steps} steps, ${loads} loads in ${secondsPassed().toFixed(0)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
