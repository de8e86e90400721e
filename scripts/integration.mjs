// npm run test:integration: the tests with real servers (test/system/integration).
//
//   node scripts/integration.mjs               all of them
//   node scripts/integration.mjs conformance   those of the files whose path holds that
//
// Installs what they need where it is missing, checks their types, and runs them; the servers are started by
// test/system/integration/support/global-setup.ts. The last line is `N passed, N failed`.

import { spawnSync } from 'node:child_process';
import { checkFilters, leading, orEnd } from './support/arguments.mjs';
import { ETCD, folder, installDrivers, installServers, PGBOUNCER } from './support/integration.mjs';
import { root, tool, vitest } from './support/project.mjs';

const succeeds = ([file, ...args]) => spawnSync(file, args, { cwd: root, stdio: 'inherit' }).status === 0;

function fail(message = '') {
  console.log(`${message}\n0 passed, 1 failed`);
  process.exit(1);
}

const given = process.argv.slice(2);
orEnd(() => checkFilters('test/system/integration', leading(given)));
try {
  await installDrivers();
  installServers(ETCD, PGBOUNCER);
} catch (error) {
  fail(error.message);
}
// Apart from the rest, whose types are checked without the drivers.
if (!succeeds(tool('typescript', ['-p', folder], 'tsc'))) fail();
const args = ['--project=integration', '--reporter=default', ...given];
process.exitCode = succeeds(vitest(...args)) ? 0 : 1;
