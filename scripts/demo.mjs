// npm run demo: builds tickless and runs demo/main.ts with it.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';
import { installDrivers } from './support/integration.mjs';

const build = fileURLToPath(new URL('build.mjs', import.meta.url));
execFileSync(process.execPath, [build], { stdio: 'inherit' });
register();
// The cluster needs PostgreSQL and its driver, which are packages of test/system/integration.
if (process.argv.includes('--cluster')) await installDrivers();
await import('../demo/main.ts');
