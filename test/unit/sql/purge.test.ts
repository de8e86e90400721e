import { expect, it, vi } from 'vitest';
import type { SqlClient, SqlParameters } from '../../../src/sql/client.ts';
import { SqlTable } from '../../../src/sql/sql-table.ts';

/** A table of names, all of which have expired but those that begin with `kept`. */
class Table implements SqlClient {
  readonly names: Set<string>;
  readonly statements: string[] = [];
  contention: string | undefined;

  constructor(names: readonly string[]) {
    this.names = new Set(names);
  }

  async query(sql: string, { limit, after = '' }: SqlParameters): Promise<{ name: string }[]> {
    this.statements.push(sql);
    const expired = [...this.names].filter((name) => !name.startsWith('kept') && name > String(after));
    return expired
      .sort()
      .slice(0, Number(limit))
      .map((name) => ({ name }));
  }

  async change(sql: string, { retention: _, ...names }: SqlParameters): ReturnType<SqlClient['change']> {
    this.statements.push(sql);
    if (Object.values(names).includes(this.contention ?? null)) throw new Error('deadlock');
    for (const name of Object.values(names)) this.names.delete(String(name));
    return { matched: 0, generatedId: 0 };
  }

  async hasReturning(): Promise<boolean> {
    return true;
  }

  isTableMissing(): boolean {
    return false;
  }

  isTablePresent(): boolean {
    return false;
  }

  isOfValues(): boolean {
    return false;
  }

  isContention(error: unknown): boolean {
    return (error as Error).message === 'deadlock';
  }
}

function tableOf(client: Table): SqlTable {
  const statements = { definition: '', definedBy: '', expired: 'SELECT', purge: 'DELETE' };
  return new SqlTable({ client, timeoutMs: 1000, retentionMs: 1000, ...statements });
}

const expired = Array.from({ length: 3500 }, (_, i) => `n${String(i).padStart(5, '0')}`);
const kept = Array.from({ length: 10 }, (_, i) => `kept${i}`);

it('one purge deletes all rows past their retention, a hundred per statement', async () => {
  const client = new Table([...expired, ...kept]);
  const table = tableOf(client);
  table.purgeSoon();
  table.purgeSoon();
  await vi.waitFor(() => expect([...client.names]).toEqual(kept), { timeout: 10_000 });
  expect(client.statements.filter((sql) => sql === 'SELECT')).toHaveLength(4);
  expect(client.statements.filter((sql) => sql === 'DELETE')).toHaveLength(35);
});

it('rows that another session is deleting are passed by', async () => {
  const client = new Table(expired.slice(0, 250));
  client.contention = expired[150];
  tableOf(client).purgeSoon();
  await vi.waitFor(() => expect([...client.names]).toEqual(expired.slice(100, 200)));
});
