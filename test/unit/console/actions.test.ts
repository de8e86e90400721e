import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { AuditRecord } from '../../../src/console/audit-record.ts';
import {
  RefreshGroup as Group,
  lockedTask,
  type RefreshGroup,
  type RefreshingValue,
} from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { Link } from '../../support/cluster.ts';
import { type Answer, openConsole, TestConsole } from '../../support/console.ts';
import { leaseOf } from '../../support/lease.ts';
import { storeOf } from '../../support/parts.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';
import { untilHeld } from '../../support/until-held.ts';

interface Instance {
  readonly link: Link;
  readonly console: TestConsole;
  readonly group: RefreshGroup;
  readonly prices: RefreshingValue<readonly number[]>;
}

/** Instances with a console each, that share a backend, and a lock and a store of it. */
function instances() {
  const records = memoryRecords(systemClock);
  const connect = (): Link => new Link(records, { keepVersions: 5 });
  const source = {
    prices: [1, 2, 3, 4] as readonly number[],
    error: undefined as Error | undefined,
    loads: 0,
  };
  const make = (): Instance => {
    const link = connect();
    const { backend } = link;
    const quiet = { logger: false, retry: false, schedule: '1h' } as const;
    const group = new Group({ backend, ...quiet, propagateWithin: 30 });
    const prices = group.value<readonly number[]>({
      name: 'prices',
      load: async () => {
        source.loads += 1;
        if (source.error) throw source.error;
        return source.prices;
      },
      accept: (value) => value.length > 2 || 'too few',
    });
    const authorize = (request: Request): string => request.headers.get('cookie') ?? 'ann';
    const console = openConsole({ actions: true, backend, authorize }, group);
    return { link, console, group, prices };
  };
  const { lock, store } = connect();
  return { source, lock, store, make };
}

const AUDIT = 'tickless-console-audit';

/** The notes of the audit, as an instance lists it; of those that are on it only. */
async function notes({ console }: Instance): Promise<string[]> {
  const { records } = (await console.get('api/audit')).body;
  return records.map(({ note }: { note: string }) => note).sort();
}

async function unwritten({ console }: Instance): Promise<string[]> {
  const { records } = (await console.get('api/audit')).body;
  return records
    .flatMap((record: { note: string; unwritten?: true }) => (record.unwritten ? [record.note] : []))
    .sort();
}

/** The body of an action on the version in place, as the page shows it. */
const present = async (console: TestConsole, more: object = {}): Promise<object> => {
  const { history } = await detail(console, 'prices');
  return { id: 'prices', present: history[0]?.version, ...more };
};

const detail = async (console: TestConsole, id: string): Promise<Answer['body']> =>
  (await console.get(`api/member?id=${encodeURIComponent(id)}`)).body;

