import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SqlClient, SqlParameters } from '../../../src/sql/client.ts';
import { SqlTable, type SqlTableOptions } from '../../../src/sql/sql-table.ts';

/** A table of names, all of which have expired but those that begin with `kept`. */
class Table implements SqlClient {
  readonly isBatchOneCommand = true;
  readonly names: Set<string>;
  readonly statements: string[] = [];
  contention: string | undefined;
  isOlder = false;

  constructor(names: readonly string[]) {
    this.names = new Set(names);
  }

  async query(sql: string, { limit, after = '' }: SqlParameters): Promise<{ name: string }[]> {
    this.statements.push(sql);
    if (sql.endsWith('versions')) return [{ name: 'n' }];
    if (sql === 'SELECT' && this.isOlder) throw new Error('no column');
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

  async batch(): Promise<[]> {
    return [];
  }

  async hasReturning(): Promise<boolean> {
    return true;
  }

  isTableMissing(): boolean {
    return false;
  }

  isDenied(): boolean {
    return false;
  }

  isColumnMissing(error: unknown): boolean {
    return (error as Error).message === 'no column';
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

function tableOf(client: Table, retentionMs = 1000, further?: SqlTableOptions['further']): SqlTable {
  const older = { expired: 'SELECT older', purge: 'DELETE older' };
  const statements = { definition: '', definedBy: '', expired: 'SELECT', purge: 'DELETE', older };
  return new SqlTable({ client, timeoutMs: 1000, retentionMs, ...statements, further });
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

it('a table of an earlier version is purged without the columns that it lacks', async () => {
  const client = new Table(expired.slice(0, 50));
  client.isOlder = true;
  tableOf(client).purgeSoon();
  await vi.waitFor(() => expect(client.names.size).toBe(0));
  expect(client.statements).toEqual(['SELECT', 'SELECT older', 'DELETE older']);
});

it('a second table is purged after the first', async () => {
  const client = new Table(expired.slice(0, 50));
  const further = { definition: '', expired: 'SELECT versions', purge: 'DELETE versions' };
  tableOf(client, 1000, further).purgeSoon();
  await vi.waitFor(() =>
    expect(client.statements).toEqual(['SELECT', 'DELETE', 'SELECT versions', 'DELETE versions']),
  );
});

describe('the next purge', () => {
  const MINUTE = 60_000;
  let now = 0;
  beforeEach(() => {
    now = 1;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Whether there is another purge that many minutes after the first. */
  async function isPurged(
    { retentionMs, briefFor }: { retentionMs?: number; briefFor?: number },
    minutes: number,
  ) {
    const client = new Table([]);
    const table = tableOf(client, retentionMs);
    table.purgeSoon(briefFor);
    await vi.waitFor(() => expect(client.statements).toHaveLength(1));
    now += minutes * MINUTE;
    table.purgeSoon();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return client.statements.length === 2;
  }

  it.each<[string, Parameters<typeof isPurged>[0], number, boolean]>([
    ['is an hour later', {}, 59, false],
    ['is an hour later', {}, 60, true],
    ['is ten minutes later where rows are kept for less than the retention', { briefFor: MINUTE }, 9, false],
    ['is ten minutes later where rows are kept for less than the retention', { briefFor: MINUTE }, 10, true],
    ['is an hour later where those rows are gone', { briefFor: MINUTE }, 30, false],
    ['is of those rows only, without a retention', { briefFor: MINUTE, retentionMs: Infinity }, 70, false],
  ])('%s: %o, %d minutes', async (_, how, minutes, expected) => {
    expect(await isPurged(how, minutes)).toBe(expected);
  });

  it('without a retention there is none', async () => {
    const client = new Table([]);
    tableOf(client, Infinity).purgeSoon();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(client.statements).toEqual([]);
  });
});
