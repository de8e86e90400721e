// npm run bench, bench:scale, bench:plot, bench:cluster, bench:load, and the gate for speed: prepares what the first argument names of
// bench/, and runs it. What stands behind that is passed on, where it takes arguments.

import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { orEnd, parsed } from './support/arguments.mjs';
import { installDrivers, installServers } from './support/integration.mjs';
import { npm, root } from './support/project.mjs';

/** Those that take arguments refuse what they don't know. */
const TAKES_ARGUMENTS = { main: true, scale: true, plot: true, 'cluster/main': true };
const PROGRAMS = [...Object.keys(TAKES_ARGUMENTS), 'compare', 'gate', 'jwks', 'load'];
const [name = 'main', ...rest] = process.argv.slice(2);
const most = TAKES_ARGUMENTS[name] ? Infinity : 0;
orEnd(() => {
  parsed({}, { name: 'program', choices: PROGRAMS }, [name]);
  parsed({}, { name: `argument of ${name}`, most }, most === 0 ? rest : []);
});
const runNode = (...args) => spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;

/** When a file was written; 0: it is missing. */
const writtenAt = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Builds tickless, and installs the peers of bench/package.json. */
function prepareWithPeers() {
  if (runNode(join(root, 'scripts/build.mjs')) !== 0) process.exit(1);
  if (writtenAt('bench/node_modules/.package-lock.json') >= writtenAt('bench/package-lock.json')) return;
  const [file, ...args] = npm(['ci', '--prefix', join(root, 'bench')]);
  execFileSync(file, args, { stdio: 'inherit' });
}

async function prepareServers() {
  await installDrivers();
  installServers();
}

try {
  await (name === 'cluster/main' ? prepareServers : prepareWithPeers)();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
/** Room for what a million reads allocate, so that no collection falls between two looks at the heap. */
const youngGeneration = ['--min-semi-space-size=64', '--max-semi-space-size=64'];
const program = ['--import', import.meta.resolve('tsx'), join(root, 'bench', `${name}.ts`)];
process.exitCode = runNode('--expose-gc', ...youngGeneration, ...program, ...rest);
