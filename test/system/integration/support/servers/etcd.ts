import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../ports.ts';
import type { Kind } from './kind.ts';
import { program, versionOf } from './programs.ts';
import type { RealServer, StartOptions } from './server.ts';
import { startServer } from './server-process.ts';

/** Starts an etcd, a cluster of one. */
export async function startEtcd(options: StartOptions = {}): Promise<RealServer<'etcd'>> {
  return startServer(await etcdKind(), options);
}

async function etcdKind(): Promise<Kind<'etcd'>> {
  const file = program('etcd');
  const peers = `http://127.0.0.1:${await freePort()}`;
  const url = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`;
  return {
    kind: 'etcd',
    label: 'etcd',
    version: await versionOf(file),
    keepsData: true,
    saysReady: /ready to serve client requests|serving insecure client requests/,
    endsBy: 'SIGKILL',
    async initialise({ directory }) {
      await mkdir(join(directory, 'data'), { mode: 0o700 });
    },
    command(place) {
      const settings = {
        name: 'one',
        'data-dir': join(place.directory, 'data'),
        'listen-client-urls': url(place),
        'advertise-client-urls': url(place),
        'listen-peer-urls': peers,
        'initial-advertise-peer-urls': peers,
        'initial-cluster': `one=${peers}`,
      };
      return { file, args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]) };
    },
    url,
    count() {
      throw new Error('etcd counts no commands by clients');
    },
  };
}
