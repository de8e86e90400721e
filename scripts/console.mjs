// Runs the tests of the console in a real Chromium: Debian's, driven by playwright-core, which is a package of
// test/system/console; one of them on a redis-server of its own.
//
//   node scripts/console.mjs                    all of them
//   node scripts/console.mjs --pictures docs/…  and puts the pictures of the documents into that folder
//   node scripts/console.mjs -t 'keyboard'      those with that name; other options of Vitest likewise
//
// TICKLESS_CHROMIUM names another Chromium than /usr/bin/chromium.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { canInstallPackages, installPackages } from './support/debian.mjs';
import { npm, root, vitest } from './support/project.mjs';
import { run } from './support/run.mjs';

const folder = join(root, 'test/system/console');
const program = process.env.TICKLESS_CHROMIUM ?? '/usr/bin/chromium';

/** The versions that are wanted, or installed. */
const versions = (file) => {
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  return JSON.stringify(
    Object.entries(packages).flatMap(([name, { version }]) => (name ? [name, version] : [])),
  );
};

async function installPackagesOfTests() {
  const installed = join(folder, 'node_modules/.package-lock.json');
  if (existsSync(installed) && versions(installed) === versions(join(folder, 'package-lock.json'))) return;
  console.log('installs playwright-core and axe-core into test/system/console');
  const { code, output } = await run(npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund']), {
    cwd: folder,
  });
  if (code !== 0) throw new Error(`npm ci failed in test/system/console:\n${output}`);
}

const isRedisThere = spawnSync('redis-server', ['--version']).status === 0;
const missing = [...(existsSync(program) ? [] : ['chromium']), ...(isRedisThere ? [] : ['redis-server'])];
if (missing.length > 0) {
  if (!canInstallPackages()) throw new Error(`${missing.join(' and ')} missing: install them first`);
  console.log(`installs ${missing.join(' and ')} with apt-get`);
  installPackages(missing);
}
await installPackagesOfTests();

const args = process.argv.slice(2);
const at = args.indexOf('--pictures');
const [, pictures] = at < 0 ? [] : args.splice(at, 2);
const [node, ...command] = vitest('--project=console', '--reporter=default', ...args);
const env = { ...process.env, ...(pictures === undefined ? {} : { TICKLESS_PICTURES: resolve(pictures) }) };
const { status } = spawnSync(node, command, { cwd: root, stdio: 'inherit', env });
process.exit(status ?? 1);
