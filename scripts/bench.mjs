// npm run bench, bench:scale, bench:plot: builds tickless, installs the peers of bench/package.json, and runs what the
// first argument names of bench/.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Room for what a million reads allocate, so that no collection falls between two looks at the heap. */
const YOUNG_GENERATION = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

const [name = 'main', ...rest] = process.argv.slice(2);

/** When a file was written; 0: it is not there. */
const writtenAt = (file) => statSync(path(file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

execFileSync(process.execPath, [path('build.mjs')], { stdio: 'inherit' });
if (writtenAt('../bench/node_modules/.package-lock.json') < writtenAt('../bench/package-lock.json')) {
  execFileSync('npm', ['ci', '--prefix', path('../bench')], { stdio: 'inherit' });
}
const args = [
  '--expose-gc',
  ...YOUNG_GENERATION,
  '--import',
  import.meta.resolve('tsx'),
  path(`../bench/${name}.ts`),
];
try {
  execFileSync(process.execPath, [...args, ...rest], { stdio: 'inherit' });
} catch (error) {
  process.exit(error.status ?? 1);
}
