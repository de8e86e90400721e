// Shows that the simulation finds bugs: plants each fault of simulation-faults.mjs into a copy, and runs one seed after
// the other until a rule does not hold. A fault that is not found within so many seeds fails the check.
//
//   node scripts/check-simulation.mjs            all faults
//   node scripts/check-simulation.mjs lease      those whose name holds that
//   --quick                                      begins with the seed that found it last: see simulation-seeds.json
//   --record                                     writes those seeds down
//   --seeds <n>                                  at most so many each. Default: 1000
//   --markdown <file>                            the table, also between the marks in there
//
// The same seeds are run without a fault too: what they see then is not the fault.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { simulationFaults } from './simulation-faults.mjs';
import { putBetweenMarks } from './support/marks.mjs';
import { plant } from './support/plant.mjs';
import { root } from './support/project.mjs';
import { runWorlds } from './support/simulation.mjs';

const PARALLEL = 2;
const PARTS = ['src', 'test/system/simulation', 'package.json', 'tsconfig.json'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '1000' },
    markdown: { type: 'string' },
  },
});
const seedsFile = join(root, 'scripts/simulation-seeds.json');
/** The seed that found a fault last, by the fault's name. */
const foundBy = JSON.parse(await readFile(seedsFile, 'utf8'));

/**
 * Runs seeds one after the other, until one of those rules does not hold. What else is seen is no find: it may be the
 * fault of the simulation.
 *
 * @returns {Promise<{ seed: number, violation?: { rule: unknown, message: string } }>} the last seed
 */
async function firstViolation(folder, rules, from, seeds) {
  let seed = from - 1;
  let violation;
  const why = await runWorlds(
    [String(from), '1', String(seeds), 'Infinity'],
    (verdict, end) => {
      seed = verdict.seed;
      if (!rules.includes(verdict.violation?.rule)) return;
      violation = verdict.violation;
      end();
    },
    folder,
  );
  if (why !== undefined) console.log(`seed ${seed + 1}: ${why}`);
  return { seed, violation };
}

async function search(fault) {
  const copy = await plant(fault, PARTS);
  try {
    const known = values.quick ? foundBy[fault.name] : undefined;
    if (known !== undefined) {
      const again = await firstViolation(copy, fault.rules, known, 1);
      if (again.violation !== undefined) return again;
    }
    return await firstViolation(copy, fault.rules, 1, Number(values.seeds));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const chosen = simulationFaults.filter(({ name }) => positionals.every((part) => name.includes(part)));
const found = new Map();
const queue = chosen.values();
await Promise.all(
  Array.from({ length: PARALLEL }, async () => {
    for (const fault of queue) found.set(fault, await search(fault));
  }),
);

const head = ['planted fault', 'found after', 'rule', 'what was seen'];
const rows = chosen.map((fault) => {
  const { seed, violation } = found.get(fault);
  if (violation === undefined) return [fault.name, `not in ${seed}`, '', ''];
  return [fault.name, `${seed} ${seed === 1 ? 'seed' : 'seeds'}`, String(violation.rule), violation.message];
});
const table = new Table({
  head,
  colWidths: [46, 13, 9, 60],
  wordWrap: true,
  style: { head: [], border: [] },
});
table.push(...rows);
console.log(table.toString());
if (values.markdown !== undefined) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const lines = [line(head), line(head.map(() => '---')), ...rows.map(line)];
  await putBetweenMarks(values.markdown, 'simulation', lines.join('\n'));
}

if (values.record) {
  for (const [{ name }, { seed, violation }] of found) if (violation !== undefined) foundBy[name] = seed;
  const seeds = simulationFaults.flatMap(({ name }) => (name in foundBy ? [[name, foundBy[name]]] : []));
  await writeFile(seedsFile, `${JSON.stringify(Object.fromEntries(seeds), undefined, 2)}\n`);
}

/** What the sound code shows on the seeds that were run: nothing, or the fault was not what was seen. */
async function soundRuns(seeds) {
  const seen = [];
  for (const [from, count] of seeds) {
    const why = await runWorlds([String(from), '1', String(count), 'Infinity'], ({ seed, violation }) => {
      if (violation !== undefined) seen.push(`seed ${seed}: rule ${violation.rule}: ${violation.message}`);
    });
    if (why !== undefined) seen.push(why);
  }
  return seen;
}

const all = [...found.values()];
const seedsRun = all.map(({ seed }) => seed);
const unsound = await soundRuns(
  values.quick ? [...new Set(seedsRun)].map((seed) => [seed, 1]) : [[1, Math.max(...seedsRun)]],
);
for (const line of unsound) console.log(`without a fault: ${line}`);
const missed = all.filter(({ violation }) => violation === undefined);
console.log(`${all.length - missed.length} of ${all.length} planted faults found by the simulation`);
process.exitCode = missed.length + unsound.length > 0 ? 1 : 0;
