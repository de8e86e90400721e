// How long `import 'tickless'` takes, to how long the five dependencies that it imports take: the least of 21 fresh
// processes each, in turns, since what else runs on the machine only ever adds. Needs `npm run build` first. The target
// is 1.3; the check has room, for a busy machine.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { root } from './support/project.mjs';

scriptArguments();

const RUNS = 21;
const MOST = 2;
/** Imported by stores, or by what compares values, only. */
const NOT_IMPORTED = ['@noble/hashes', 'devalue', 'fast-equals'];
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Milliseconds of processor time, which a busy machine lengthens less than the time on the clock. */
function timeOf(modules) {
  const program = `const before = process.cpuUsage();
    for (const name of ${JSON.stringify(modules)}) await import(name);
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}

const times = { ours: [], theirs: [] };
for (let run = 0; run < RUNS; run++) {
  times.theirs.push(timeOf(Object.keys(dependencies).filter((name) => !NOT_IMPORTED.includes(name))));
  times.ours.push(timeOf(['tickless']));
}
const ours = Math.min(...times.ours);
const theirs = Math.min(...times.theirs);
const ratio = ours / theirs;
console.log(
  `${ours.toFixed(1)} ms, the five dependencies ${theirs.toFixed(1)} ms: ` +
    `${ratio.toFixed(2)} times theirs (target 1.3, at most ${MOST})`,
);
process.exitCode = ratio <= MOST ? 0 : 1;
