import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MongoCollection } from '../../../src/backends/mongodb/collection.ts';
import { MongoCells } from '../../../src/backends/mongodb/mongo-cells.ts';
import { type MongodbBackendOptions, mongodbBackend } from '../../../src/backends/mongodb.ts';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import { RefreshingCache } from '../../../src/index.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { NAME, type Part } from '../../../src/records/names.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';
import { changedText, type FieldsChange, partIn } from '../../support/cell-text.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { type ConformanceSubject, conformance } from './support/conformance.ts';
import { postdated, textDamage } from './support/edits.ts';
import { EvaluatedCollection } from './support/evaluated-collection.ts';

// No server: an evaluator of its language. What only a server can show is in conformance.test.ts, where one is given.

/** All is done by this process: an answer takes a millisecond or two. */
const UNIT_MS = 200;
/** All cases run at a time. */
const PATIENT = { timeout: 10_000 };
const START = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;
const DAY = 86_400_000;

type Fields = Record<string, unknown>;

/** Changes fields of a part of a text by hand. */
function edit({ documents }: EvaluatedCollection, name: string, part: Part, change: FieldsChange): void {
  const document = documents.get(NAME + name);
  documents.set(NAME + name, { ...document, record: changedText(String(document?.record), part, change) });
}

describe("MongoDB's pipelines, evaluated by mingo", () => {
  const locks = new EvaluatedCollection();
  const stores = new EvaluatedCollection();
  const none = new EvaluatedCollection({ failsWith: new Error('connect ECONNREFUSED') });

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
      forget: (name) => void locks.documents.delete(NAME + name),
      damage: (name, field) => edit(locks, name, 'lock', () => textDamage(field)),
      postdate: (name, ms) => edit(stores, name, 'snapshot', (fields) => postdated(fields, ms)),
    },
  });
});

describe('records in MongoDB, by mingo', () => {
  const collection = new EvaluatedCollection();
  const other = Object.assign(new EvaluatedCollection(), {
    documents: collection.documents,
    bulkWrite: undefined,
  });
  const open = (some: MongoCollection) => new MongoCells(some, 10_000);
  const subject = { cells: () => open(collection), other: () => open(other as MongoCollection) };
  for (const { name, run } of recordsConformance(subject)) it(name, run);
});

/** The server's clock counts milliseconds, so an instance knows it to one: what ends, ends that much later. */
const ROUNDED = 1;

