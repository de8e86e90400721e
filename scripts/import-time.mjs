// How long `import 'tickless'` takes, to how long the dependencies that it imports take: the median of the ratios of fresh
// processes, in turns, seven for each figure that medians.mjs compares. Needs `npm run build` first. The target is 1.5; the check has room.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { medianOf, medians } from './support/medians.mjs';
import { root } from './support/project.mjs';

scriptArguments();

const RUNS = 7;
const MOST = 2.8;
/** Imported by stores, by what compares values, or by `tickless/calendar` only. */
const NOT_IMPORTED = ['@noble/hashes', 'devalue', 'fast-equals', 'luxon', 'croner'];
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

const imported = Object.keys(dependencies).filter((name) => !NOT_IMPORTED.includes(name));
/** The median of some ratios of two processes that follow each other. */
const measure = () => {
  const ratios = Array.from({ length: RUNS }, () => timeOf(['tickless']) / timeOf(imported));
  return [{ figure: medianOf(ratios), most: MOST }];
};
const [{ figure: ratio }] = await medians(measure);
console.log(
  `${ratio.toFixed(2)} times the ${imported.length} dependencies that it imports (target 1.5, at most ${MOST})`,
);
process.exitCode = ratio <= MOST ? 0 : 1;
