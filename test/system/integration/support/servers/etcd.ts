import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../ports.ts';
import { allOrNone } from './all-or-none.ts';
import type { Kind } from './kind.ts';
import { program, versionOf } from './programs.ts';
import type { RealServer, StartOptions } from './server.ts';
import { startServer } from './server-process.ts';

/** Starts an etcd, a cluster of one. */
export async function startEtcd(options: StartOptions = {}): Promise<RealServer<'etcd'>> {
  const [member] = (await startEtcdCluster(1, options)).members as [RealServer<'etcd'>];
  return member;
}

/** A cluster of etcd. */
export interface EtcdCluster {
  readonly members: readonly RealServer<'etcd'>[];
  close(): Promise<void>;
}

/** Starts one. Of three members one may be lost. */
export async function startEtcdCluster(count = 3, options: StartOptions = {}): Promise<EtcdCluster> {
  const peers: Record<string, string> = {};
  for (let i = 0; i < count; i += 1) peers[`member${i}`] = `http://127.0.0.1:${await freePort()}`;
  const starts = Object.keys(peers).map(async (name) => startServer(await etcdKind(name, peers), options));
  const { all: members, close } = await allOrNone(starts);
  return { members, close };
}

/** @param peers the addresses of all members for each other, by name. */
async function etcdKind(name: string, peers: Readonly<Record<string, string>>): Promise<Kind<'etcd'>> {
  const file = program('etcd');
  const url = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`;
  return {
    kind: 'etcd',
    label: 'etcd',
    version: await versionOf(file),
    keepsData: true,
    saysReady: /ready to serve client requests|serving insecure client requests/,
    async initialise({ directory }) {
      await mkdir(join(directory, 'data'), { mode: 0o700 });
    },
    command(place) {
      const settings = {
        name,
        'data-dir': join(place.directory, 'data'),
        'listen-client-urls': url(place),
        'advertise-client-urls': url(place),
        'listen-peer-urls': String(peers[name]),
        'initial-advertise-peer-urls': String(peers[name]),
        'initial-cluster': Object.entries(peers)
          .map(([member, address]) => `${member}=${address}`)
          .join(','),
      };
      return { file, args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]) };
    },
    url,
  };
}
