import { describe, expect, it } from 'vitest';
import type { MongoCollection } from '../../../src/backends/mongodb/collection.ts';
import { MongoDocuments } from '../../../src/backends/mongodb/documents.ts';
import { MongoRecords } from '../../../src/backends/mongodb/mongo-records.ts';
import { type MongodbBackendOptions, mongodbBackend } from '../../../src/backends/mongodb.ts';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import { RefreshingCache } from '../../../src/index.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { type ConformanceSubject, conformance } from './support/conformance.ts';
import { mongoDamage } from './support/edits.ts';
import { EvaluatedCollection } from './support/evaluated-collection.ts';

// No server: an evaluator of its language. What only a server can show is in conformance.test.ts, where one is given.

/** All is done by this process: an answer takes a millisecond or two. */
const UNIT_MS = 200;
/** All cases run at a time. */
const PATIENT = { timeout: 10_000 };
const START = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;
const DAY = 86_400_000;
const WEEK_MS = 7 * DAY;

describe("MongoDB's pipelines, evaluated by mingo", () => {
  const locks = new EvaluatedCollection();
  const stores = new EvaluatedCollection();
  const none = new EvaluatedCollection({ failsWith: new Error('connect ECONNREFUSED') });

  const edit = (documents: EvaluatedCollection['documents'], id: string, change: object) =>
    void documents.set(id, { ...documents.get(id), ...change });
  const open: ConformanceSubject['one'] = (options) => ({
    lock: lockOf(mongodbBackend({ collection: locks, ...options })),
    store: storeOf(mongodbBackend({ collection: stores, ...options })),
  });

  conformance({
    unit: UNIT_MS,
    one: open,
    another: open,
    none: (options) => mongodbBackend({ collection: none, ...options }),
    edits: {
      forget: (name) => void locks.documents.delete(`lock/${name}`),
      damage: (name, field) => edit(locks.documents, `lock/${name}`, mongoDamage(field)),
      postdate: (name, ms) => {
        const { at } = stores.documents.get(`snapshot/${name}`) as { at: Date };
        const later = new Date(at.getTime() + ms);
        edit(stores.documents, `snapshot/${name}`, { at: later, changedAt: later });
      },
    },
  });
});

describe('records in MongoDB, by mingo', () => {
  const collection = new EvaluatedCollection();
  const other = Object.assign(new EvaluatedCollection(), {
    documents: collection.documents,
    bulkWrite: undefined,
  });
  const open = (some: MongoCollection) => new MongoRecords(new MongoDocuments(some, 10_000), WEEK_MS);
  const subject = { records: () => open(collection), other: () => open(other as MongoCollection) };
  for (const { name, run } of recordsConformance(subject)) it(name, run);
});

/** A lock over an evaluated collection whose clock stands still unless the test moves it. */
class Bench {
  now = START;
  readonly collection: EvaluatedCollection = new EvaluatedCollection({ now: () => this.now });
  readonly lock: Lock;

  constructor(options: Omit<MongodbBackendOptions, 'collection'> = {}) {
    this.lock = lockOf(mongodbBackend({ collection: this.collection, leaseFor: MINUTE, ...options }));
  }

  get document(): Record<string, unknown> {
    return this.collection.documents.get('lock/rates') as Record<string, unknown>;
  }

  lease(): Promise<Lease> {
    return leaseOf(this.lock, { name: 'rates', owner: 'me', requestId: 'first', host: 'here' });
  }

  async kindAt(now: number): Promise<string> {
    this.now = now;
    return (await this.lock.acquire({ name: 'rates' })).kind;
  }
}

