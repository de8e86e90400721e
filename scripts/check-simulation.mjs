// Shows that the simulation finds bugs: plants each fault of simulation-faults.mjs into a copy, and runs one seed after
// the other until a rule does not hold. A fault that is not found within so many seeds fails the check.
//
//   node scripts/check-simulation.mjs            all faults
//   node scripts/check-simulation.mjs lease      those whose name holds that
//   --seeds <n>                                  at most so many each. Default: 400
//   --markdown <file>                            the table, also between the marks in there
//
// The same seeds are run without a fault too: what they see then is not the fault.

import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { simulationFaults } from './simulation-faults.mjs';
import { putBetweenMarks } from './support/marks.mjs';
import { plant } from './support/plant.mjs';
import { runWorlds } from './support/simulation.mjs';

const PARALLEL = 2;
const PARTS = ['src', 'test/simulation', 'package.json', 'tsconfig.json'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: 'string', default: '400' }, markdown: { type: 'string' } },
});

/** @returns {Promise<{ seeds: number, violation?: { rule: unknown, message: string } }>} */
async function search(fault) {
  const copy = await plant(fault, PARTS);
  let seeds = 0;
  let violation;
  try {
    const why = await runWorlds(
      ['1', '1', values.seeds, 'Infinity'],
      (verdict, end) => {
        seeds += 1;
        violation = verdict.violation;
        if (violation !== undefined) end();
      },
      copy,
    );
    // A world that hangs or breaks down has shown it too.
    if (why !== undefined) violation = { rule: 'rest', message: why };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return { seeds, violation };
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
  const { seeds, violation } = found.get(fault);
  if (violation === undefined) return [fault.name, `not in ${seeds}`, '', ''];
  return [
    fault.name,
    `${seeds} ${seeds === 1 ? 'seed' : 'seeds'}`,
    String(violation.rule),
    violation.message,
  ];
});
const table = new Table({
  head,
  colWidths: [46, 13, 7, 60],
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

/** What the sound code shows on the seeds that have found something: nothing, or the fault was not what was seen. */
async function soundRuns(seeds) {
  const seen = [];
  const why = await runWorlds(['1', '1', String(seeds), 'Infinity'], ({ seed, violation }) => {
    if (violation !== undefined) seen.push(`seed ${seed}: rule ${violation.rule}: ${violation.message}`);
  });
  return why === undefined ? seen : [...seen, why];
}

const all = [...found.values()];
const unsound = await soundRuns(Math.max(...all.map(({ seeds }) => seeds)));
for (const line of unsound) console.log(`without a fault: ${line}`);
const missed = all.filter(({ violation }) => violation === undefined);
console.log(`${all.length - missed.length} of ${all.length} planted faults found by the simulation`);
process.exitCode = missed.length + unsound.length > 0 ? 1 : 0;
