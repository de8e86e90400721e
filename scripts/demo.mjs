// npm run demo: builds tickless and runs demo/main.ts with it.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';

const build = fileURLToPath(new URL('build.mjs', import.meta.url));
execFileSync(process.execPath, [build], { stdio: 'inherit' });
register();
await import('../demo/main.ts');