describe('a record in MongoDB, by mingo', () => {
  const begun = {
    _id: 'lock/rates',
    token: START * 1000,
    id: 'first',
    phase: 'leased',
    at: new Date(START),
    changedAt: new Date(START),
    until: new Date(START + MINUTE),
    text: '{"owner":"me","host":"here"}',
    note: '',
    replaced: null,
    keepMs: null,
    older: [],
    askedAt: new Date(START),
    expireAt: new Date(START + MINUTE + 7 * DAY),
  };

  it('holds what the other versions of tickless read', async () => {
    const bench = new Bench();
    const lease = await bench.lease();
    expect(bench.document).toEqual(begun);
    bench.now += 1000;
    await bench.lock.extend(lease, 2 * MINUTE);
    const extended = {
      ...begun,
      until: new Date(START + 1000 + 2 * MINUTE),
      askedAt: new Date(START + 1000),
      expireAt: new Date(START + 1000 + 2 * MINUTE + 7 * DAY),
    };
    expect(bench.document).toEqual(extended);
    bench.now += 1000;
    await bench.lock.release(lease, { as: 'failed', holdFor: 5000, error: 'down' });
    const ended = {
      ...extended,
      phase: 'held',
      note: '{"state":"failed","error":"down"}',
      changedAt: new Date(START + 2000),
      until: new Date(START + 7000),
      askedAt: new Date(START + 2000),
      expireAt: new Date(START + 7000 + 7 * DAY),
    };
    expect(bench.document).toEqual(ended);
    bench.now += 1000;
    await bench.lock.release(lease, { as: 'failed', holdFor: 5000, error: 'down' });
    expect(bench.document).toEqual({ ...ended, askedAt: new Date(START + 3000) });
    await bench.lock.forceRelease('rates', lease.token);
    expect(bench.document).toEqual({
      ...ended,
      note: '{"state":"released"}',
      until: new Date(START + 3000),
      changedAt: new Date(START + 3000),
      askedAt: new Date(START + 3000),
      expireAt: new Date(START + 3000 + 7 * DAY),
    });
  });

  it('holds texts as they are, whatever they mean to MongoDB', async () => {
    const { lock } = new Bench();
    const texts = { owner: '$token', host: '$$ROOT' };
    const lease = await leaseOf(lock, { name: 'rates', requestId: '$$NOW', ...texts });
    await lock.release(lease, { as: 'failed', holdFor: 0, error: '$owner' });
    expect(await lock.inspect('rates')).toMatchObject({ ...texts, lastError: '$owner' });
  });

  it.each([7 * DAY, Infinity])(
    'is deleted sooner where it is of no use for as long, and not once it is: retention %d',
    async (retention) => {
      const bench = new Bench({ retention });
      const release = async (keepFor?: number) =>
        bench.lock.release(await bench.lease(), { as: 'done', holdFor: 1000, keepFor });
      await release(MINUTE);
      expect(bench.document.expireAt).toEqual(new Date(START + 1000 + MINUTE));
      bench.now += 1000;
      await release();
      const kept = retention === Infinity ? null : new Date(START + 2000 + retention);
      expect(bench.document.expireAt).toEqual(kept);
      expect(bench.collection.commands.map(({ name }) => name)).toContain('createIndex');
    },
  );

  it('so is a snapshot, whoever reads it', async () => {
    let now = START;
    const collection = new EvaluatedCollection({ now: () => now });
    const store = storeOf(mongodbBackend({ collection }));
    await store.write('absent', '', 1, undefined, MINUTE);
    await store.write('present', '', 1, undefined, MINUTE);
    await store.write('present', '', 2);
    now += MINUTE - 1;
    expect(await store.read('absent')).toMatchObject({ version: 1 });
    now += 1;
    expect(await store.read('absent')).toBeUndefined();
    expect(await store.read('present')).toMatchObject({ version: 2 });
  });

  it('stays for ever where that is wanted, without an index', async () => {
    const bench = new Bench({ retention: Infinity });
    const lease = await bench.lease();
    await bench.lock.release(lease, { as: 'done', holdFor: 1000 });
    expect(bench.document.expireAt).toBeNull();
    expect(bench.collection.commands.map(({ name }) => name)).not.toContain('createIndex');
  });
});

describe('to the millisecond, by mingo', () => {
  it('a lease is over when its time has passed, and so is a hold', async () => {
    const bench = new Bench();
    const first = await bench.lease();
    expect(await bench.kindAt(START + MINUTE - 1)).toBe('held');
    bench.now = START + MINUTE;
    expect(await bench.lock.extend(first)).toBe(false);
    await bench.lock.release(await bench.lease(), { as: 'done', holdFor: 1000 });
    expect(await bench.kindAt(START + MINUTE + 999)).toBe('done');
    expect(await bench.kindAt(START + MINUTE + 1000)).toBe('acquired');
  });

  it('a lease does not outlive a clock that was set back by more than a minute, nor does a hold', async () => {
    const bench = new Bench();
    const { token } = await bench.lease();
    expect(await bench.kindAt(START - MINUTE)).toBe('held');
    expect(await bench.kindAt(START - MINUTE - 1)).toBe('acquired');
    expect(bench.document.token).toBe(token + 1);
    const held = new Bench();
    held.now = START - DAY;
    const lease = await held.lease();
    await held.lock.extend(lease, 2 * DAY);
    held.now = START;
    await held.lock.release(lease, { as: 'done', holdFor: 1000 });
    expect(await held.kindAt(START - MINUTE)).toBe('done');
    expect(await held.kindAt(START - MINUTE - 1)).toBe('acquired');
  });
});

