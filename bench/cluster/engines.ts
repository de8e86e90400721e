import { type Backend, backends } from '../../test/system/integration/support/backends.ts';
import {
  type RealServer,
  startMariadb,
  startPostgres,
  startRedis,
} from '../../test/system/integration/support/servers.ts';

/** An engine, and the client that asks it. */
export interface Engine {
  readonly backend: Backend;
  start(): Promise<RealServer>;
}

const STARTS = {
  'Redis with ioredis': () => startRedis(),
  'PostgreSQL with a pool': () => startPostgres({ args: ['-c', 'max_connections=200'] }),
  'MariaDB with a pool of promises': () => startMariadb({ args: ['--max-connections=200'] }),
} as const;

/** The engines that have a server of their own. */
export const engines: readonly Engine[] = Object.entries(STARTS).map(([name, start]) => {
  const backend = backends.find((each) => each.name === name);
  if (backend === undefined) throw new Error(`there is no client named ${name}`);
  return { backend, start };
});
