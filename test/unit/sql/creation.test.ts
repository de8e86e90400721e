import { expect, it } from 'vitest';
import type { SqlClient } from '../../../src/backends/sql/client.ts';
import { SqlTable } from '../../../src/backends/sql/sql-table.ts';
import { Deferred } from '../../../src/time/deferred.ts';

it('a crowd that finds no table makes it once', async () => {
  const made = new Deferred<void>();
  let isThere = false;
  let creations = 0;
  const client = {
    async query() {
      if (!isThere) throw new Error('no such table');
      return [];
    },
    async change() {
      creations += 1;
      await made.promise;
      isThere = true;
      return 0;
    },
    isTableMissing: (error) => (error as Error).message === 'no such table',
    isTablePresent: () => false,
    isContention: () => false,
    isOfValues: () => false,
  } satisfies SqlClient;
  const table = new SqlTable({
    client,
    ...{ definition: 'CREATE', definedBy: '', expired: '', purge: [], owned: [] },
    ...{ timeoutMs: 1000, retentionMs: Infinity },
  });
  const queries = Array.from({ length: 25 }, () => table.run(() => client.query()));
  made.resolve();
  expect(await Promise.all(queries)).toEqual(Array(25).fill([]));
  expect(creations).toBe(1);
});
