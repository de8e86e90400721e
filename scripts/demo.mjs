// npm run demo: runs examples/demo/main.ts on the built package. Its cluster needs PostgreSQL and a driver, which are
// packages of test/system/integration.

import { register } from 'tsx/esm/api';
import { installDrivers } from './support/integration.mjs';

register();
if (process.argv.includes('--cluster')) await installDrivers();
await import('../examples/demo/main.ts');
