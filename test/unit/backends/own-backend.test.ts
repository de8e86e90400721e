import { describe, expect, it } from 'vitest';
import {
  ObjectRecords,
  type ObjectStore,
  ObjectsInMemory,
  objectBackend,
} from '../../../examples/own-backend.ts';
import { type LockSubject, lockConformance, recordsConformance } from '../../../src/testing/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { type StoreSubject, storeConformance } from '../../support/store-conformance.ts';

const objects = new ObjectsInMemory();

const down = () => Promise.reject(new Error('the service is down'));
const nowhere: ObjectStore = { get: down, put: down, delete: down, list: down };

/** Edits the object of a record by hand. */
async function edit(key: string, change: (record: Record<string, number>) => Record<string, unknown>) {
  const { text = '{}', revision } = await objects.get(key);
  const record = JSON.parse(text);
  await objects.put(key, JSON.stringify({ ...record, ...change(record) }), revision);
}

const inTwoYears = () => Date.now() + 731 * 86_400_000;
const DAMAGE = {
  token: () => ({ token: 2 ** 53 - 2 }),
  leaseUntil: () => ({ until: inTwoYears() }),
  notBefore: () => ({ until: inTwoYears() }),
  state: () => ({ phase: 'nonsense' }),
};

async function forget(key: string): Promise<void> {
  await objects.delete(key, (await objects.get(key)).revision);
}

describe.concurrent('records', () => {
  const [records, other] = [new ObjectRecords(objects), new ObjectRecords(objects)];
  for (const { name, run } of recordsConformance({ records: () => records, other: () => other }))
    it(name, run);
});

const [one, another] = [objectBackend(objects), objectBackend(objects)];

describe.concurrent('lock', () => {
  const subject: LockSubject = {
    lock: () => one,
    other: () => another,
    unreachable: () => objectBackend(nowhere),
    forget: (name) => forget(`lock/${name}`),
    damage: (name, field) => edit(`lock/${name}`, DAMAGE[field]),
  };
  for (const { name, run } of lockConformance(subject)) it(name, run);
});

const store: StoreSubject = {
  store: () => storeOf(one),
  other: () => storeOf(another),
  unreachable: () => storeOf(objectBackend(nowhere)),
  postdate: (name, ms) =>
    edit(`snapshot/${name}`, ({ at = 0, changedAt = 0 }) => ({ at: at + ms, changedAt: changedAt + ms })),
  inNamespace: (namespace) => storeOf(objectBackend(objects, { namespace })),
};

describe.concurrent('store', () => {
  for (const { name, run } of storeConformance(store)) it(name, run);
});

describe.concurrent('store with keepVersions', () => {
  const open = () => storeOf(objectBackend(objects, { keepVersions: 3 }));
  const [one, another] = [open(), open()];
  const subject = { ...store, store: () => one, other: () => another, keepVersions: 3 };
  for (const { name, run } of storeConformance(subject)) it(name, run);
});

describe('an object that is damaged', () => {
  for (const text of ['', 'no JSON', 'null', '3', '{}', '{"older":[]}', '{"older":[],"text":5}'])
    it(`counts as absent, and is replaced: ${text}`, async () => {
      const objects = new ObjectsInMemory();
      await objects.put('snapshot/a', text, undefined);
      await objects.put('lock/a', text, undefined);
      const backend = objectBackend(objects, { keepVersions: 3 });
      const [lock, store] = [lockOf(backend), storeOf(backend)];
      expect((await store.read('a'))?.payload ?? '').toBe('');
      expect(await store.write('a', 'new', 7)).toEqual({ kind: 'written', version: 7 });
      expect(await store.read('a')).toMatchObject({ payload: 'new', version: 7 });
      expect(await lock.acquire({ name: 'a' })).toMatchObject({ kind: 'acquired' });
    });
});

it('one name that fails is the failure of that name alone', async () => {
  class Faulty extends ObjectsInMemory {
    override get(key: string): ReturnType<ObjectStore['get']> {
      return key.endsWith('b') ? down() : super.get(key);
    }
  }
  const { answers } = await new ObjectRecords(new Faulty()).apply([
    { op: 'put', name: 'a', token: 1, text: 'x', older: 0 },
    { op: 'read', name: 'b' },
  ]);
  expect(answers).toMatchObject([
    { isDone: true, row: { token: 1, text: '' } },
    new Error('the service is down'),
  ]);
});

it('a record that has expired is deleted when it is listed', async () => {
  const records = new ObjectRecords(objects);
  await records.apply([{ op: 'put', name: 'expired/a', text: 'x', keepMs: 1, older: 0 }]);
  await expect.poll(async () => (await records.list('expired/', 10)).rows).toEqual([]);
  expect(await objects.get('expired/a')).toEqual({ now: expect.any(Number) });
});
