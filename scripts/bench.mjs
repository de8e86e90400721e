// npm run bench: builds tickless, installs the peers of bench/package.json, and runs bench/main.ts.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Room for what a million reads allocate, so that no collection falls between two looks at the heap. */
const YOUNG_GENERATION = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

execFileSync(process.execPath, [path('build.mjs')], { stdio: 'inherit' });
if (!existsSync(path('../bench/node_modules/.package-lock.json'))) {
  execFileSync('npm', ['ci', '--prefix', path('../bench')], { stdio: 'inherit' });
}
const args = [
  '--expose-gc',
  ...YOUNG_GENERATION,
  '--import',
  import.meta.resolve('tsx'),
  path('../bench/main.ts'),
];
try {
  execFileSync(process.execPath, [...args, ...process.argv.slice(2)], { stdio: 'inherit' });
} catch (error) {
  process.exit(error.status ?? 1);
}
