import { type Backend, backends } from '../../test/system/integration/support/backends.ts';
import {
  type RealServer,
  startMariadb,
  startPostgres,
  startRedis,
} from '../../test/system/integration/support/servers.ts';

/** A backend and its client. */
export interface Engine {
  readonly backend: Backend;
  start(): Promise<RealServer>;
}

const STARTS = {
  'Redis with ioredis': () => startRedis(),
  'PostgreSQL with a pool': () => startPostgres({ args: ['-c', 'max_connections=200'] }),
  'MariaDB with a pool of promises': () => startMariadb({ args: ['--max-connections=200'] }),
} as const;

/** The backends with a server of their own. */
export const engines: readonly Engine[] = Object.entries(STARTS).map(([name, start]) => {
  const backend = backends.find((each) => each.name === name);
  if (backend === undefined) throw new Error(`unknown client ${name}`);
  return { backend, start };
});