describe('what a caller hands back as a lease, by mingo', () => {
  it.each([
    ['a token', { token: { $gt: 0 } }],
    ['a request', { requestId: { $gt: '' } }],
  ])('is no condition: %s', async (_, change) => {
    const bench = new Bench();
    const lease = { ...(await bench.lease()), ...change } as never;
    const before = structuredClone(bench.document);
    expect(await bench.lock.extend(lease)).toBe(false);
    expect(await bench.lock.release(lease, { as: 'done', holdFor: 1000 })).toBe(false);
    expect(bench.document).toEqual(before);
  });
});

describe('a record that somebody has edited in MongoDB, by mingo', () => {
  it.each([
    { token: '1' },
    { token: -1 },
    { token: Number.MAX_SAFE_INTEGER },
    { token: null },
    { phase: 'weird' },
    { id: null },
    { until: 'soon' },
    { at: START },
    { changedAt: null },
    { text: 5 },
  ])('counts as none with %o', async (change) => {
    const bench = new Bench();
    const lease = { ...(await bench.lease()), ...change } as Lease;
    Object.assign(bench.document, change);
    const before = structuredClone(bench.document);
    const { lock } = bench;
    expect(await lock.inspect('rates')).toBeUndefined();
    expect(await lock.list()).toEqual([]);
    expect(await lock.extend(lease)).toBe(false);
    expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(false);
    if (Number.isSafeInteger(lease.token)) expect(await lock.forceRelease('rates', lease.token)).toBe(false);
    expect(bench.document).toEqual(before);
    expect(await lock.acquire({ name: 'rates' })).toMatchObject({
      kind: 'acquired',
      damage: expect.stringContaining(Object.keys(change)[0] as string),
    });
    expect(await lock.acquire({ name: 'rates' })).toMatchObject({ kind: 'held' });
  });

  it('can be told again how it ended only while it can be read', async () => {
    const bench = new Bench();
    const lease = await bench.lease();
    await bench.lock.release(lease, { as: 'done', holdFor: 1000 });
    Object.assign(bench.document, { at: null });
    expect(await bench.lock.release(lease, { as: 'done', holdFor: 1000 })).toBe(false);
  });

  it("holds nobody back if it can't be read, or if nothing says when it ended", async () => {
    for (const change of [{ id: 5 }, { changedAt: 'yesterday' }, { changedAt: null }]) {
      const bench = new Bench();
      await bench.lock.release(await bench.lease(), { as: 'done', holdFor: 1000 });
      expect(await bench.kindAt(START)).toBe('done');
      Object.assign(bench.document, change);
      expect(await bench.kindAt(START)).toBe('acquired');
    }
  });

  it('shows nothing in place of what is only for people', async () => {
    const bench = new Bench();
    await bench.lease();
    Object.assign(bench.document, { text: 'no JSON', note: { $gt: 0 } });
    expect(await bench.lock.inspect('rates')).toEqual({
      name: 'rates',
      token: START * 1000,
      owner: '',
      host: '',
      state: 'running',
      tookOver: false,
      leaseLeft: MINUTE,
      holdLeft: 0,
      acquiredAgo: 0,
      finishedAgo: undefined,
      lastError: undefined,
    });
  });
});

describe('a snapshot that somebody has edited in MongoDB, by mingo', () => {
  it.each([{ token: '1' }, { token: null }, { at: null }, { text: 5 }])(
    'is damaged with %o',
    async (change) => {
      const collection = new EvaluatedCollection();
      const store = storeOf(mongodbBackend({ collection }));
      await store.write('rates', 'payload');
      Object.assign(collection.documents.get('snapshot/rates') as object, change);
      expect(await store.read('rates')).toMatchObject({ payload: '', damage: expect.any(String) });
      expect(await store.write('rates', 'mended')).toMatchObject({ kind: 'written' });
      expect(await store.read('rates')).toMatchObject({ payload: 'mended' });
    },
  );
});

