// Runs the tests of the console in a real browser: Debian's Chromium or Firefox, driven by playwright-core, which is a package of
// test/system/console; one of them on a redis-server of its own.
//
//   node scripts/console.mjs                    all of them, in Chromium
//   node scripts/console.mjs --firefox          the same in Firefox, by WebDriver BiDi; without those that need the traces of Chromium
//   node scripts/console.mjs --firefox --brief  those of them that need a minute in all
//   node scripts/console.mjs --pictures docs/…  and puts the pictures of the documents into that folder
//   node scripts/console.mjs -t 'keyboard'      those with that name; other options of Vitest likewise
//
// TICKLESS_CHROMIUM names another Chromium than /usr/bin/chromium, TICKLESS_FIREFOX another Firefox than /usr/bin/firefox-esr.
// The version of playwright-core is the last one that drives Firefox ESR 153: later ones need a command that it does not know.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkFilters, leading, orEnd } from './support/arguments.mjs';
import { canInstallPackages, installPackages } from './support/debian.mjs';
import { npm, root, vitest } from './support/project.mjs';
import { run } from './support/run.mjs';

const folder = join(root, 'test/system/console');

const args = process.argv.slice(2);
/** Takes an option out of the arguments. @returns it with its values; empty: it is not given. */
function taken(option, values) {
  const at = args.indexOf(option);
  return at < 0 ? [] : args.splice(at, 1 + values);
}
const isFirefox = taken('--firefox', 0).length > 0;
const isBrief = taken('--brief', 0).length > 0;
const [, pictures] = taken('--pictures', 1);
orEnd(() => checkFilters('test/system/console', leading(args)));
const browser = isFirefox
  ? {
      name: 'firefox',
      program: process.env.TICKLESS_FIREFOX ?? '/usr/bin/firefox-esr',
      debian: 'firefox-esr',
    }
  : { name: 'chromium', program: process.env.TICKLESS_CHROMIUM ?? '/usr/bin/chromium', debian: 'chromium' };

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
const missing = [
  ...(existsSync(browser.program) ? [] : [browser.debian]),
  ...(isRedisThere ? [] : ['redis-server']),
];
if (missing.length > 0) {
  if (!canInstallPackages()) throw new Error(`${missing.join(' and ')} missing: install them first`);
  console.log(`installs ${missing.join(' and ')} with apt-get`);
  installPackages(missing);
}
await installPackagesOfTests();

const [node, ...command] = vitest('--project=console', '--reporter=default', ...args);
const env = {
  ...process.env,
  TICKLESS_BROWSER: browser.name,
  ...(isBrief ? { TICKLESS_BRIEF: 'yes' } : {}),
  ...(pictures === undefined ? {} : { TICKLESS_PICTURES: resolve(pictures) }),
};
const { status } = spawnSync(node, command, { cwd: root, stdio: 'inherit', env });
process.exit(status ?? 1);
