import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, inject, it, vi } from 'vitest';
import { MysqlSql } from '../../../src/backends/sql/mysql.ts';
import { openMysql } from '../../../src/backends/sql/open-mysql.ts';
import { openPostgres } from '../../../src/backends/sql/open-postgres.ts';
import { PostgresSql } from '../../../src/backends/sql/postgres.ts';
import type { Store } from '../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import type { OpenRecords } from '../../../src/records/records-kind.ts';
import { partsOn } from '../../support/parts.ts';

// What the conformance suite can't see of steps for several names at once: what sessions do to each other, and refused values.

const NAMES = Array.from({ length: 300 }, (_, i) => `name-${i}`);
const ROUNDS = 15;
const OPTIONS = { timeout: 20_000 };

/** A lock and a store with their own pool. */
interface Session {
  readonly lock: Lock;
  readonly store: Store;
  close(): Promise<void>;
}

const KINDS = [
  {
    name: 'PostgreSQL',
    client: PostgresSql,
    refused: `${'x'.repeat(5000)}\0`, // no text there has it
    open: (table: string) => {
      const client = new pg.Pool({ connectionString: inject('postgres').url });
      return session(openPostgres({ client, table, ...OPTIONS }), () => client.end());
    },
  },
  ...[true, false].map((hasBlocks) => ({
    name: `MariaDB, with blocks: ${hasBlocks}`,
    client: MysqlSql,
    refused: 'x'.repeat(17_000_000), // it takes no statement of more than 16 MB
    open: (table: string) => {
      const client = createPool(inject('mariadb').url);
      return session(openMysql({ client, table, ...OPTIONS }, hasBlocks), () => client.end());
    },
  })),
];

function session(opened: OpenRecords, close: () => Promise<void>): Session {
  return { ...partsOn(opened.records, OPTIONS, opened), close };
}

describe.each(KINDS)('$name', ({ name, client, open, refused }) => {
  const space = `many_${KINDS.findIndex((kind) => kind.name === name)}_${process.pid}`;

  it('two sessions that take the same names in opposite order never wait for each other in a circle', async () => {
    const contention = vi.spyOn(client.prototype, 'isContention');
    const sessions = [open(space), open(space)];
    await (sessions[0] as Session).store.write('table', '');
    await (sessions[0] as Session).lock.acquire(requestOf('table', 0));
    const won: string[] = [];
    await Promise.all(
      sessions.map(async ({ lock, store }, i) => {
        const names = i === 0 ? NAMES : NAMES.toReversed();
        for (let round = 0; round < ROUNDS; round += 1) {
          const answers = await Promise.all(names.map((one) => lock.acquire(requestOf(one, i))));
          const leases = answers.flatMap((answer) => (answer.kind === 'acquired' ? [answer.lease] : []));
          won.push(...leases.map(({ name }) => name));
          await Promise.all(names.map((name, k) => store.write(name, `${i}`, k + 1)));
          const outcome = { as: 'done', holdFor: 0 } as const;
          const ended = await Promise.all(leases.toReversed().map((lease) => lock.release(lease, outcome)));
          expect(ended.filter((one) => one !== true)).toEqual([]);
        }
      }),
    );
    expect(new Set(won).size).toBe(NAMES.length);
    expect(contention.mock.results.filter(({ value }) => value === true)).toEqual([]);
    contention.mockRestore();
    await Promise.all(sessions.map(({ close }) => close()));
  });

  it('a value that the server refuses is alone with that', async () => {
    const { store, close } = open(space);
    const payloads = ['a', 'b', refused, 'd', 'e'];
    const answers = await Promise.allSettled(
      payloads.map((payload, i) => store.write(`${i}`, payload, i + 1)),
    );
    const isRefused = answers.map(({ status }) => status === 'rejected');
    expect(isRefused).toEqual([false, false, true, false, false]);
    const found = await Promise.all(payloads.map((_, i) => store.read(`${i}`)));
    expect(found.map((read) => read?.payload)).toEqual(['a', 'b', undefined, 'd', 'e']);
    await close();
  });
});

function requestOf(name: string, owner: number) {
  const requestId = `${owner} ${Math.random()}`;
  return { name, owner: `${owner}`, requestId, leaseFor: 60_000, host: '', force: false };
}
