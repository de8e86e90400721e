import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kind, Place } from './kind.ts';
import { program, versionOf } from './programs.ts';
import type { RealServer } from './server.ts';
import { startServer } from './server-process.ts';

/** The name of the primary at a sentinel. */
export const SENTINEL_NAME = 'tickless';

/** Starts a sentinel that decides alone. Start the replicas first: it asks for new ones every ten seconds. */
export async function startSentinel(primaryPort: number): Promise<RealServer<'sentinel'>> {
  return startServer(await sentinelKind(primaryPort));
}

async function sentinelKind(primaryPort: number): Promise<Kind<'sentinel'>> {
  const file = program('redis-server');
  const data = ({ directory }: Place): string => join(directory, 'data');
  const configuration = (place: Place): string => join(data(place), 'sentinel.conf');
  return {
    kind: 'sentinel',
    label: 'Redis Sentinel',
    version: await versionOf(file),
    keepsData: true,
    saysReady: /\+monitor master/,
    async initialise(place) {
      await mkdir(data(place));
      const lines = [
        'bind 127.0.0.1',
        `port ${place.port}`,
        `dir ${data(place)}`,
        `sentinel monitor ${SENTINEL_NAME} 127.0.0.1 ${primaryPort} 1`,
        `sentinel down-after-milliseconds ${SENTINEL_NAME} 500`,
        `sentinel failover-timeout ${SENTINEL_NAME} 5000`,
      ];
      await writeFile(configuration(place), `${lines.join('\n')}\n`); // which it writes anew
    },
    command: (place) => ({ file, args: [configuration(place), '--sentinel'] }),
    url: ({ port }) => `redis://127.0.0.1:${port}`,
  };
}
