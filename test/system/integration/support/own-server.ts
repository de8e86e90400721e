import { inject } from 'vitest';
import { type RealServer, type ServerKind, startMariadb, startPostgres, startRedis } from './servers.ts';

const START: Readonly<Record<ServerKind, () => Promise<RealServer>>> = {
  redis: () => startRedis({ keepsData: true }),
  postgres: startPostgres,
  mariadb: startMariadb,
};

/** The engines of which a test file can have a server of its own. The others were given to us, see `SharedServer`. */
export const ownKinds: readonly ServerKind[] = (Object.keys(START) as ServerKind[]).filter(
  (kind) => inject(kind).givenBy === undefined,
);

/** Starts one, which keeps its data over restarts. */
export function startOwn(kind: ServerKind): Promise<RealServer> {
  return START[kind]();
}