describe('several names, by mingo', () => {
  it('500 cold keys of loadMany are at most 10 commands', async () => {
    const [locks, stores] = [new EvaluatedCollection(), new EvaluatedCollection()];
    const lock = lockOf(mongodbBackend({ collection: locks, ...PATIENT }));
    const store = storeOf(mongodbBackend({ collection: stores, ...PATIENT }));
    const open = () =>
      new RefreshingCache({
        ...{ name: 'c', schedule: MINUTE, timeout: MINUTE, backend: { lock, store } },
        loadMany: async (keys: readonly number[]) => new Map(keys.map((key) => [key, key])),
      });
    const commands = () => [...locks.commands, ...stores.commands].map(({ name }) => name);
    const warm = open(); // of a backend that has not answered lately one key asks first, and is loaded alone
    await warm.getMany([1000]);
    await warm.close();
    for (const { commands } of [locks, stores]) commands.length = 0;
    const keys = Array.from({ length: 500 }, (_, i) => i);
    const first = open();
    expect((await first.getMany(keys)).size).toBe(500);
    await first.close(); // the leases are released behind the reads
    expect([...locks.documents.values()].filter(({ phase }) => phase === 'held')).toHaveLength(501);
    const sent = commands();
    expect(sent.length, String(sent)).toBeLessThanOrEqual(10);
    expect((await open().getMany(keys)).size).toBe(500);
    expect(commands().length - sent.length).toBeLessThanOrEqual(3);
  });

  it('new names that two instances ask for at a time are given once each', async () => {
    const collection = new EvaluatedCollection();
    const names = ['a', 'b', 'c'];
    const [one, another] = [lockOf(mongodbBackend({ collection })), lockOf(mongodbBackend({ collection }))];
    const answers = await Promise.all([
      ...names.map((name) => one.acquire({ name })),
      ...names.toReversed().map((name) => another.acquire({ name })),
    ]);
    const kinds = answers.map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['acquired', 'acquired', 'acquired', 'held', 'held', 'held']);
  });

  it('a document that the server refuses is alone with that', async () => {
    const collection = new EvaluatedCollection({ refuses: ({ text }) => text === 'too long' });
    const store = storeOf(mongodbBackend({ collection }));
    const writes = ['a', 'too long', 'c'].map((payload, i) => store.write(payload, payload, i + 1));
    const ended = await Promise.allSettled(writes);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const message = expect.stringContaining('too large');
    expect(ended[1]).toMatchObject({ reason: { code: 'BACKEND_DOWN', message } });
  });
});

describe('the commands, as the driver is asked for them', () => {
  it('wait for the majority, ask the primary, and end when nobody waits any more', async () => {
    const bench = new Bench({ timeout: 1500 });
    const lease = await bench.lease();
    await bench.lock.extend(lease);
    await bench.lock.inspect('rates');
    const written = { writeConcern: { w: 'majority' }, maxTimeMS: 1500, returnDocument: 'after' };
    const expected = [
      ['findOneAndUpdate', expect.objectContaining({ ...written, upsert: true })],
      ['createIndex', { expireAfterSeconds: 0 }],
      ['findOneAndUpdate', expect.objectContaining(written)],
      ['aggregate', { readPreference: 'primary', maxTimeMS: 1500 }],
    ];
    expect(bench.collection.commands.map(({ name, args }) => [name, args.at(-1)])).toEqual(expected);
  });

  it('are asked for only of a collection, and with options that there are', () => {
    const collection = new EvaluatedCollection();
    const options = { collection, retention: 1000, leaseFor: 1000, timeout: 1000 };
    expect(() => lockOf(mongodbBackend(options))).not.toThrow();
    expect(() => lockOf(mongodbBackend({ ...options, client: {} } as never))).toThrow(/client/);
    expect(() => mongodbBackend({ collection: {} } as never)).toThrow(/^backend: .*collection/s);
  });
});

it('a check of many names is one command in MongoDB, and its report another', async () => {
  const collection = new EvaluatedCollection();
  const store = storeOf(mongodbBackend({ collection }));
  const names = Array.from({ length: 1000 }, (_, i) => `${i}`);
  await store.write('7', 'payload', 7);
  collection.commands.length = 0;
  expect((await store.versions(names))[7]).toBe(7);
  await store.versions(names, { instance: 'i', text: '[]', keepFor: 60_000 });
  const sent = collection.commands.map(({ name }) => name).filter((name) => name !== 'createIndex'); // once, behind
  expect(sent.sort()).toEqual(['aggregate', 'aggregate', 'findOneAndUpdate']);
});
