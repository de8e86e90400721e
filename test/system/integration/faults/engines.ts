import { mkdtempSync, rmSync } from 'node:fs';
import { release, tmpdir, type } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { endWithUs } from '../support/guard.ts';
import type { RealServer } from '../support/servers.ts';
import { startMariadb, startPostgres, startRedis } from '../support/servers.ts';
import type { Engine } from './clients.ts';

/** An engine that is ready to be used. */
export interface ReadyEngine {
  /** With its version. */
  readonly label: string;
  /** What clients open: the URL of a server, the path of a file or a folder. */
  readonly url: string;
  readonly server: RealServer | undefined;
  close(): Promise<void>;
}

/** Starts a server that keeps its data when it is killed, or makes a folder. */
export async function startEngine(engine: Engine): Promise<ReadyEngine> {
  switch (engine) {
    case 'redis':
      return served(await startRedis({ keepsData: true }));
    case 'postgres':
      return served(await startPostgres());
    case 'mysql':
      return served(await startMariadb());
    case 'sqlite': {
      const folder = newFolder();
      const url = join(folder.path, 'tickless.db');
      const database = new Database(url);
      database.pragma('journal_mode = WAL'); // the file remembers it
      const version = database.prepare('SELECT sqlite_version()').pluck().get();
      database.close();
      return { label: `SQLite ${version}`, url, server: undefined, close: folder.remove };
    }
    case 'file': {
      const folder = newFolder();
      const system = `${type()} ${/^\d+(\.\d+)?/.exec(release())?.[0]}`;
      return { label: `files, ${system}`, url: folder.path, server: undefined, close: folder.remove };
    }
  }
}

function served(server: RealServer): ReadyEngine {
  const { label, version, url } = server;
  return { label: `${label} ${version}`, url, server, close: () => server.close() };
}

/** Is removed also where this process is killed. */
function newFolder(): { readonly path: string; remove(): Promise<void> } {
  const path = mkdtempSync(join(tmpdir(), 'tickless-faults-'));
  const isRemoved = endWithUs(process.pid, path);
  return {
    path,
    async remove() {
      rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
      isRemoved();
    },
  };
}
