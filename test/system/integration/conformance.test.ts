import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { mongodbBackend } from '../../../src/backends/mongodb.ts';
import { sqliteBackend } from '../../../src/backends/sqlite.ts';
import { NAME, type Part } from '../../../src/records/names.ts';
import { changedText, type FieldsChange } from '../../support/cell-text.ts';
import { backendConformance, NOBODY } from './support/backend-conformance.ts';
import { backends } from './support/backends.ts';
import { conformance } from './support/conformance.ts';
import { postdated, sqliteEdits, textDamage } from './support/edits.ts';

describe.each(backends)('$name', (backend) => {
  backendConformance(backend, () => inject(backend.engine).url);
});

describe('SQLite with better-sqlite3', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-sqlite-'));
  const open = (): Database.Database => new Database(join(directory, 'test.db'), { timeout: 50 });
  const [one, another, closed] = [open(), open(), open()];
  closed.close();
  one.pragma('journal_mode = WAL');
  afterAll(() => {
    one.close();
    another.close();
    rmSync(directory, { recursive: true });
  });

  conformance({
    one: (options) => sqliteBackend({ client: one, ...options }),
    another: (options) => sqliteBackend({ client: another, ...options }),
    none: (options) => sqliteBackend({ client: closed, ...options }),
    edits: sqliteEdits(one),
  });
});

const nodeWithSqlite = inject('nodeWithSqlite');

it.runIf(nodeWithSqlite !== undefined)(
  'SQLite with node:sqlite, under a Node that has it',
  async () => {
    const cwd = fileURLToPath(new URL('../../..', import.meta.url));
    const args = ['run', '--project=unit', '--reporter=json', 'test/unit/lock/node-sqlite.test.ts'];
    const run = promisify(execFile)(String(nodeWithSqlite), ['node_modules/vitest/vitest.mjs', ...args], {
      cwd,
    });
    const { stdout } = await run.catch((ended: { stdout: string }) => ended);
    const { testResults } = JSON.parse(stdout) as {
      testResults: { assertionResults: { status: string }[] }[];
    };
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    expect(tests.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(tests.length).toBeGreaterThan(100);
  },
  120_000,
);

const mongodb = inject('mongodb');

if (mongodb !== undefined) {
  describe('MongoDB', () => {
    const { url } = mongodb;
    const options = { serverSelectionTimeoutMS: 3000 };
    const one = new MongoClient(url, options);
    const another = new MongoClient(url, options);
    const none = new MongoClient(`mongodb://${NOBODY}`, { serverSelectionTimeoutMS: 1000 });
    const collection = (client: MongoClient): Collection<{ _id: string; record: string }> =>
      client.db('tickless').collection(`records_${process.pid}`);
    const edit = async (name: string, part: Part, change: FieldsChange): Promise<void> => {
      const _id = NAME + name;
      const text = (await collection(one).findOne({ _id }))?.record ?? '{}';
      const record = changedText(text, part, change);
      await collection(one).updateOne({ _id }, { $set: { record } });
    };
    afterAll(async () => {
      await collection(one).drop();
      await Promise.all([one.close(), another.close(), none.close()]);
    });

    conformance({
      one: (own) => mongodbBackend({ collection: collection(one), ...own }),
      another: (own) => mongodbBackend({ collection: collection(another), ...own }),
      none: (own) => mongodbBackend({ collection: collection(none), ...own }),
      edits: {
        forget: async (name) => void (await collection(one).deleteOne({ _id: NAME + name })),
        damage: (name, field) => edit(name, 'lock', () => textDamage(field)),
        postdate: (name, ms) => edit(name, 'snapshot', (fields) => postdated(fields, ms)),
      },
    });
  });
}
