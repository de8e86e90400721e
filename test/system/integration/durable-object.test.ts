import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { ObjectRecords } from '../../../src/backends/durable-object/object-records.ts';
import {
  type DurableObjectBackendOptions,
  durableObjectBackend,
  type ObjectNamespace,
} from '../../../src/backends/durable-object.ts';
import { PeriodicExecutor, RefreshingValue } from '../../../src/index.ts';
import type { StoredRecord } from '../../../src/records/edited.ts';
import { NAME, type Part } from '../../../src/records/names.ts';
import { recordsCases } from '../../../src/testing/records-conformance.ts';
import { changedText, type FieldsChange, partIn } from '../../support/cell-text.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { type ConformanceSubject, conformance, KEEP_VERSIONS } from './support/conformance.ts';
import { postdated, textDamage } from './support/edits.ts';
import { startExample, startWorkerd, type Workerd } from './support/workerd.ts';

const workerd = await startWorkerd();
afterAll(() => workerd.miniflare.dispose());

const binding = await workerd.objects('TICKLESS');
const lock = (options: Partial<DurableObjectBackendOptions> = {}) =>
  lockOf(durableObjectBackend({ binding, timeout: 10_000, ...options }));
const store = (options: Partial<DurableObjectBackendOptions> = {}) =>
  storeOf(durableObjectBackend({ binding, timeout: 10_000, ...options }));

/** Sends a request of its own to an object. */
async function request(objects: ObjectNamespace, path: string, body: string): Promise<unknown> {
  const stub = objects.get(objects.idFromName('tickless'));
  const signal = AbortSignal.timeout(10_000);
  const response = await stub.fetch(`http://object/${path}`, { method: 'POST', body, signal });
  return JSON.parse(await response.text());
}

/** Runs a statement in an object, as a person does. */
async function sqlIn(objects: ObjectNamespace, ...statement: string[]): Promise<Record<string, unknown>[]> {
  return (await request(objects, 'sql', JSON.stringify(statement))) as Record<string, unknown>[];
}
const sql = (...statement: string[]) => sqlIn(binding, ...statement);

/** Edits the text of a row. */
async function edit(name: string, part: Part, change: FieldsChange): Promise<void> {
  const where = "WHERE partition = ? AND sort = 'v1'";
  const [row] = await sql(`SELECT body FROM tickless ${where}`, NAME + name);
  await sql(
    `UPDATE tickless SET body = ? ${where}`,
    changedText(String(row?.body), part, change),
    NAME + name,
  );
}

describe('Durable Object', async () => {
  const silent = await workerd.objects('SILENT');
  const open: ConformanceSubject['one'] = (options) => durableObjectBackend({ binding, ...options });
  conformance({
    one: open,
    another: open,
    none: (options) => durableObjectBackend({ binding: silent, ...options }),
    edits: {
      forget: async (name) => void (await sql('DELETE FROM tickless WHERE partition = ?', NAME + name)),
      damage: (name, field) => edit(name, 'lock', () => textDamage(field)),
      postdate: (name, ms) => edit(name, 'snapshot', (fields) => postdated(fields, ms)),
    },
  });
});

describe('records in a Durable Object', { concurrent: true }, () => {
  const records = () => new ObjectRecords({ binding, timeout: 10_000 });
  for (const { name, run } of recordsCases({ records })) it(name, run);
});

/** A source whose answers the test gives. */
class Source {
  requests = 0;
  readonly #waiting: ((edition: string) => void)[] = [];

  readonly answer = (): Promise<string> => {
    this.requests += 1;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  };

