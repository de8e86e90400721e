import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SqlClient, SqlParameters } from '../../../src/backends/sql/client.ts';
import { SqlTable } from '../../../src/backends/sql/sql-table.ts';

/** A table of names, all of which have expired but those that begin with `kept`. */
class Table implements SqlClient {
  readonly names: Set<string>;
  readonly statements: string[] = [];
  contention: string | undefined;

  constructor(names: readonly string[]) {
    this.names = new Set(names);
  }

  async query(sql: string, { limit, after, before }: SqlParameters): Promise<{ name: string }[]> {
    this.statements.push(sql);
    const expired = [...this.names].filter(
      (name) => !name.includes('kept') && name > String(after) && name < String(before),
    );
    return expired
      .sort()
      .slice(0, Number(limit))
      .map((name) => ({ name }));
  }

  async change(sql: string, names: SqlParameters): Promise<number> {
    this.statements.push(sql);
    if (Object.values(names).includes(this.contention ?? null)) throw new Error('deadlock');
    for (const name of Object.values(names)) this.names.delete(String(name));
    return 0;
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

function tableOf(client: Table, retentionMs = 1000): SqlTable {
  const statements = {
    definition: '',
    definedBy: '',
    expired: 'SELECT',
    purge: ['DELETE', 'DELETE long texts'],
  };
  return new SqlTable({
    client,
    timeoutMs: 1000,
    retentionMs,
    ...statements,
  });
}

const expired = Array.from({ length: 3500 }, (_, i) => `name/n${String(i).padStart(5, '0')}`);
const kept = Array.from({ length: 10 }, (_, i) => `name/kept${i}`);
const others = ['clock', 'names', 'z'];

type Swaps = Parameters<SqlTable['changed']>[0];
const WRITE: Swaps = [{ name: 'name/a', keepForMs: Infinity }];
const REPORT: Swaps = [{ name: 'report/a', keepForMs: 1000 }];

it('one purge deletes all of its rows past their retention, a hundred per statement', async () => {
  const client = new Table([...expired, ...kept, ...others]);
  const table = tableOf(client);
  table.changed(WRITE);
  table.changed(WRITE);
  await vi.waitFor(() => expect([...client.names]).toEqual([...kept, ...others]), { timeout: 10_000 });
  expect(client.statements.filter((sql) => sql === 'DELETE')).toHaveLength(35);
  await vi.waitFor(() =>
    expect(client.statements.filter((sql) => sql === 'DELETE long texts')).toHaveLength(35),
  );
  await vi.waitFor(
    () => expect(client.statements.filter((sql) => sql === 'SELECT')).toHaveLength(5), // four, and one of reports
  );
});

it('rows that another session is deleting are passed by', async () => {
  const client = new Table(expired.slice(0, 250));
  client.contention = expired[150];
  tableOf(client).changed(WRITE);
  await vi.waitFor(() => expect([...client.names]).toEqual(expired.slice(100, 200)));
});

it('looks delete nothing', async () => {
  const client = new Table(expired.slice(0, 5));
  tableOf(client).changed([]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(client.statements).toEqual([]);
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
  async function isPurged(swaps: Swaps, minutes: number, retentionMs = 1000) {
    const client = new Table([]);
    const table = tableOf(client, retentionMs);
    table.changed(swaps);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const before = client.statements.length;
    expect(before).toBeGreaterThan(0);
    now += minutes * MINUTE;
    table.changed(swaps[0]?.name === 'report/a' ? REPORT : WRITE);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return client.statements.length > before;
  }

  const brief: Swaps = [{ name: 'name/a', keepForMs: 999 }];
  it.each<[string, Swaps, number, number | undefined, boolean]>([
    ['is an hour later', WRITE, 59, undefined, false],
    ['is an hour later', WRITE, 60, undefined, true],
    ['is ten minutes later where rows are kept for less than the retention', brief, 9, undefined, false],
    ['is ten minutes later where rows are kept for less than the retention', brief, 10, undefined, true],
    ['is an hour later where those rows are gone', brief, 30, undefined, false],
    ['is of those rows only, without a retention', brief, 70, Infinity, false],
    ['of reports is a minute later', REPORT, 0.9, Infinity, false],
    ['of reports is a minute later', REPORT, 1, Infinity, true],
  ])('%s: %o, %d minutes, retention %d', async (_, swaps, minutes, retention, expected) => {
    expect(await isPurged(swaps, minutes, retention)).toBe(expected);
  });

  it('without a retention there is none', async () => {
    const client = new Table([]);
    tableOf(client, Infinity).changed(WRITE);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(client.statements).toEqual([]);
  });
});
