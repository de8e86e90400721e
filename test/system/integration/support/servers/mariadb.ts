import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { countMariadbCommands } from './count-mariadb.ts';
import type { Kind } from './kind.ts';
import { program, runProgram, versionOf } from './programs.ts';
import type { RealServer, StartOptions } from './server.ts';
import { startServer } from './server-process.ts';

/** A server that starts removes the temporary tables of all others from the folder. */
const tmp = (directory: string): string => join(directory, 'tmp');

/** Starts a MariaDB. Its user `root` has no password; its database `tickless` is empty. */
export async function startMariadb(options: StartOptions = {}): Promise<RealServer> {
  return startServer(await mariadbKind(), options);
}

async function mariadbKind(): Promise<Kind> {
  const file = program('mariadbd');
  const install = program('mariadb-install-db');
  // It refuses to run as root, unless it is told to.
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  return {
    kind: 'mariadb',
    label: 'MariaDB',
    version: await versionOf(file),
    keepsData: true,
    saysReady: /ready for connections/,
    async initialise({ directory }) {
      const data = join(directory, 'data');
      await mkdir(data);
      await mkdir(tmp(directory), { recursive: true }); // it may begin anew, empty
      await runProgram(install, [
        '--no-defaults',
        `--datadir=${data}`,
        `--tmpdir=${tmp(directory)}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        '--innodb-log-file-size=4M',
        ...user,
      ]);
      await writeFile(join(data, 'init.sql'), 'CREATE DATABASE IF NOT EXISTS tickless;\n');
    },
    command({ directory, port }) {
      const data = join(directory, 'data');
      // Its own defaults of character set and collation, latin1 and blind to case, are left: they are the harder ones.
      const args = [
        '--no-defaults',
        `--datadir=${data}`,
        `--tmpdir=${tmp(directory)}`,
        `--init-file=${join(data, 'init.sql')}`,
        '--bind-address=127.0.0.1',
        `--port=${port}`,
        `--socket=${join(directory, 'socket')}`,
        `--pid-file=${join(directory, 'pid')}`,
        '--skip-log-bin',
        '--skip-name-resolve',
        '--performance-schema=OFF',
        '--innodb-log-file-size=4M',
        '--innodb-buffer-pool-size=16M',
        '--key-buffer-size=1M',
        '--aria-pagecache-buffer-size=1M',
        // Kept when the process is killed, not when the machine is.
        '--innodb-flush-log-at-trx-commit=2',
        ...user,
      ];
      return { file, args };
    },
    url: ({ port }) => `mysql://root@127.0.0.1:${port}/tickless`,
    count: ({ port }) => countMariadbCommands(port),
  };
}
