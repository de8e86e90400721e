// npm run bench:cluster: what rounds cost a Redis, a PostgreSQL and a MariaDB, and a stampede of workers on a Redis, with
// tickless beside other strategies (bench/cluster). Three minutes; the first run installs drivers and servers.
//
//   --rounds <number>     that are counted for each engine and number of instances. Default: 6
//   --seconds <number>    for each strategy. Default: 14
//   --json <file>         the figures, also there

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { installDrivers, installServers } from './support/integration.mjs';
import { root } from './support/project.mjs';

try {
  await installDrivers();
  installServers();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const args = ['--import', import.meta.resolve('tsx'), join(root, 'bench/cluster/main.ts')];
try {
  execFileSync(process.execPath, [...args, ...process.argv.slice(2)], { stdio: 'inherit' });
} catch (error) {
  process.exit(error.status ?? 1);
}