describe('a value', () => {
  it('is refreshed, pinned, rolled back and unpinned, and the detail shows it', async () => {
    const { make, source } = instances();
    const { console, prices } = make();
    await prices.get();
    source.prices = [5, 6, 7];
    const refreshed = await console.act('refresh', { id: 'prices' });
    expect([refreshed.status, refreshed.body.result]).toEqual([200, 'done']);
    const { history } = await detail(console, 'prices');
    expect(history).toHaveLength(2);
    const to = history[1].version;
    const compared = await console.get(`api/compare?id=prices&before=${to}&after=${history[0].version}`);
    expect(compared.body).toEqual({ added: 3, removed: 4, changed: 0, unchanged: 0, parts: [] });
    const back = { version: to, note: 'too cheap', holdMs: 60_000 };
    const rolled = await console.act('rollback', await present(console, back));
    expect({ status: rolled.status, peek: prices.peek() }).toEqual({ status: 200, peek: [1, 2, 3, 4] });
    const pinned = await detail(console, 'prices');
    expect([pinned.here.pinned.by, pinned.here.pinned.note, pinned.history[0].isPinned]).toEqual([
      'ann',
      'too cheap',
      true,
    ]);
    const refused = await console.act('refresh', { id: 'prices' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    expect((await console.act('unpin', await present(console))).status).toBe(200);
    expect((await prices.history())[0]).toMatchObject({ made: 'unpin', by: 'ann' });
    expect((await console.act('unpin', await present(console))).body.error.message).toContain(
      'no version is pinned',
    );
    expect((await console.act('pin', await present(console))).status).toBe(200);
    expect(prices.inspect().pinned?.by).toBe('ann');
    expect((await console.act('rollback', await present(console, { version: 1 }))).status).toBe(409);
  });

  it('is loaded past its guard', async () => {
    const { make, source } = instances();
    const { console, prices } = make();
    await prices.get();
    source.prices = [1];
    expect((await console.act('refresh', { id: 'prices' })).status).toBe(502);
    const { refused } = await detail(console, 'prices');
    expect(refused.reason).toBe('too few');
    source.prices = [2];
    const other = await console.act('refresh', { id: 'prices', digest: refused.digest });
    expect(other.body.error.message).toMatch(/value that was refused before: look at it again \(size 1/);
    source.prices = [1];
    const { status, body } = await console.act('refresh', { id: 'prices', digest: refused.digest });
    expect([status, body.message]).toEqual([
      200,
      expect.stringMatching(/^loaded past the guard, version \d+/),
    ]);
    expect(prices.peek()).toEqual([1]);
  });

  it('leaves its cool-down, is cancelled, rescheduled and invalidated', async () => {
    const { make, source } = instances();
    const { console, prices } = make();
    expect((await console.act('end-cool-down', { id: 'prices' })).status).toBe(409);
    source.error = new Error('down');
    await prices.get().catch(() => {});
    source.error = undefined;
    expect((await console.act('end-cool-down', { id: 'prices' })).status).toBe(200);
    expect((await console.act('cancel', { id: 'prices' })).body.error.message).toContain(
      'no load is under way',
    );
    expect((await console.act('reschedule', { id: 'prices' })).status).toBe(409);
    expect((await console.act('reschedule', { id: 'prices', everyMs: 60_000 })).status).toBe(200);
    expect(prices.inspect().nextExecuteTime - Date.now()).toBeLessThanOrEqual(60_000);
    expect((await console.act('invalidate', { id: 'prices' })).status).toBe(200);
    expect(prices.inspect().isDue).toBe(true);
    const since = (await detail(console, 'prices')).here.loadedAt;
    expect((await console.act('invalidate', { id: 'prices', drop: true, since })).status).toBe(200);
    expect(prices.peek()).toBeUndefined();
  });

  it('has a load under way cancelled, by name of the operator', async () => {
    const { make } = instances();
    const { console, group } = make();
    const stuck = group.value({
      name: 'stuck',
      load: ({ signal }) =>
        new Promise<number>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    const waiting = stuck.get().catch((error: Error) => error);
    const since = (await detail(console, 'stuck')).here.runningSince;
    expect((await console.act('cancel', { id: 'stuck', since })).status).toBe(200);
    expect(String(((await waiting) as Error).cause)).toContain('by ann in the console');
  });
});

it('a cache has its keys found, shown, refreshed and invalidated, whatever they are', async () => {
  const { make } = instances();
  const { console, group } = make();
  const loads: unknown[] = [];
  const load = async (key: unknown): Promise<number> => loads.push(key);
  const cache = group.cache({
    name: 'c',
    backend: 'group',
    load,
    keyOf: (key) => (typeof key === 'object' ? JSON.stringify(key) : (key as string)),
  });
  const keys = ['amsterdam', 7, true, { city: 'delft' }, 'x'.repeat(5000), '"\u202e<b>'];
  for (const key of keys) await cache.get(key);
  const { body } = await console.get('api/keys?id=c&search=');
  expect({ size: body.size, keys: body.keys.length }).toEqual({ size: 6, keys: 6 });
  expect(
    (await console.get('api/keys?id=c&search=AMSTER')).body.keys.map(({ text }: { text: string }) => text),
  ).toEqual(['"amsterdam"']);
  for (const { id } of body.keys) {
    const found = await console.get(`api/member?id=c&key=${encodeURIComponent(id)}`);
    expect({ id, state: found.body?.here.state }).toEqual({ id, state: 'fresh' });
    expect((await console.act('refresh', { id: 'c', key: id })).status).toBe(200);
  }
  expect(loads.slice(6)).toEqual([...keys].reverse());
  expect((await console.act('invalidate', { id: 'c', key: '"amsterdam"' })).status).toBe(200);
  expect(cache.inspect('amsterdam')?.isDue).toBe(true);
  await cache.refresh('amsterdam');
  loads.length = 0;
  const numbers = group.cache({ name: 'n', load, keyOf: (key: number) => key.toFixed(0) });
  await numbers.get(7);
  expect((await console.act('refresh', { id: 'n', key: '"8"' })).status).toBe(409);
  expect((await console.act('refresh', { id: 'n', key: '8' })).status).toBe(200);
  expect(loads).toEqual([7, 8]);
  expect((await console.act('refresh', { id: 'c' })).body.error.message).toContain('needs a key');
  expect((await console.act('rollback', { id: 'c', key: '7' })).status).toBe(409);
  expect((await console.act('invalidate', { id: 'c', drop: true })).status).toBe(200);
  expect(cache.size).toBe(0);
});

/** Of a task: how long its lock is held at most and at least. */
const BOUNDS = { lockAtMostFor: '1h', lockAtLeastFor: '9m' } as const;

describe('a lock', () => {
  it('is released by the token that was shown, of tasks too; not by another one', async () => {
    const { make, lock } = instances();
    const { console } = make();
    const task = lockedTask(async () => 1, { name: 'report', lock, ...BOUNDS });
    await task();
    const { records, errors } = (await console.get('api/locks?prefix=rep')).body;
    expect([records.length, errors, records[0].state]).toEqual([1, [], 'done']);
    const [{ id, lock: at, token }] = records;
    expect((await console.act('release-lock', { id, lock: at, token: token - 1 })).status).toBe(409);
    expect((await console.act('release-lock', { id, lock: at })).status).toBe(409);
    expect((await console.act('release-lock', { id, lock: 99, token })).status).toBe(409);
    expect((await task()).kind).toBe('already-done');
    const request = { owner: 'o', requestId: 'o', leaseFor: 9000, host: 'h', force: false };
    for (const name of ['shop/tickless-control', 'tickless-console-audit', 'my-tickless-console'])
      await lock.acquire({ ...request, name });
    const all: readonly { name: string; isInternal?: true }[] = (await console.get('api/locks?prefix=')).body
      .records;
    const internal = all.filter(({ isInternal }) => isInternal).map(({ name }) => name);
    expect(internal.sort()).toEqual(['shop/tickless-control', 'tickless-console-audit']);
    expect((await console.act('release-lock', { id, lock: at, token })).status).toBe(200);
    expect((await task()).kind).toBe('executed');
    const { records: audit } = (await console.get('api/audit')).body;
    expect(audit[0]).toMatchObject({ name: 'report', lock: at, result: 'done' });
  });

  it('with a long name is in the audit by its name, not by the hash that the API has for it', async () => {
    const { make, lock } = instances();
    const { console } = make();
    const name = `report ${'x'.repeat(250)}`;
    await lockedTask(async () => 1, { name, lock, ...BOUNDS })();
    const [{ id, lock: at, token }] = (await console.get('api/locks?prefix=rep')).body.records;
    expect(id).toMatch(/^#/);
    expect((await console.act('release-lock', { id, lock: at, token: token - 1 })).status).toBe(409);
    expect((await console.act('release-lock', { id, lock: at, token })).status).toBe(200);
    const { records } = (await console.get('api/audit')).body;
    expect(records).toMatchObject([
      { name, lock: at, result: 'done' },
      { name, lock: at, result: 'refused' },
    ]);
  });
});

describe('records of locks', () => {
  it('are shown once where two lock objects are of one backend', async () => {
    const { make, lock } = instances();
    const { console, group, prices, link } = make();
    await group.executor(() => {}, { name: 'nightly', lock }).requestStart();
    await prices.get();
    const shown = async () => (await console.get('api/locks')).body;
    const names = (await shown()).records.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(['nightly', 'prices']);
    link.break('refused', 'check');
    const { records, errors } = (await console.get('api/locks?prefix=p')).body;
    expect([records.length, errors.length]).toEqual([1, 1]); // the other one answers
  });

  it('are read once for all who ask within a second, and again after an action', async () => {
    const { make, lock } = instances();
    const { console, link } = make();
    const asked = (): number => link.commands.filter(({ name }) => name === 'reports').length;
    const ask = async () => (await console.get('api/locks?prefix=rep')).body.records;
    const task = lockedTask(async () => 1, { name: 'report', lock, ...BOUNDS });
    await task();
    const before = await Promise.all(Array.from({ length: 10 }, ask));
    const [{ id, lock: at, token }] = await ask();
    expect({ before: before.length, asked: asked() }).toEqual({ before: 10, asked: 1 });
    await console.act('release-lock', { id, lock: at, token });
    expect(await ask()).toMatchObject([{ name: 'report', state: 'released' }]);
    expect(asked()).toBe(2);
  });
});

describe('on all instances', () => {
  it('a pause holds within its bound, also for an instance that starts later, until it is resumed', async () => {
    const { make, source } = instances();
    const [one, other] = [make(), make()];
    await one.prices.get();
    await other.prices.get();
    expect((await one.console.act('pause', { id: 'prices' })).status).toBe(200);
    const isPaused = async ({ prices }: Instance): Promise<boolean> => {
      await prices.get(); // a read of any member checks the marks
      return prices.inspect().paused;
    };
    await expect.poll(() => isPaused(other), { timeout: 15_000 }).toBe(true);
    const third = make();
    await expect.poll(() => isPaused(third), { timeout: 15_000 }).toBe(true);
    expect((await other.console.act('resume', { id: 'prices' })).status).toBe(200);
    await expect.poll(() => isPaused(one), { timeout: 15_000 }).toBe(false);
    expect(source.loads).toBe(1);
  });

  it('what is narrowed to one instance stays there, and the audit says so', async () => {
    const { make } = instances();
    const [one, other] = [make(), make()];
    for (const { prices } of [one, other]) await prices.get();
    const paused = await one.console.act('pause', { id: 'prices', here: true });
    expect(paused.body.message).toBe('paused on this instance');
    const slower = await one.console.act('reschedule', { id: 'prices', everyMs: 420_000 });
    expect(slower.body.message).toMatch(/^is loaded every 7 min from now on, on this instance, until/);
    const all = await one.console.act('invalidate', { id: 'prices' });
    expect(all.body.message).toBe('invalidated on all instances; the next read loads it');
    expect([one, other].map(({ prices }) => prices.inspect().paused)).toEqual([true, false]);
    // It is written behind the answer.
    const audit = async (): Promise<unknown> => {
      const { records } = (await other.console.get('api/audit')).body;
      return records.map(({ action, here }: AuditRecord) => [action, here]);
    };
    await expect.poll(audit, { timeout: 15_000 }).toEqual([
      ['invalidate', undefined],
      ['reschedule', undefined],
      ['pause', true],
    ]);
  });

  it('what two operators pause at the same time is paused, and what one has resumed meanwhile is not', async () => {
    const { make } = instances();
    const names = ['prices', 'stock', 'offers'];
    const made = (): Instance => {
      const instance = make();
      for (const name of names.slice(1)) instance.group.value({ name, load: () => 1 });
      return instance;
    };
    const paused = async ({ group, prices }: Instance): Promise<string[]> => {
      await prices.get().catch(() => {}); // a read checks the marks
      return group
        .inspect()
        .members.filter((status) => status.paused)
        .map(({ name }) => name);
    };
    const [one, other] = [made(), made()];
    const act = ({ console }: Instance, action: string, id: string): Promise<Answer> =>
      console.act(action, { id });
    await act(one, 'pause', 'offers');
    const answers = await Promise.all([
      act(one, 'pause', 'prices'),
      act(other, 'pause', 'stock'),
      act(other, 'resume', 'offers'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const instance of [one, other, made()]) {
      await expect.poll(() => paused(instance), { timeout: 15_000 }).toEqual(['prices', 'stock']);
    }
  });

  it('audit records of all operators are kept, also of those that act at once', async () => {
    const { make, store } = instances();
    const [one, other] = [make(), make()];
    for (const { link } of [one, other]) {
      link.fault = (step) => (step === 'read' ? new Promise(setImmediate) : undefined); // the others read meanwhile
    }
    await Promise.all(
      [one, other, one, other].map(({ console }, at) =>
        console.act('resume', { id: 'prices', note: `${at}` }),
      ),
    );
    await expect.poll(() => notes(other)).toEqual(['0', '1', '2', '3']);
    expect((await store.read(AUDIT))?.payload).toContain('"by":"ann"');
  });

  it('an action is carried out and answered where the audit can not be written, and says so', async () => {
    const { console, link } = instances().make();
    link.break('refused', 'acquire');
    const { status, body } = await console.act('pause', { id: 'prices', here: true });
    expect([status, body.message]).toEqual([
      200,
      expect.stringContaining('the audit record is of this instance only'),
    ]);
    expect((await console.get('api/audit')).body.records).toMatchObject([
      { name: 'prices', unwritten: true },
    ]);
  });

  it('an action waits for one command of the audit at most: not for another instance that has its lock', async () => {
    const { make, lock } = instances();
    const [one, other] = [make(), make()];
    await one.console.act('resume', { id: 'prices', note: '0' });
    await expect.poll(() => notes(other)).toEqual(['0']);
    const lease = await leaseOf(lock, { name: AUDIT });
    const free = new Deferred<void>();
    let asked = 0;
    one.link.fault = (step, { name }) => {
      if (step !== 'acquire' || name !== AUDIT) return undefined;
      asked += 1;
      return asked > 1 ? { arrives: free.promise } : undefined;
    };
    for (let at = 1; at <= 5; at++) {
      const { body } = await one.console.act('resume', { id: 'prices', note: `${at}` });
      expect(body).toMatchObject({
        result: 'done',
        message: expect.stringContaining('kept the journal busy'),
      });
    }
    expect(await unwritten(one)).toEqual(['1', '2', '3', '4', '5']);
    expect(await notes(other)).toEqual(['0']);
    one.link.take();
    await lock.release(lease, { as: 'done', holdFor: 0 });
    free.resolve();
    await expect.poll(() => unwritten(one), { interval: 300, timeout: 20_000 }).toEqual([]); // it tries again as its list is shown
    expect(await notes(other)).toEqual(['0', '1', '2', '3', '4', '5']);
    const sent = one.link.commands.filter(({ step, name }) => step === 'write' && name === AUDIT);
    expect(sent).toHaveLength(1);
    expect((await one.console.act('resume', { id: 'prices' })).body.message).not.toContain('audit');
  });

  it('an action does not wait for its audit record to be written', async () => {
    const { group, link } = instances().make();
    const written = new Deferred<void>();
    link.fault = (step, { name }) => (step === 'read' && name === AUDIT ? written.promise : undefined);
    const isOver: Promise<unknown>[] = [];
    const { backend } = link;
    const waitUntil = (promise: Promise<unknown>): void => void isOver.push(promise);
    const console = openConsole({ actions: true, backend, waitUntil }, group);
    const { status, body } = await console.act('resume', { id: 'prices', note: 'x' });
    expect([status, body.message]).toEqual([200, expect.not.stringContaining('audit')]);
    expect([link.commands.at(-1)?.step, isOver.length]).toEqual(['read', 1]);
    written.resolve();
    await Promise.all(isOver);
    expect((await console.get('api/audit')).body.records).toMatchObject([{ note: 'x' }]);
  });

  it('a record whose write was answered by an error is there once, also where it was written', async () => {
    const { make } = instances();
    const [one, other] = [make(), make()];
    one.link.break('answer-lost', 'write');
    await one.console.act('resume', { id: 'prices', note: '0' });
    await expect.poll(() => notes(other)).toEqual(['0']);
    expect([await notes(one), await unwritten(one)]).toEqual([['0'], []]);
    one.link.mend();
    await one.console.act('resume', { id: 'prices', note: '1' });
    await expect.poll(() => notes(other)).toEqual(['0', '1']);
  });

  it.each(['reject', 'throw'])(
    'onAudit and waitUntil that %s change nothing, and no rejection is unhandled',
    async (how) => {
      const unhandled = unhandledRejections();
      const calls: string[] = []; // not by vi.fn: a spy handles the rejection itself
      const failing = (name: string) => (): never => {
        calls.push(name);
        if (how === 'reject') return Promise.reject(new Error('mine')) as never;
        throw new Error('mine');
      };
      const hooks = { onAudit: failing('onAudit'), waitUntil: failing('waitUntil') };
      const backend = memoryBackend();
      const console = new TestConsole({ actions: true, backend, ...hooks });
      console.group.value({ name: 'v', load: () => 1 });
      expect((await console.act('resume', { id: 'v', note: '0' })).status).toBe(200);
      await console.handler.close();
      await new Promise((resolve) => setImmediate(resolve));
      expect({ calls, unhandled }).toEqual({ calls: ['onAudit', 'waitUntil'], unhandled: [] });
      expect((await storeOf(backend).read(AUDIT))?.payload).toContain('"by":"ann"');
    },
  );

  it('close() of the console tries once more to write what is kept here', async () => {
    const { make } = instances();
    const [one, other] = [make(), make()];
    one.link.break('refused', 'acquire');
    await one.console.act('resume', { id: 'prices', note: '0' });
    one.link.mend();
    await one.console.handler.close();
    expect(await notes(other)).toEqual(['0']);
  });
});

describe('the overview', () => {
  it('lists problems first: what fails to be served, what fails, what is behind or pinned', async () => {
    const { make, source, store } = instances();
    const [{ console, group, prices }, other] = [make(), make()];
    group.value({ name: 'fine', backend: false, load: () => 1 });
    const own = { backend: false, load: (): Promise<number> => Promise.reject(new Error('no')) } as const;
    const needed = group.value({ name: 'needed', required: true, ...own });
    const failing = group.value({ name: 'failing', ...own });
    failing.set(1);
    await Promise.allSettled([needed.get(), failing.refresh()]);
    await prices.get();
    await other.prices.get();
    // Both leave their report: one that was left in the middle of a first load stays until the next read.
    await untilHeld(store, 'prices', [prices, other.prices]);
    source.prices = [9, 9, 9];
    await prices.refresh();
    await expect
      .poll(
        async () => {
          void prices.current;
          const { members } = (await console.get('api/overview')).body;
          return members.map(({ name, level }: { name: string; level: string }) => `${name} ${level}`);
        },
        { timeout: 15_000, interval: 200 },
      )
      .toEqual(['needed bad', 'failing warn', 'prices note', 'fine ok']);
    const { instances: columns, members, ok } = (await console.get('api/overview')).body;
    expect([ok, columns.map(({ isHere }: { isHere: boolean }) => isHere)]).toEqual([false, [true, false]]);
    const { cells } = members[2];
    expect(cells.map(({ behind = false }: { behind?: boolean }) => behind).sort()).toEqual([false, true]);
  });

  it('shows an instance as behind, unless it was taking over the newest version', async () => {
    const { make, store } = instances();
    const { console, prices } = make();
    await prices.refresh();
    await untilHeld(store, 'prices', [prices]);
    const newest = prices.inspect().lock?.version as number;
    for (const takingOver of [newest - 1, newest]) {
      const members = [{ name: 'prices', kind: 'value', version: newest - 2, takingOver, age: 1 }];
      const text = JSON.stringify({ tickless: 1, host: 'h', upFor: 1, members });
      await store.versions([], { instance: `h/${takingOver}`, text, keepFor: 60_000 });
    }
    const [{ cells }] = (await console.get('api/overview')).body.members;
    expect(
      cells.filter(({ behind }: { behind?: boolean }) => behind).map(({ on }: { on: string }) => on),
    ).toEqual([`h/${newest - 1}`]);
  });

  it('shows what is here where the store does not answer', async () => {
    const { console, link } = instances().make();
    link.fault = () => Promise.reject(new Error('redis://:hunter2@store: ECONNREFUSED'));
    const { status, body, text } = await console.get('api/overview');
    expect({ status, members: body.members.length }).toEqual({ status: 200, members: 1 });
    expect(body.fleetError).toContain('ECONNREFUSED');
    expect(text).not.toContain('hunter2');
  });
});
