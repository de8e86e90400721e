// npm run test:integration: the tests with real servers (test/system/integration).
//
//   node scripts/integration.mjs               all of them
//   node scripts/integration.mjs conformance   those of the files whose path holds that
//
// Installs what they need where it is missing, checks their types, and runs them; the servers are started by
// test/system/integration/support/global-setup.ts. The last line is `N passed, N failed`.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { folder, installDrivers, installServers, report } from './support/integration.mjs';
import { root, tool } from './support/project.mjs';

function succeeds([file, ...args]) {
  const { status } = spawnSync(file, args, { cwd: root, stdio: 'inherit' });
  return status === 0;
}

function end(passed, failed) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

mkdirSync(dirname(report), { recursive: true });
rmSync(report, { force: true }); // an old one must not be counted
try {
  await installDrivers();
  installServers();
} catch (error) {
  console.error(error.message);
  end(0, 1);
}
// Apart from the rest, whose types are checked without the drivers.
if (!succeeds(tool('typescript', ['-p', folder], 'tsc'))) end(0, 1);

const isGreen = succeeds(
  tool('vitest', [
    'run',
    '--project=integration',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ]),
);
try {
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
  // A run may go wrong outside of a test: an error that nobody has handled.
  end(numPassedTests, isGreen ? numFailedTests : Math.max(1, numFailedTests));
} catch {
  end(0, 1);
}
