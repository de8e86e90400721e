// npm run bench, bench:scale, bench:plot: builds tickless, installs the peers of bench/package.json, and runs what the
// first argument names of bench/.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchArguments } from './support/bench.mjs';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));

const [name = 'main', ...rest] = process.argv.slice(2);

/** When a file was written; 0: it is not there. */
const writtenAt = (file) => statSync(path(file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

execFileSync(process.execPath, [path('build.mjs')], { stdio: 'inherit' });
if (writtenAt('../bench/node_modules/.package-lock.json') < writtenAt('../bench/package-lock.json')) {
  execFileSync('npm', ['ci', '--prefix', path('../bench')], { stdio: 'inherit' });
}
try {
  execFileSync(process.execPath, [...benchArguments(name), ...rest], { stdio: 'inherit' });
} catch (error) {
  process.exit(error.status ?? 1);
}
