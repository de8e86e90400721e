import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, inject, it, vi } from 'vitest';
import type { AcquireAnswer, LockProvider } from '../../../src/cluster/lock-contract.ts';
import type { SnapshotStore } from '../../../src/cluster/store-contract.ts';
import { createLock } from '../../../src/lock/create-lock.ts';
import { RecordLock } from '../../../src/lock/record-lock.ts';
import { MysqlSql } from '../../../src/sql/mysql.ts';
import { openMysql } from '../../../src/sql/open-mysql.ts';
import { openPostgres } from '../../../src/sql/open-postgres.ts';
import type { OpenRecords } from '../../../src/sql/open-records.ts';
import { PostgresSql } from '../../../src/sql/postgres.ts';
import { createStore } from '../../../src/store/create-store.ts';
import { RecordStore } from '../../../src/store/record-store.ts';

// What the conformance suite can't see of the steps for several names: what sessions do to each other, and refused values.

const NAMES = Array.from({ length: 300 }, (_, i) => `name-${i}`);
const ROUNDS = 15;
const OPTIONS = { timeout: 20_000 };

type Many<T, P extends keyof T> = { readonly [K in P]-?: NonNullable<T[K]> };
type Steps = Many<LockProvider, 'acquireMany' | 'releaseMany'> &
  Many<SnapshotStore, 'readMany' | 'writeMany'>;

/** A lock and a store with their own pool. */
interface Session extends Steps {
  close(): Promise<void>;
}

type Open = (about: 'lock' | 'store') => OpenRecords;

const KINDS = [
  {
    name: 'PostgreSQL',
    client: PostgresSql,
    refused: 'a\0b', // no text there has it
    open: (table: string) => {
      const client = new pg.Pool({ connectionString: inject('postgres').url });
      return session(
        (about) => openPostgres(about, { client, table, ...OPTIONS }),
        () => client.end(),
      );
    },
  },
  ...[true, false].map((hasBlocks) => ({
    name: `MariaDB, with blocks: ${hasBlocks}`,
    client: MysqlSql,
    refused: 'x'.repeat(17_000_000), // it takes no statement of more than 16 MB
    open: (table: string) => {
      const client = createPool(inject('mariadb').url);
      return session(
        (about) => openMysql(about, { client, table, ...OPTIONS }, hasBlocks),
        () => client.end(),
      );
    },
  })),
];

function session(open: Open, close: () => Promise<void>): Session {
  const [locks, snapshots] = [open('lock'), open('store')];
  return {
    ...(createLock(new RecordLock(locks.records), OPTIONS, locks) as unknown as Steps),
    ...(createStore(new RecordStore(snapshots.records), OPTIONS, snapshots) as unknown as Steps),
    close,
  };
}

function sound<A>(answers: readonly (A | Error)[]): A[] {
  return answers.map((answer) => {
    if (answer instanceof Error) throw answer;
    return answer;
  });
}

describe.each(KINDS)('$name', ({ name, client, open, refused }) => {
  const space = `many_${KINDS.findIndex((kind) => kind.name === name)}_${process.pid}`;

  it('two sessions that take the same names in opposite order never wait for each other in a circle', async () => {
    const contention = vi.spyOn(client.prototype, 'isContention');
    const sessions = [open(space), open(space)];
    sound(await (sessions[0] as Session).writeMany([{ name: 'table', payload: '' }]));
    sound(await (sessions[0] as Session).acquireMany([{ ...requestOf('table', 0) }]));
    const won: string[] = [];
    await Promise.all(
      sessions.map(async ({ acquireMany, writeMany, releaseMany }, i) => {
        const names = i === 0 ? NAMES : NAMES.toReversed();
        for (let round = 0; round < ROUNDS; round += 1) {
          const answers = sound<AcquireAnswer>(await acquireMany(names.map((one) => requestOf(one, i))));
          const leases = answers.flatMap((answer) => (answer.kind === 'acquired' ? [answer.lease] : []));
          won.push(...leases.map(({ name }) => name));
          sound(await writeMany(names.map((name, k) => ({ name, payload: `${i}`, token: k + 1 }))));
          const outcome = { as: 'done', holdFor: 0 } as const;
          const ended = await releaseMany(leases.toReversed().map((lease) => ({ lease, outcome })));
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
    const { readMany, writeMany, close } = open(space);
    const payloads = ['a', 'b', refused, 'd', 'e'];
    const answers = await writeMany(payloads.map((payload, i) => ({ name: `${i}`, payload, token: i + 1 })));
    expect(answers.map((answer) => answer instanceof Error)).toEqual([false, false, true, false, false]);
    const found = sound(await readMany(payloads.map((_, i) => ({ name: `${i}` }))));
    expect(found.map((read) => read?.payload)).toEqual(['a', 'b', undefined, 'd', 'e']);
    await close();
  });
});

function requestOf(name: string, owner: number) {
  const requestId = `${owner} ${Math.random()}`;
  return { name, owner: `${owner}`, requestId, leaseFor: 60_000, host: '', force: false };
}
