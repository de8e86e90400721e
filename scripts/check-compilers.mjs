// Compiles the locks and stores of all drivers (test/system/integration/compilers) against the built package with TypeScript
// 5.4, 5.9 and that of this repository. Installs the earlier versions and the drivers where they are missing.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { installDrivers } from './support/integration.mjs';
import { npm, root } from './support/project.mjs';

scriptArguments();

const compilers = join(root, 'test/system/compilers');
const run = ([file, ...args]) => spawnSync(file, args, { cwd: root, encoding: 'utf8' });

await installDrivers();
const earlier = ['typescript-5.4', 'typescript-5.9'].map((name) => join(compilers, 'node_modules', name));
if (!earlier.every((folder) => existsSync(folder))) {
  const { status, stderr } = run(npm(['ci', '--ignore-scripts', '--prefix', compilers]));
  if (status !== 0) throw new Error(stderr);
}

let failed = 0;
const folders = [...earlier, join(root, 'node_modules/typescript')];
/** The second one with the types of Cloudflare in the place of those of Node. */
const projects = ['test/system/integration/compilers', 'test/system/integration/compilers/workers'];
for (const folder of folders) {
  const tsc = [process.execPath, join(folder, 'bin/tsc')];
  const { stdout: version } = run([...tsc, '--version']);
  const errors = projects.map((project) => run([...tsc, '-p', project])).filter(({ status }) => status !== 0);
  const text = errors.length === 0 ? 'compiles' : `errors\n${errors.map(({ stdout }) => stdout).join('')}`;
  const verdict = errors.length === 0 ? '' : 'failed: ';
  console.log(`${verdict}${version.trim().replace('Version', 'TypeScript')}: ${text}`);
  if (errors.length > 0) failed += 1;
}
console.log(`${folders.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
