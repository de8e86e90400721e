import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kind, Place } from './kind.ts';
import { program, versionOf } from './programs.ts';
import type { RealServer } from './server.ts';
import { startServer } from './server-process.ts';
import { unprivileged } from './unprivileged.ts';

/** Further settings of the section `[pgbouncer]`. */
export type PgbouncerSettings = Readonly<Record<string, string | number>>;

/** Starts a PgBouncer in transaction mode before a PostgreSQL. It asks for no password. */
export async function startPgbouncer(
  postgresUrl: string,
  settings: PgbouncerSettings = {},
): Promise<RealServer<'pgbouncer'>> {
  return startServer(await pgbouncerKind(new URL(postgresUrl), settings));
}

async function pgbouncerKind(server: URL, settings: PgbouncerSettings): Promise<Kind<'pgbouncer'>> {
  const file = program('pgbouncer');
  const as = await unprivileged();
  const ini = ({ directory }: Place): string => join(directory, 'pgbouncer.ini');
  const database = server.pathname.slice(1);
  return {
    kind: 'pgbouncer',
    label: 'PgBouncer',
    version: await versionOf(file),
    keepsData: true,
    saysReady: /process up: PgBouncer/,
    async initialise(place) {
      if (as !== undefined) await chown(place.directory, as.uid, as.gid);
      const target: Record<string, string> = {
        host: server.hostname,
        port: server.port,
        dbname: database,
        user: decodeURIComponent(server.username),
        ...(server.password === '' ? {} : { password: decodeURIComponent(server.password) }),
      };
      const section: PgbouncerSettings = {
        listen_addr: '127.0.0.1',
        listen_port: place.port,
        unix_socket_dir: '',
        auth_type: 'any',
        pool_mode: 'transaction',
        ...settings,
      };
      const lines = Object.entries(section).map(([name, value]) => `${name} = ${value}`);
      const words = Object.entries(target).map(([name, value]) => `${name}='${value}'`);
      const text = ['[databases]', `* = ${words.join(' ')}`, '[pgbouncer]', ...lines, ''].join('\n');
      await writeFile(ini(place), text);
    },
    command: (place) => ({ file, args: [ini(place)], as }),
    url: ({ port }) => `postgres://postgres@127.0.0.1:${port}/${database}`,
  };
}
