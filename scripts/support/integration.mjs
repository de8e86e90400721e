// What the tests with real servers need beside the project's own packages: the drivers, PostgreSQL, workerd and Node 24, which
// are packages of test/system/integration, and redis-server, MariaDB, etcd and PgBouncer, which are packages of the system.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canInstallPackages, installPackages } from './debian.mjs';
import { linkPostgres } from './postgres.mjs';
import { npm, root } from './project.mjs';
import { run } from './run.mjs';

export const folder = join(root, 'test/system/integration');
const modules = join(folder, 'node_modules');
const stampFile = join(modules, '.installed');
/** Compiling takes a minute, a slow network some more. */
const TIMEOUT_MS = 15 * 60_000;

/** Changes with the pins, and with the Node that compiled code was made for. */
function stamp() {
  const hash = createHash('sha256');
  for (const file of ['package.json', 'package-lock.json']) hash.update(readFileSync(join(folder, file)));
  return `${hash.digest('hex')} ${process.platform}-${process.arch} ${process.versions.modules}\n`;
}

/**
 * Installs the packages of test/system/integration where they are missing or not the pinned ones.
 *
 * @throws {Error} with what npm said.
 */
export async function installDrivers() {
  const wanted = stamp();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  console.log('installs the drivers, PostgreSQL, workerd and Node 24 into test/system/integration');
  const begun = performance.now();
  await succeed(npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund']));
  await linkPostgres(folder);
  console.log('builds better-sqlite3: a minute, where no build of it is to be had');
  await succeed(npm(['rebuild', '--ignore-scripts=false', 'better-sqlite3']), { JOBS: 'max' });
  await succeed([process.execPath, '-e', "new (require('better-sqlite3'))(':memory:')"]);
  writeFileSync(stampFile, wanted);
  console.log(`installed in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}

async function succeed(command, env) {
  const { code, output } = await run(command, { cwd: folder, env, timeoutMs: TIMEOUT_MS });
  if (code !== 0) throw new Error(`test/system/integration: ${command.join(' ')} failed:\n${output}`);
}

/** Where distributions put programs that only root's path has. */
const ALSO_IN = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

/**
 * The path of the first of these programs that is installed.
 *
 * @param {readonly string[]} names
 * @returns {string | undefined}
 */
export function findProgram(...names) {
  const directories = [...(process.env.PATH ?? '').split(':').filter(Boolean), ...ALSO_IN];
  return names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((path) => existsSync(path));
}

const SERVERS = [
  { program: () => findProgram('redis-server'), package: 'redis-server', variable: 'REDIS_URL' },
  { program: () => findProgram('mariadbd'), package: 'mariadb-server', variable: 'MYSQL_URL' },
];

export const ETCD = { program: () => findProgram('etcd'), package: 'etcd-server', variable: 'ETCD_URL' };

export const PGBOUNCER = {
  program: () => findProgram('pgbouncer'),
  package: 'pgbouncer',
  variable: 'PGBOUNCER_URL',
};

/**
 * Installs redis-server, MariaDB and others where they are missing, and may be installed.
 *
 * @param {...typeof SERVERS[number]} others
 * @throws {Error} where one is missing, can't be installed, and none is given in the environment: with what to do.
 */
export function installServers(...others) {
  const missing = [...SERVERS, ...others].filter(({ program }) => program() === undefined);
  if (missing.length === 0) return;
  const names = missing.map((server) => server.package);
  let reason = '';
  if (canInstallPackages()) {
    console.log(`installs ${names.join(' and ')} with apt-get`);
    try {
      installPackages(names);
    } catch (error) {
      reason = `\n${error.message}`;
    }
  }
  const lacking = missing.filter(
    ({ program, variable }) => program() === undefined && !process.env[variable],
  );
  if (lacking.length === 0) return;
  const advice = lacking.map(
    (server) =>
      `  ${server.package}: install it, or name a server that may be written to in ${server.variable}`,
  );
  throw new Error(`these tests need servers that are not here:\n${advice.join('\n')}${reason}`);
}
