import { afterEach, describe, expect, it, vi } from 'vitest';
import { throwIfLate } from '../../../src/backends/sql/client.ts';
import { openPostgres } from '../../../src/backends/sql/open-postgres.ts';
import type { PostgresCommand, PostgresResult } from '../../../src/drivers/pg.ts';
import type { Change } from '../../../src/records/cells/cells.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

// A timer counts from the beginning of its turn: in the last milliseconds before its end the caller may have stopped waiting.
it.each([
  [1000.1, true],
  [1005, true],
  [1005.1, false],
  [1200, false],
])('of a statement whose time ends at %d it is, at 1000, said whether it is late: %s', (endAt, isLate) => {
  vi.spyOn(performance, 'now').mockReturnValue(1000);
  if (isLate) expect(() => throwIfLate(endAt)).toThrow('no connection became free');
  else throwIfLate(endAt);
});

describe('a statement whose connection becomes free after the time-out, and before three times that', () => {
  const connection = {
    query: async (_: PostgresCommand): Promise<PostgresResult> => ({
      rows: [{ i: '0', is_done: 'true', now: '1' }],
      rowCount: 1,
    }),
    release: () => {},
    on: () => {},
    removeListener: () => {},
  };
  const pool = {
    totalCount: 1,
    connect: () => new Promise((resolve) => setTimeout(() => resolve(connection), 1500)),
    query: () => Promise.reject(new Error('not on the pool')),
  };
  const swap: Change['swap'] = {
    ...{ before: undefined, after: 'text', main: undefined, adds: undefined, drops: [], keepForMs: 1000 },
  };
  const isSent = (...changes: Change[]): Promise<boolean> => {
    vi.useFakeTimers();
    const { cells } = openPostgres({ client: pool, timeout: 1000 });
    const sent = cells.swap(changes).then(
      () => true,
      () => false,
    );
    return vi.advanceTimersByTimeAsync(2000).then(() => sent);
  };

  it.each(['claim', 'amend'] as const)('is not sent for a lease: %s', async (op) => {
    expect(await isSent({ name: 'a', swap, op })).toBe(false);
    expect(await isSent({ name: 'a', swap, op }, { name: 'b' })).toBe(false);
  });

  it('is sent for a snapshot: a look at it, and a change', async () => {
    expect(await isSent({ name: 'a' })).toBe(true);
    expect(await isSent({ name: 'a', op: 'read' })).toBe(true);
    expect(await isSent({ name: 'a', swap, op: 'put' })).toBe(true);
    expect(await isSent({ name: 'a', swap, op: 'put' }, { name: 'b', swap, op: 'amend' })).toBe(true);
  });
});
