import { Redis } from 'ioredis';
import pg from 'pg';
import type { RealServer } from '../support/servers.ts';

/** Asks a server who is connected to it. */
interface Counter {
  /** All but the one who asks. */
  others(): Promise<number>;
  close(): Promise<unknown>;
}

export function openCounter({ kind, url }: RealServer): Counter {
  if (kind === 'redis') {
    const client = new Redis(url);
    return {
      others: async () =>
        String(await client.client('LIST'))
          .trim()
          .split('\n').length - 1,
      close: () => client.quit(),
    };
  }
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  return {
    async others() {
      const { rows } = await pool.query<{ count: number }>(
        "SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
      return rows[0]?.count ?? Number.NaN;
    },
    close: () => pool.end(),
  };
}
