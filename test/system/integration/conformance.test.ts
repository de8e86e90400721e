import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { mongodbLock } from '../../../src/lock/mongodb.ts';
import { sqliteLock } from '../../../src/lock/sqlite.ts';
import { mongodbStore } from '../../../src/store/mongodb.ts';
import { sqliteStore } from '../../../src/store/sqlite.ts';
import {
  type LockSubject,
  lockConformance,
  type StoreSubject,
  storeConformance,
} from '../../../src/testing/index.ts';
import { backends, type Connected } from './support/backends.ts';
import { type Ended, runFixture } from './support/child.ts';
import { conformance, KEEP_VERSIONS } from './support/conformance.ts';
import { FAR, mongoDamage, POSTDATED, sqlDamage } from './support/edits.ts';

/** Longer than the suites' own: many cases run at a time, on a machine that has more to do. */
const UNIT_MS = 300;
/** Where an acquire takes two commands: the second must be answered before the shortest lease is over. */
const UNIT_OF_TWO_MS = 1000;

/** All cases run at a time and share a pool of ten connections. */
const PATIENT = { timeout: 10_000 };

/** A port that can't be listened on by accident: nobody does. */
const NOBODY = '127.0.0.1:1';

const OLDER = { keepVersions: KEEP_VERSIONS };

function suites(lock: LockSubject, store: StoreSubject, older: Pick<StoreSubject, 'store' | 'other'>): void {
  conformance({ unit: UNIT_MS, ...lock }, { unit: UNIT_MS, ...store }, older);
}

describe.each(backends)('$name', ({ name, engine, connect, acquireCommands }) => {
  const unit = acquireCommands > 1 ? UNIT_OF_TWO_MS : UNIT_MS;
  const { url } = inject(engine);
  const space = `conformance_${backends.findIndex((backend) => backend.name === name)}_${process.pid}`;
  let one: Connected;
  let another: Connected;
  let none: Connected;

  beforeAll(async () => {
    [one, another, none] = await Promise.all([
      connect(url),
      connect(url),
      connect(url.replace(/(?<=[/@])[^/@]+:\d+/, NOBODY)),
    ]);
  });
  afterAll(() => {
    for (const client of [one, another, none]) client?.destroy();
  });

  suites(
    {
      unit,
      lock: () => one.lock(space, PATIENT),
      other: () => another.lock(space, PATIENT),
      unreachable: () => none.lock(space, { timeout: 1000 }),
      forget: (name) => one.forget(space, name),
      damage: (name, field) => one.damage(space, name, field),
    },
    {
      unit,
      postdate: (name, ms) => one.postdate(space, name, ms),
      inNamespace: (namespace) => one.store(space, { ...PATIENT, namespace }),
      store: () => one.store(space, PATIENT),
      other: () => another.store(space, PATIENT),
      unreachable: () => none.store(space, { timeout: 1000 }),
    },
    {
      store: () => one.store(space, { ...PATIENT, ...OLDER }),
      other: () => another.store(space, { ...PATIENT, ...OLDER }),
    },
  );
});

describe('SQLite with better-sqlite3', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-sqlite-'));
  const open = (): Database.Database => new Database(join(directory, 'test.db'), { timeout: 50 });
  const one = open();
  const another = open();
  const closed = open();
  closed.close();
  one.pragma('journal_mode = WAL');
  afterAll(() => {
    one.close();
    another.close();
    rmSync(directory, { recursive: true });
  });

  suites(
    {
      lock: () => sqliteLock({ client: one }),
      other: () => sqliteLock({ client: another }),
      unreachable: () => sqliteLock({ client: closed }),
      forget: (name) => void one.prepare('DELETE FROM tickless_lock WHERE name = ?').run(name),
      damage: (name, field) => {
        one.prepare(`UPDATE tickless_lock SET ${sqlDamage(field, FAR.sqlite)} WHERE name = ?`).run(name);
      },
    },
    {
      postdate: (name, ms) => {
        one.prepare(`UPDATE tickless_snapshot SET ${POSTDATED.sqlite(ms)} WHERE name = ?`).run(name);
      },
      inNamespace: (namespace) => sqliteStore({ client: one, namespace }),
      store: () => sqliteStore({ client: one }),
      other: () => sqliteStore({ client: another }),
      unreachable: () => sqliteStore({ client: closed }),
    },
    {
      store: () => sqliteStore({ client: one, ...OLDER }),
      other: () => sqliteStore({ client: another, ...OLDER }),
    },
  );
});

