import { createRequire } from 'node:module';
import type { Client } from 'pg';
import type { CommandCount } from './kind.ts';

const OWN_NAME = 'tickless-count';
/** What each line of the log begins with: who sent the statement. */
export const LINE_PREFIX = '%a|';
const STATEMENT = /^(?<sender>[^|]*)\|LOG: {2}(?:statement|execute [^:]+): (?<text>.*)/;

/** Counts the statements in the log, from the first call on. @param from a module that finds `pg` among its packages. */
export function countPostgresCommands(
  port: number,
  onLine: (listener: (line: string) => void) => void,
  from: string,
): CommandCount {
  let client: Promise<Client> | undefined;
  let count = 0;
  let marker = 0;
  const arrivals = new Map<string, () => void>();

  onLine((line) => {
    const { sender, text = '' } = STATEMENT.exec(line)?.groups ?? {};
    if (sender === OWN_NAME) arrivals.get(text)?.();
    else if (sender !== undefined) count += 1;
  });

  async function open(): Promise<Client> {
    const pg = createRequire(from)('pg') as typeof import('pg');
    const settings = { host: '127.0.0.1', port, user: 'postgres', application_name: OWN_NAME };
    const opened = new pg.Client({ ...settings, database: 'postgres' });
    opened.on('error', () => {}); // the server was killed
    await opened.connect();
    return opened;
  }

  return {
    async served() {
      client ??= open();
      const text = `select 'marker-${++marker}'`;
      const arrived = new Promise<void>((resolve) => arrivals.set(text, resolve));
      await (await client).query(text);
      await arrived; // thus all that was logged before it has been counted
      arrivals.delete(text);
      return count;
    },
    close() {
      client?.then(
        (opened) => opened.end(),
        () => {},
      );
    },
  };
}
