// npm run demo: runs examples/demo/main.ts on the built package. Its cluster needs PostgreSQL and a driver, which are
// packages of examples/demo/cluster/packages.

import { join } from 'node:path';
import { register } from 'tsx/esm/api';
import { installApart } from './support/apart.mjs';
import { linkPostgres } from './support/postgres.mjs';
import { root } from './support/project.mjs';

register();
if (process.argv.includes('--cluster'))
  await installApart(join(root, 'examples/demo/cluster/packages'), linkPostgres);
await import('../examples/demo/main.ts');