/** A lock over an evaluated collection. The test moves the clocks of both machines, which stand still. */
class Bench {
  #now = START;
  readonly collection: EvaluatedCollection = new EvaluatedCollection({ now: () => this.#now });
  readonly lock: Lock;

  constructor(options: Omit<MongodbBackendOptions, 'collection'> = {}) {
    this.lock = lockOf(mongodbBackend({ collection: this.collection, leaseFor: MINUTE, ...options }));
  }

  get now(): number {
    return this.#now;
  }

  set now(now: number) {
    vi.advanceTimersByTime(Math.max(0, now - this.#now));
    this.#now = now;
  }

  get document(): Fields {
    return this.collection.documents.get('name/rates') as Fields;
  }

  get record(): Fields {
    return partIn(String(this.document.record), 'lock');
  }

  lease(): Promise<Lease> {
    return leaseOf(this.lock, { name: 'rates', owner: 'me', requestId: 'first', host: 'here' });
  }

  async kindAt(now: number): Promise<string> {
    this.now = now;
    return (await this.lock.acquire({ name: 'rates' })).kind;
  }
}

/** The instant, as far as an instance knows the server's clock a minute after an answer. */
function about(instant: number): unknown {
  return expect.closeTo(instant, -2);
}

function standingClocks(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());
}

describe('a record in MongoDB, by mingo', () => {
  standingClocks();

  it('is a text in a document that is deleted after its end', async () => {
    const bench = new Bench();
    const lease = await bench.lease();
    const end = () => (bench.document.expireAt as Date).getTime() - 7 * DAY;
    expect(bench.document).toEqual({
      _id: 'name/rates',
      record: expect.any(String),
      main: null,
      long: [],
      askedAt: new Date(START),
      expireAt: new Date(START + ROUNDED + MINUTE + 7 * DAY),
    });
    expect(bench.record).toMatchObject({
      token: START * 1000, // of the earliest moment that the clock may show
      id: 'first',
      phase: 'leased',
      at: START,
    });
    bench.now += 1000;
    await bench.lock.extend(lease, 2 * MINUTE);
    expect(bench.record).toMatchObject({ phase: 'leased', until: about(bench.now + 2 * MINUTE) });
    expect(end()).toEqual(about(bench.now + 2 * MINUTE));
    await bench.lock.release(lease, { as: 'failed', holdFor: 5000, error: 'down' });
    expect(bench.record).toMatchObject({ phase: 'held', note: '{"state":"failed","error":"down"}' });
    expect(end()).toEqual(about(bench.now + 5000));
    const before = bench.document;
    await bench.lock.release(lease, { as: 'failed', holdFor: 5000, error: 'down' });
    expect(bench.document).toEqual(before);
    await bench.lock.forceRelease('rates', lease.token);
    expect(bench.record).toMatchObject({ phase: 'held', note: '{"state":"released"}', until: 0 });
    expect(end()).toEqual(about(bench.now));
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
      expect(bench.document.expireAt).toEqual(new Date(START + ROUNDED + 1000 + MINUTE));
      bench.now += 1000 + ROUNDED;
      await release();
      const kept = retention === Infinity ? null : new Date(bench.now + ROUNDED + 1000 + retention);
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
  standingClocks();

  it('a lease is over when its time has passed, and so is a hold', async () => {
    const bench = new Bench();
    const first = await bench.lease();
    expect(await bench.kindAt(START + MINUTE - 1)).toBe('held');
    bench.now = START + MINUTE + 1 + ROUNDED;
    expect(await bench.lock.extend(first)).toBe(false);
    await bench.lock.release(await bench.lease(), { as: 'done', holdFor: 1000 });
    expect(await bench.kindAt(START + MINUTE + 1000)).toBe('done');
    expect(await bench.kindAt(START + MINUTE + 1002 + 2 * ROUNDED)).toBe('acquired');
  });

  it('a lease does not outlive a clock that was set back by more than a minute, nor does a hold', async () => {
    const bench = new Bench();
    const { token } = await bench.lease();
    expect(await bench.kindAt(START - MINUTE)).toBe('held');
    expect(await bench.kindAt(START - MINUTE - 1 - ROUNDED)).toBe('acquired');
    expect(bench.record.token).toBe(token + 1);
    const held = new Bench();
    held.now = START - DAY;
    const lease = await held.lease();
    await held.lock.extend(lease, 2 * DAY);
    held.now = START;
    await held.lock.release(lease, { as: 'done', holdFor: 1000 });
    expect(await held.kindAt(START - MINUTE)).toBe('done');
    expect(await held.kindAt(START - MINUTE - 1 - ROUNDED)).toBe('acquired');
  });
});

describe('what a caller hands back as a lease, by mingo', () => {
  standingClocks();

  it.each([
    ['a token', { token: { $gt: 0 } }],
    ['a request', { requestId: { $gt: '' } }],
  ])('is no condition: %s', async (_, change) => {
    const bench = new Bench();
    const lease = { ...(await bench.lease()), ...change } as never;
    const before = bench.record;
    expect(await bench.lock.extend(lease)).toBe(false);
    expect(await bench.lock.release(lease, { as: 'done', holdFor: 1000 })).toBe(false);
    expect(bench.record).toEqual(before);
  });
});

describe('a record that somebody has edited in MongoDB, by mingo', () => {
  standingClocks();

  it.each([
    { record: undefined },
    { record: 5 },
    { record: '{' },
    ...[{ token: '1' }, { token: -1 }, { token: null }, { phase: 'weird' }, { id: null }],
    ...[{ until: 'soon' }, { at: null }, { changedAt: null }, { text: 5 }],
  ])('counts as none with %o', async (change) => {
    const bench = new Bench();
    const lease = await bench.lease();
    if ('record' in change) Object.assign(bench.document, change);
    else edit(bench.collection, 'rates', 'lock', () => change);
    const { record } = bench.document;
    const { lock } = bench;
    expect(await lock.inspect('rates')).toBeUndefined();
    expect(await lock.list()).toEqual([]);
    expect(await lock.extend(lease)).toBe(false);
    expect(await lock.release(lease, { as: 'done', holdFor: 0 })).toBe(false);
    expect(await lock.forceRelease('rates', lease.token)).toBe(false);
    expect(bench.document.record).toEqual(record);
    const damage = expect.any(String);
    expect(await lock.acquire({ name: 'rates' })).toMatchObject({ kind: 'acquired', damage });
    expect(await lock.acquire({ name: 'rates' })).toMatchObject({ kind: 'held' });
  });

  it('is replaced at once by an instance that has not seen it, and so is one of another format', async () => {
    for (const document of [
      { _id: 'name/rates', record: 5 },
      { _id: 'name/rates', token: 1 },
    ]) {
      const bench = new Bench();
      await bench.lock.acquire({ name: 'another' }); // the clock is known: no look is needed
      bench.collection.documents.set('name/rates', document);
      const damage = expect.any(String);
      expect(await bench.lock.acquire({ name: 'rates' })).toMatchObject({ kind: 'acquired', damage });
    }
  });

  it('can be told again how it ended only while it can be read', async () => {
    const bench = new Bench();
    const lease = await bench.lease();
    await bench.lock.release(lease, { as: 'done', holdFor: 1000 });
    edit(bench.collection, 'rates', 'lock', () => ({ at: null }));
    expect(await bench.lock.release(lease, { as: 'done', holdFor: 1000 })).toBe(false);
  });
});

describe('a long payload in MongoDB, by mingo', () => {
  const LONG = '$x'.repeat(2000);
  const open = (older = 0) => {
    const collection = new EvaluatedCollection();
    const store = storeOf(mongodbBackend({ collection, retention: Infinity, keepVersions: older + 1 }));
    const sent = () => collection.commands.splice(0).map(({ name, args }) => [name, JSON.stringify(args)]);
    const document = () => collection.documents.get('name/rates') as Fields & { long: unknown[] };
    return { collection, store, sent, document };
  };

  it('is in the document of its record, and is written and read by a command', async () => {
    const { store, sent, document } = open();
    await store.write('rates', LONG, 1);
    sent();
    await store.write('rates', `${LONG}2`, 2);
    expect(await store.read('rates')).toMatchObject({ payload: `${LONG}2` });
    expect(sent().map(([name]) => name)).toEqual(['findOneAndUpdate', 'aggregate']);
    expect(document()).toMatchObject({ record: expect.not.stringContaining('$x'), expireAt: null });
    expect(document().long).toEqual([{ id: document().main, text: `${LONG}2` }]);
    await store.delete('rates');
    expect(document()).toBeUndefined();
  });

  it('does not travel with a confirmation, nor to one who has it', async () => {
    const { collection, store, sent } = open();
    await store.write('rates', LONG, 1);
    const aggregate = collection.aggregate.bind(collection);
    const shown: unknown[] = [];
    collection.aggregate = (...args) => ({
      toArray: async () => {
        const found = await aggregate(...args).toArray();
        shown.push(...found);
        return found;
      },
    });
    sent();
    expect(await store.confirm('rates', 1, 'checked')).toMatchObject({ kind: 'written' });
    expect(await store.read('rates', 1)).toBeUndefined();
    expect(await store.versions(['rates'])).toEqual([1]);
    expect(JSON.stringify([sent(), shown])).not.toContain('$x$x');
    expect(await store.read('rates')).toMatchObject({ payload: LONG });
    expect(JSON.stringify(shown)).toContain('$x$x');
  });

  it('stays as long as an earlier version is kept', async () => {
    const { store, document } = open(1);
    for (const version of [1, 2, 3]) await store.write('rates', `${LONG}${version}`, version);
    expect(document().long).toHaveLength(2);
    expect(await store.read('rates', -1, 2)).toMatchObject({ payload: `${LONG}2` });
    await store.write('rates', 'short', 4);
    await store.write('rates', 'short', 5);
    expect(document()).toMatchObject({ main: null, long: [] });
  });

  it('has as many versions beside it as fit into the document', async () => {
    const { store } = open(9);
    const million = 'x'.repeat(1_000_000);
    for (const version of [1, 2, 3]) await store.write('rates', million.repeat(5), version);
    expect(await store.history('rates')).toHaveLength(3);
    await store.write('rates', million.repeat(6), 4);
    expect((await store.history('rates')).map(({ version }) => version)).toEqual([4, 3, 2]);
    await store.write('rates', million.repeat(15), 5);
    expect(await store.history('rates')).toMatchObject([{ version: 5, bytes: 15_000_000 }]);
  });

  it.each([{ long: undefined }, { long: 'x' }, { long: [5, null, { text: 'x' }] }, { main: 'another' }])(
    'that somebody has edited is damaged, and is replaced: %o',
    async (change) => {
      const { collection, store, document } = open();
      await store.write('rates', LONG, 1);
      Object.assign(document(), change);
      const isLost = 'long' in change;
      expect(await store.read('rates')).toMatchObject(
        isLost ? { damage: expect.any(String) } : { payload: LONG },
      );
      expect(await store.history('rates')).toMatchObject([
        isLost ? { damage: expect.any(String) } : { version: 1 },
      ]);
      expect(await store.write('rates', 'mended', 2)).toMatchObject({ kind: 'written' });
      expect(await store.read('rates')).toMatchObject({ payload: 'mended' });
      Object.assign(document(), { record: 5 });
      await store.write('rates', `${LONG}3`, 3);
      expect(document().long).toHaveLength(1);
      expect(collection.documents.size).toBe(2); // the other one tells the clock
    },
  );
});

describe('several names, by mingo', () => {
  it('500 cold keys of loadMany are at most 10 commands', async () => {
    const collection = new EvaluatedCollection();
    const backend = mongodbBackend({ collection, ...PATIENT });
    const open = () =>
      new RefreshingCache({
        ...{ name: 'c', schedule: MINUTE, timeout: MINUTE, backend },
        loadMany: async (keys: readonly number[]) => new Map(keys.map((key) => [key, key])),
      });
    const commands = () => collection.commands.map(({ name }) => name);
    const warm = open(); // of a backend that has not answered lately one key asks first, and is loaded alone
    await warm.getMany([1000]);
    await warm.close();
    collection.commands.length = 0;
    const keys = Array.from({ length: 500 }, (_, i) => i);
    const first = open();
    expect((await first.getMany(keys)).size).toBe(500);
    await first.close(); // the leases are released behind the reads
    const phases = [...collection.documents].flatMap(([id, one]) =>
      id === 'clock' ? [] : partIn(String(one.record), 'lock').phase,
    );
    expect(phases).toEqual(Array(501).fill('held'));
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
    const collection = new EvaluatedCollection({
      refuses: ({ record }) => String(record).includes('too long'),
    });
    const store = storeOf(mongodbBackend({ collection }));
    const writes = ['a', 'too long', 'c'].map((payload, i) => store.write(payload, payload, i + 1));
    const ended = await Promise.allSettled(writes);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const message = expect.stringContaining('too large');
    expect(ended[1]).toMatchObject({ reason: { code: 'BACKEND_DOWN', message } });
  });
});

describe('the commands, as the driver is asked for them', () => {
  standingClocks();

  it('wait for the majority, ask the primary, and end when nobody waits any more', async () => {
    const bench = new Bench({ timeout: 1500 });
    const lease = await bench.lease();
    await bench.lock.extend(lease);
    await bench.lock.inspect('rates');
    const written = { writeConcern: { w: 'majority' }, maxTimeMS: 4500, returnDocument: 'after' };
    const read = { readPreference: 'primary', maxTimeMS: 4500 };
    const expected = [
      ['aggregate', read], // the clock of a new collection
      ['findOneAndUpdate', expect.objectContaining({ ...written, upsert: true })],
      ['findOneAndUpdate', expect.objectContaining({ ...written, upsert: true })],
      ['createIndex', { expireAfterSeconds: 0 }],
      ['findOneAndUpdate', expect.objectContaining({ ...written, upsert: false })],
      ['aggregate', read],
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