  /** Answers the next request, when it has come. */
  async give(edition: string): Promise<void> {
    await expect.poll(() => this.#waiting.length).toBeGreaterThan(0);
    this.#waiting.shift()?.(edition);
  }
}

async function withWorkers<R>(
  use: (workers: Workerd, source: Source) => Promise<R>,
  folder?: string,
): Promise<R> {
  const source = new Source();
  const own = await startWorkerd(source.answer, folder);
  try {
    return await use(own, source);
  } finally {
    await own.miniflare.dispose();
  }
}

/** The steps that the object has taken since it was asked last. */
async function stepsOf(own: Workerd): Promise<string[]> {
  const objects = await own.objects('TICKLESS');
  return (await request(objects, 'steps', '')) as string[];
}

/** The record of a lock, without a step. */
async function lockRowOf(own: Workerd, name: string): Promise<StoredRecord | undefined> {
  const statement = ['SELECT body FROM tickless WHERE partition = ?', NAME + name];
  const [row] = await sqlIn(await own.objects('TICKLESS'), ...statement);
  return row && (partIn(String(row.body), 'lock') as unknown as StoredRecord);
}

const untilDone = (own: Workerd, name: string) =>
  expect.poll(async () => (await lockRowOf(own, name))?.note).toContain('done');

describe('Workers', () => {
  it('nothing runs at import; a cold read loads, and another Worker adopts the snapshot', () =>
    withWorkers(async (own, source) => {
      expect(await own.send('one', '/state')).toEqual({ loads: 0, edition: null, isRunning: false });
      expect([source.requests, await stepsOf(own)]).toEqual([0, []]);
      const first = own.send('one', '/read');
      await source.give('a');
      expect(await first).toBe('a');
      const stepsUntil = async (count: number): Promise<unknown[]> => {
        const steps: unknown[] = [];
        await expect.poll(async () => steps.push(...(await stepsOf(own)))).toBe(count);
        return steps;
      };
      // One of the reads is the first check, which is due at once: a Worker has no clock while it is imported.
      const reads = ['read snapshot', 'read snapshot'];
      const round = [...reads, 'claim lock, read snapshot', 'put snapshot, amend lock to held'];
      expect(await stepsUntil(round.length)).toEqual(round);
      expect(await own.send('two', '/read')).toBe('a');
      expect([source.requests, await stepsUntil(reads.length)]).toEqual([1, reads]);
    }));

  it('a due read is answered before the reload ends, and waitUntil ends it: two requests; one for the other Worker', () =>
    withWorkers(async (own, source) => {
      const first = own.send('one', '/read');
      await source.give('a');
      await first;
      await own.send('two', '/read');
      await untilDone(own, 'edition');
      await stepsOf(own);
      const readUntilItLoads = async (): Promise<number> => {
        expect(await own.send('one', '/read')).toBe('a');
        return source.requests;
      };
      await expect.poll(readUntilItLoads).toBe(2);
      expect(await own.send('one', '/state')).toMatchObject({ edition: 'a', isRunning: true });
      await source.give('b');
      await expect.poll(() => own.send('one', '/state')).toMatchObject({ edition: 'b', isRunning: false });
      await untilDone(own, 'edition');
      const steps = (await stepsOf(own)).filter((step) => step !== 'amend lock');
      expect(steps).toEqual(['claim lock, read snapshot', 'put snapshot, amend lock to held']);
      expect(await own.send('two', '/read')).toBe('a');
      await expect.poll(() => own.send('two', '/state')).toMatchObject({ edition: 'b', isRunning: false });
      expect([source.requests, await stepsOf(own)]).toEqual([2, ['claim lock, read snapshot']]);
    }));

  it('cold reads of both at a time: one load', () =>
    withWorkers(async (own, source) => {
      const reads = [own.send('one', '/read'), own.send('two', '/read')];
      await source.give('a');
      expect(await Promise.all(reads)).toEqual(['a', 'a']);
      expect(source.requests).toBe(1);
    }));

  it('cold reads of several requests to one Worker share its load', () =>
    withWorkers(async (own, source) => {
      const reads = [own.send('one', '/read'), own.send('one', '/read')];
      await expect.poll(() => source.requests).toBe(1);
      reads.push(own.send('one', '/read'), own.send('one', '/follow'), own.send('one', '/follow'));
      await sleep(300); // those that wait have nothing of their own under way
      await source.give('a');
      expect(await Promise.all(reads)).toEqual(['a', 'a', 'a', 'the first', 'the first']);
      expect(source.requests).toBe(1);
    }));

  it('one that dies while it loads is replaced when its lease is over', () =>
    withWorkers(async (own, source) => {
      await own.send('one', '/die'); // the runtime ends what the request has begun
      expect(source.requests).toBe(1);
      const before = await lockRowOf(own, 'edition');
      expect(before?.phase).toBe('leased');
      const other = own.send('two', '/read');
      await expect.poll(() => source.requests).toBe(2);
      const after = await lockRowOf(own, 'edition');
      expect(after?.token).toBeGreaterThan(Number(before?.token));
      expect(after?.phase).toBe('seized');
      await source.give('of the dead');
      await source.give('b');
      expect(await other).toBe('b');
    }));

  it('the option waitUntil of a member: all that reads begin ends behind the responses', () =>
    withWorkers(async (own) => {
      expect(await own.send('one', '/follow')).toBe('the first');
      await untilDone(own, 'followed');
      expect(await own.send('two', '/follow')).toBe('the first');
      await own.send('one', '/set-everywhere');
      await expect.poll(() => own.send('two', '/follow')).toBe('the second');
      await own.send('one', '/set-everywhere');
      await expect.poll(() => own.send('two', '/follow')).toBe('the third');
    }));

  it('a task runs once for both', () =>
    withWorkers(async (own, source) => {
      await Promise.all([own.send('one', '/start-task'), own.send('two', '/start-task')]);
      await source.give('done');
      await untilDone(own, 'task');
      await Promise.all([own.send('one', '/start-task'), own.send('two', '/start-task')]);
      expect(source.requests).toBe(1);
    }));
});

describe('an object that is started again', () => {
  it('has its records: tokens, holds, versions and pins', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tickless-object-'));
    const older = { keepVersions: KEEP_VERSIONS };
    try {
      const { token, versions } = await withWorkers(async (own) => {
        const objects = await own.objects('TICKLESS');
        const { token } = await leaseOf(lock({ binding: objects }), { name: 'a', leaseFor: 60_000 });
        const kept = store({ binding: objects, ...older });
        await kept.write('a', 'x'.repeat(2_500_000));
        await kept.write('a', 'second');
        const prices = pinned(objects, ['first', 'second']);
        await prices.get();
        await expect.poll(() => prices.history()).toHaveLength(1);
        const [{ version = 0 } = {}] = await prices.history();
        await prices.refresh();
        await prices.rollback({ to: version, by: 'a test' });
        await prices.close();
        return { token, versions: await kept.history('a') };
      }, folder);
      await withWorkers(async (own) => {
        const objects = await own.objects('TICKLESS');
        const again = lock({ binding: objects });
        expect(await again.acquire({ name: 'a' })).toMatchObject({ kind: 'held', token });
        await again.forceRelease('a', token);
        expect((await leaseOf(again, { name: 'a' })).token).toBeGreaterThan(token);
        const kept = store({ binding: objects, ...older });
        expect((await kept.history('a')).map(({ version }) => version)).toEqual(
          versions.map(({ version }) => version),
        );
        expect((await kept.read('a', -1, versions[1]?.version))?.payload).toHaveLength(2_500_000);
        const prices = pinned(objects, ['third']);
        expect(await prices.get()).toBe('first');
        await expect(prices.refresh()).rejects.toMatchObject({ code: 'PINNED' });
        expect(await prices.unpin()).toBe(true);
        expect(await prices.refresh()).toBe('third');
        await prices.close();
      }, folder);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** A value in Node, with lock and store in the object. */
function pinned(objects: ObjectNamespace, editions: string[]): RefreshingValue<string> {
  const backend = durableObjectBackend({ binding: objects, timeout: 10_000, keepVersions: KEEP_VERSIONS });
  const load = (): string => editions.shift() ?? 'too many loads';
  return new RefreshingValue({ name: 'prices', load, schedule: { hours: 1 }, backend });
}

describe('an answer that is lost', () => {
  it('the same request again gets the same lease; a write that is repeated counts once', async () => {
    const objects = await workerd.objects('LOSSY');
    const lossy = lock({ binding: objects });
    const first = { name: 'lost', requestId: 'r', owner: 'o', host: 'h', leaseFor: 60_000, force: false };
    await expect(lossy.acquire(first)).rejects.toMatchObject({ code: 'BACKEND_DOWN' });
    await expect(lossy.acquire({ ...first, requestId: 'other' })).rejects.toThrow();
    expect(await lossy.acquire({ ...first, requestId: 'other' })).toMatchObject({ kind: 'held' });
    const lease = await leaseOf(lossy, first);
    const outcome = { as: 'done', holdFor: 60_000 } as const;
    await expect(lossy.release(lease, outcome)).rejects.toThrow('the answer is lost');
    expect(await lossy.release(lease, outcome)).toBe(true);
    const kept = store({ binding: objects, keepVersions: KEEP_VERSIONS });
    await expect(kept.write('lost', 'payload', 5)).rejects.toThrow('the answer is lost');
    await kept.write('lost', 'payload', 5);
    await kept.history('lost').catch(() => {});
    expect(await kept.history('lost')).toMatchObject([{ version: 5 }]);
  });
});

describe('an object that does not answer as it should', () => {
  const reasonOf = async (name: 'SILENT' | 'BROKEN' | 'OTHER' | 'KEY_VALUE'): Promise<string> => {
    const error = await lock({ binding: await workerd.objects(name), timeout: 1000 })
      .inspect('a')
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'BACKEND_DOWN' });
    return (error as Error).message;
  };

  it('the error of a step says why', async () => {
    expect(await reasonOf('SILENT')).toMatch(/no answer within 1 s|timeout/);
    expect(await reasonOf('BROKEN')).toMatch(/broken/);
    expect(await reasonOf('OTHER')).toMatch(/\(hello\).*TicklessObject/);
    expect(await reasonOf('KEY_VALUE')).toMatch(/new_sqlite_classes/);
  });

  it('a value loads without it, a task is skipped', async () => {
    const silent = lock({ binding: await workerd.objects('SILENT'), timeout: 500 });
    const value = new RefreshingValue({ name: 'a', load: () => 'loaded', lock: silent, logger: false });
    expect(await value.get()).toBe('loaded');
    let runs = 0;
    const run = (): void => {
      runs += 1;
    };
    const task = new PeriodicExecutor(run, { name: 'b', lock: silent, logger: false });
    await task.requestStart().catch(() => {});
    expect(runs).toBe(0);
    await Promise.all([value.close(), task.close()]);
  });

  it('a name that is longer than a row fails alone', async () => {
    const long = { name: 'x'.repeat(2_200_000) };
    const shared = lock();
    const [first, second] = [shared.acquire({ name: 'fits' }), shared.acquire(long)];
    const message = expect.stringMatching(/too big/);
    await expect(second).rejects.toMatchObject({ code: 'BACKEND_DOWN', message });
    expect(await first).toMatchObject({ kind: 'acquired' });
  });

  it('requests that are not steps are refused', async () => {
    const objects = await workerd.objects('LOSSY');
    const stub = objects.get(objects.idFromName('other')) as unknown as { fetch: typeof fetch };
    const send = async (init?: RequestInit): Promise<string> => {
      await stub.fetch('http://object/', init).catch(() => {}); // lost
      return (await stub.fetch('http://object/', init)).text();
    };
    expect(await send({ method: 'PUT', body: 'x' })).toMatch(/only locks and stores/);
    for (const step of ['close', 'constructor', '__proto__']) {
      const body = JSON.stringify({ step, args: [] });
      expect(await send({ method: 'POST', body })).toMatch(/no step \w+: deploy/);
    }
    expect(await send({ method: 'POST', body: 'x' })).toMatch(/"error"/);
  });
});

describe('retention in a Durable Object', () => {
  it('its alarm deletes what has expired, and nothing else', () =>
    withWorkers(async (own) => {
      const objects = await own.objects('TICKLESS');
      const rows = () => sqlIn(objects, 'SELECT partition, sort FROM tickless ORDER BY partition');
      const kept = { binding: objects };
      await lock(kept).acquire({ name: 'kept' });
      await store(kept).write('long', 'x'.repeat(4_000_000));
      await store(kept).write('short', 'x');
      await sqlIn(objects, "UPDATE tickless SET expires_at = 1 WHERE partition != 'name/kept'");
      await lock({ ...kept, leaseFor: 100, retention: 100 }).acquire({ name: 'brief' });
      await expect.poll(rows).toEqual([{ partition: 'name/kept', sort: 'v1' }]);
    }));

  it('for ever: without an end', async () => {
    await lock({ retention: Infinity }).acquire({ name: 'for ever', leaseFor: 1000 });
    const [row] = await sql('SELECT expires_at FROM tickless WHERE partition = ?', 'name/for ever');
    expect(row).toEqual({ expires_at: null });
  });

  it('a payload that is replaced leaves no parts', () =>
    withWorkers(async (own) => {
      const objects = await own.objects('TICKLESS');
      const kept = store({ binding: objects });
      for (let i = 0; i < 3; i += 1) await kept.write('a', 'x'.repeat(4_000_000 - i));
      const rows = () => sqlIn(objects, 'SELECT count(*) AS rows FROM tickless');
      await expect.poll(rows).toEqual([{ rows: 1 + 3 }]); // deleted behind the answer
      await kept.delete('a');
      await expect.poll(rows).toEqual([{ rows: 0 }]);
    }));
});

it('refuses a binding that is not one, and an object without a name', () => {
  const refused = expect.objectContaining({ code: 'OPTION' });
  expect(() => lockOf(durableObjectBackend({ binding: undefined as never }))).toThrow(refused);
  expect(() => storeOf(durableObjectBackend({ binding: {} as never }))).toThrow(refused);
  expect(() => lock({ object: '' })).toThrow(refused);
});

it('the Worker of docs/serverless.md loads once, and at its cron', async () => {
  let requests = 0;
  const example = await startExample(() => {
    requests += 1;
    return { USD: requests };
  });
  try {
    const read = async () => (await (await example.dispatchFetch('http://example/')).json()) as object;
    expect(await read()).toMatchObject({ value: { USD: 1 } });
    expect(await read()).toMatchObject({ value: { USD: 1 }, age: expect.any(Number) });
    expect(await (await example.getWorker()).scheduled({ cron: '*/5 * * * *' })).toMatchObject({
      outcome: 'ok',
    });
    expect(requests).toBe(1);
  } finally {
    await example.dispose();
  }
});
