import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { mongodbBackend } from '../../../src/backends/mongodb.ts';
import { sqliteBackend } from '../../../src/backends/sqlite.ts';
import { lockConformance } from '../../../src/testing/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { storeConformance } from '../../support/store-conformance.ts';
import { backendConformance, NOBODY, OLDER, suites, UNIT_MS } from './support/backend-conformance.ts';
import { backends } from './support/backends.ts';
import { type Ended, runFixture } from './support/child.ts';
import { FAR, mongoDamage, POSTDATED, sqlDamage } from './support/edits.ts';

describe.each(backends)('$name', (backend) => {
  backendConformance(backend, () => inject(backend.engine).url);
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
      lock: () => lockOf(sqliteBackend({ client: one })),
      other: () => lockOf(sqliteBackend({ client: another })),
      unreachable: () => lockOf(sqliteBackend({ client: closed })),
      forget: (name) => void one.prepare(`DELETE FROM tickless WHERE name = 'lock/' || ?`).run(name),
      damage: (name, field) => {
        one
          .prepare(`UPDATE tickless SET ${sqlDamage(field, FAR.sqlite)} WHERE name = 'lock/' || ?`)
          .run(name);
      },
    },
    {
      postdate: (name, ms) => {
        one.prepare(`UPDATE tickless SET ${POSTDATED.sqlite(ms)} WHERE name = 'snapshot/' || ?`).run(name);
      },
      inNamespace: (namespace) => storeOf(sqliteBackend({ client: one, namespace })),
      store: () => storeOf(sqliteBackend({ client: one })),
      other: () => storeOf(sqliteBackend({ client: another })),
      unreachable: () => storeOf(sqliteBackend({ client: closed })),
    },
    {
      store: () => storeOf(sqliteBackend({ client: one, ...OLDER })),
      other: () => storeOf(sqliteBackend({ client: another, ...OLDER })),
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
    const collection = (client: MongoClient): Collection<{ _id: string }> =>
      client.db('tickless').collection(`records_${process.pid}`);
    afterAll(async () => {
      await collection(one).drop();
      await Promise.all([one.close(), another.close(), none.close()]);
    });

    suites(
      {
        lock: () => lockOf(mongodbBackend({ collection: collection(one) })),
        other: () => lockOf(mongodbBackend({ collection: collection(another) })),
        unreachable: () => lockOf(mongodbBackend({ collection: collection(none), timeout: 1000 })),
        forget: async (name) => void (await collection(one).deleteOne({ _id: `lock/${name}` })),
        damage: async (name, field) => {
          await collection(one).updateOne({ _id: `lock/${name}` }, { $set: mongoDamage(field) });
        },
      },
      {
        postdate: async (name, ms) => {
          const later = { $add: ['$at', ms] };
          const change = { $set: { at: later, changedAt: later } };
          await collection(one).updateOne({ _id: `snapshot/${name}` }, [change]);
        },
        inNamespace: (namespace) => storeOf(mongodbBackend({ collection: collection(one), namespace })),
        store: () => storeOf(mongodbBackend({ collection: collection(one) })),
        other: () => storeOf(mongodbBackend({ collection: collection(another) })),
        unreachable: () => storeOf(mongodbBackend({ collection: collection(none), timeout: 1000 })),
      },
      {
        store: () => storeOf(mongodbBackend({ collection: collection(one), ...OLDER })),
        other: () => storeOf(mongodbBackend({ collection: collection(another), ...OLDER })),
      },
    );
  });
}
