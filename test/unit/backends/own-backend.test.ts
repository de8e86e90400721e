import { describe, expect, it } from 'vitest';
import {
  ObjectCells,
  type ObjectStore,
  ObjectsInMemory,
  objectBackend,
} from '../../../examples/own-backend.ts';
import { NAME, type Part } from '../../../src/records/names.ts';
import { recordsConformance } from '../../../src/testing/index.ts';
import { changedText, type FieldsChange } from '../../support/cell-text.ts';
import { type BackendSubject, backendLockConformance } from '../../support/lock-conformance/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { type StoreSubject, storeConformance } from '../../support/store-conformance.ts';

const objects = new ObjectsInMemory();

const down = () => Promise.reject(new Error('the service is down'));
const nowhere: ObjectStore = { get: down, put: down, delete: down, list: down };

/** Edits a part of the object of a name by hand. */
async function edit(name: string, part: Part, change: FieldsChange) {
  const key = NAME + name;
  const { text = '{}', revision } = await objects.get(key);
  const kept = JSON.parse(text);
  const edited = { ...kept, text: changedText(kept.text, part, change) };
  await objects.put(key, JSON.stringify(edited), revision);
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
  const [cells, other] = [new ObjectCells(objects), new ObjectCells(objects)];
  for (const { name, run } of recordsConformance({ cells: () => cells, other: () => other })) it(name, run);
});

const [one, another] = [objectBackend(objects), objectBackend(objects)];

describe.concurrent('lock', () => {
  const subject: BackendSubject = {
    lock: () => one,
    other: () => another,
    unreachable: () => objectBackend(nowhere),
    forget: (name) => forget(NAME + name),
    damage: (name, field) => edit(name, 'lock', DAMAGE[field]),
  };
  for (const { name, run } of backendLockConformance(subject)) it(name, run);
});

const store: StoreSubject = {
  store: () => storeOf(one),
  other: () => storeOf(another),
  unreachable: () => storeOf(objectBackend(nowhere)),
  postdate: (name, ms) =>
    edit(name, 'snapshot', ({ at, changedAt }) => ({
      at: Number(at) + ms,
      changedAt: Number(changedAt) + ms,
    })),
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
  for (const text of ['', 'no JSON', 'null', '3', '{}', '{"lock":{}}', '{"snapshot":{"older":[],"text":5}}'])
    it(`counts as absent, and is replaced: ${text}`, async () => {
      const objects = new ObjectsInMemory();
      await objects.put('name/a', text, undefined);
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
  const swap = {
    before: undefined,
    after: 'x',
    main: undefined,
    adds: undefined,
    drops: [],
    keepForMs: Infinity,
  };
  const { answers } = await new ObjectCells(new Faulty()).swap([{ name: 'a', swap }, { name: 'b' }]);
  expect(answers).toMatchObject([{ isDone: true }, new Error('the service is down')]);
});