const nodeWithSqlite = inject('nodeWithSqlite');

if (nodeWithSqlite !== undefined) {
  describe('SQLite with node:sqlite', () => {
    // The child knows the same cases, and runs them where the module is.
    const nothing = (): never => {
      throw new Error('only the names are looked at here');
    };
    const subject = {
      unreachable: nothing,
      forget: nothing,
      damage: nothing,
      postdate: nothing,
      inNamespace: nothing,
    };
    const names = [
      ...lockConformance({ lock: nothing, ...subject }).map(({ name }) => `lock > ${name}`),
      ...storeConformance({ store: nothing, ...subject }).map(({ name }) => `store > ${name}`),
    ];
    let ended: Ended;
    let reasons: Record<string, string | null>;

    beforeAll(async () => {
      const args = [`${UNIT_MS}`];
      ended = await runFixture('sqlite-conformance', { node: nodeWithSqlite, args, timeoutMs: 110_000 });
      reasons = JSON.parse(ended.lines.at(-1) ?? 'null') ?? {};
    });

    it('runs all of them', () => {
      expect({ ran: Object.keys(reasons), stderr: ended.stderr }).toEqual({ ran: names, stderr: '' });
    });
    for (const name of names) it(name, () => expect(reasons[name], ended.stderr).toBeNull());
  });
}

const mongodb = inject('mongodb');

if (mongodb !== undefined) {
  describe('MongoDB', () => {
    const { url } = mongodb;
    const options = { serverSelectionTimeoutMS: 3000 };
    const one = new MongoClient(url, options);
    const another = new MongoClient(url, options);
    const none = new MongoClient(`mongodb://${NOBODY}`, { serverSelectionTimeoutMS: 1000 });
    const collection = (client: MongoClient, name: string): Collection<{ _id: string }> =>
      client.db('tickless').collection(`${name}_${process.pid}`);
    afterAll(async () => {
      for (const name of ['lock', 'store']) await collection(one, name).drop();
      await Promise.all([one.close(), another.close(), none.close()]);
    });

    suites(
      {
        lock: () => mongodbLock({ collection: collection(one, 'lock') }),
        other: () => mongodbLock({ collection: collection(another, 'lock') }),
        unreachable: () => mongodbLock({ collection: collection(none, 'lock'), timeout: 1000 }),
        forget: async (name) => void (await collection(one, 'lock').deleteOne({ _id: name })),
        damage: async (name, field) => {
          await collection(one, 'lock').updateOne({ _id: name }, { $set: { [field]: mongoDamage(field) } });
        },
      },
      {
        postdate: async (name, ms) => {
          const change = { $set: { writtenAt: { $add: ['$writtenAt', ms] } } };
          await collection(one, 'store').updateOne({ _id: name }, [change]);
        },
        inNamespace: (namespace) => mongodbStore({ collection: collection(one, 'store'), namespace }),
        store: () => mongodbStore({ collection: collection(one, 'store') }),
        other: () => mongodbStore({ collection: collection(another, 'store') }),
        unreachable: () => mongodbStore({ collection: collection(none, 'store'), timeout: 1000 }),
      },
      {
        store: () => mongodbStore({ collection: collection(one, 'store'), ...OLDER }),
        other: () => mongodbStore({ collection: collection(another, 'store'), ...OLDER }),
      },
    );
  });
}
