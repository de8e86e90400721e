import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { CommandCount } from './kind.ts';

/** Counts by the status variable `Questions`. */
export function countMariadbCommands(port: number): CommandCount {
  let connection: Promise<Connection> | undefined;
  let own = 0;

  async function open(): Promise<Connection> {
    const { createConnection } = await import('mysql2/promise');
    const opened = await createConnection({ host: '127.0.0.1', port, user: 'root' });
    opened.on('error', () => {}); // the server was killed
    return opened;
  }

  return {
    async served() {
      connection ??= open();
      own += 1;
      const [rows] = await (await connection).query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Questions'");
      return Number(rows[0]?.Value) - own;
    },
    close() {
      connection?.then(
        (opened) => opened.destroy(),
        () => {},
      );
    },
  };
}
