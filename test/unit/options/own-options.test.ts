import { afterEach, expect, it, vi } from 'vitest';
import { etcdBackend } from '../../../src/backends/etcd.ts';
import { fileBackend } from '../../../src/backends/file.ts';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type SqliteBackendOptions, sqliteBackend } from '../../../src/backends/sqlite.ts';
import { cron, dailyAt, duringHours } from '../../../src/calendar/index.ts';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import { resolveConsoleOptions } from '../../../src/console/console-options.ts';
import { consoleHandler } from '../../../src/console/index.ts';
import { nodeConsole } from '../../../src/console/node.ts';
import { changesAtMost, every, growsAtMost, notEmpty, shrinksAtMost } from '../../../src/guards/index.ts';
import {
  type Execution,
  earliest,
  fixedRate,
  httpFreshness,
  keep,
  loaded,
  lockedTask,
  probabilisticEarly,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
  refreshing,
  withJitter,
} from '../../../src/index.ts';
import { endOf } from '../../../src/records/lock/record-lock.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { loadInWorker } from '../../../src/worker/index.ts';
import { compareVersions } from '../../support/compare-versions.ts';
import { TestConsole } from '../../support/console.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { settled } from '../../support/settle.ts';

/** Of SQLite; no statement is sent: only options are looked at. */
const client = { prepare: () => expect.unreachable() } as unknown as SqliteBackendOptions['client'];

const polluted: string[] = [];

/** As a merge bug elsewhere does: enumerable, for every object of the process. */
function pollute(properties: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(properties)) {
    polluted.push(name);
    (Object.prototype as Record<string, unknown>)[name] = value;
  }
}

function clean(): void {
  for (const name of polluted.splice(0)) Reflect.deleteProperty(Object.prototype, name);
}

afterEach(clean);

const group = new RefreshGroup({ logger: false });

/** Each takes options; a value here breaks the rule of its option, so that it would be refused if it were read. */
const takers: readonly (readonly [string, Record<string, unknown>, () => unknown])[] = [
  [
    'a value',
    {
      ...{ schedule: -1, timeout: -1, whenTooStale: 'x', initial: 1 },
      ...{ accept: 1, propagateWithin: -1, store: 1, lock: 1 },
    },
    () => new RefreshingValue({ name: 'v', load: () => 1 }),
  ],
  [
    'a cache',
    { max: -1, maxSize: -1, keyOf: 1, sizeOf: 1, loadMany: 1, concurrency: -1, required: 1 },
    () => new RefreshingCache({ name: 'c', load: () => 1 }),
  ],
  [
    'an executor',
    { schedule: -1, lock: 1, whenBackendDown: 'x' },
    () => new RefreshGroup().executor(() => {}, { name: 'e' }),
  ],
  ['a group', { concurrency: -1, piggyback: 1 }, () => new RefreshGroup()],
  ['a function', { keyed: 'x', keyOf: 1, loadMany: 1 }, () => refreshing(async (code: string) => code)],
  ['a lock', { leaseFor: -1, timeout: -1, namespace: 1 }, () => lockOf(memoryBackend({}))],
  [
    'a store',
    { codec: 1, schema: 1, signals: 1, timeout: -1, keepVersions: -1, propagateWithin: -1 },
    () => storeOf(memoryBackend({})),
  ],
  [
    'the console',
    { actions: 'x', authorize: 1, path: 1, origin: 1, secret: 1, locks: 1 },
    () => consoleHandler(group, {}),
  ],
  [
    'a lock and a store in files',
    { retention: -1, keepVersions: -1, timeout: -1, allowOtherUsers: 1 },
    () => [lockOf(fileBackend({ directory: '/tmp/none' })), storeOf(fileBackend({ directory: '/tmp/none' }))],
  ],
  [
    'a lock and a store of SQL',
    { table: 1, retention: -1, timeout: -1, keepVersions: -1 },
    () => [lockOf(sqliteBackend({ client })), storeOf(sqliteBackend({ client }))],
  ],
  [
    'a lock and a store of etcd',
    { prefix: 1, retention: -1, timeout: -1, fetch: 1, user: {} },
    () => [
      lockOf(etcdBackend({ endpoints: 'http://localhost' })),
      storeOf(etcdBackend({ endpoints: 'http://localhost' })),
    ],
  ],
  [
    'a locked task',
    { lockAtMostFor: -1, lockAtLeastFor: -1, clock: 1, store: 1 },
    () => lockedTask(() => 1, { name: 't', lock: lockOf(memoryBackend()) }),
  ],
  [
    'a schedule',
    { zone: 'x', anchoredAt: 'x', beta: -1, shared: 1, fallback: -1, headers: 1, days: 1, toMillis: 1 },
    () => [
      dailyAt('05:00'),
      cron('0 5 * * *'),
      fixedRate({ minutes: 1 }),
      probabilisticEarly({ minutes: 1 }),
      httpFreshness(),
      duringHours({ minutes: 1 }, { from: '08:00', to: '18:00' }),
    ],
  ],
  [
    'a cool-down, and tries',
    { initial: -1, factor: -1, max: -1 },
    () => new RefreshingValue({ name: 'v', load: () => 1, coolDown: { minutes: 1 } }),
  ],
  [
    'a thread',
    { concurrency: -1, transfer: 1, env: 1, previous: 1 },
    () => loadInWorker(new URL('file:///x.js'), {}),
  ],
];

it.each(takers)('%s has options of its own only', (_, properties, make) => {
  for (const [name, value] of Object.entries(properties)) {
    pollute({ [name]: value });
    expect(make, name).not.toThrow();
    Reflect.deleteProperty(Object.prototype, polluted.pop() as string);
  }
});

it('a console that is read-only stays so', () => {
  pollute({ actions: true });
  expect([...resolveConsoleOptions().actions, ...resolveConsoleOptions({}).actions]).toEqual([]);
});

it('a read, an invalidation and the end have options of their own only', async () => {
  const value = new RefreshingValue({ name: 'read', load: async () => 1, logger: false });
  await value.get();
  pollute({ patience: -1, maxStaleness: -1, signal: 1, drop: true, timeout: -1 });
  expect(await value.get({})).toBe(1);
  value.invalidate({});
  expect(value.peek()).toBe(1);
  await value.close({});
});

it.each([
  { retries: 0 },
  { retries: 'x' },
  { factor: 'x' },
  { minTimeout: 60_000 },
  { maxTimeout: -1 },
  { maxRetryTime: 0 },
  { randomize: true },
  { shouldRetry: () => false },
  { shouldConsumeRetry: () => false },
  { onFailedAttempt: () => Promise.reject(new Error('of others')) },
])('tries are as many as before, at the same times, while every object has %o', async (properties) => {
  for (const retry of [undefined, { retries: 2, minTimeout: 250, randomize: false }]) {
    const calls: number[] = [];
    const load = async (): Promise<never> => {
      calls.push(clock.monotonic());
      throw new Error('down');
    };
    const { clock, value } = fakeValue(load, { retry, random: () => 0 });
    pollute(properties);
    const read = settled(value.get());
    await clock.advance(2000);
    await read;
    clean();
    expect(calls).toEqual([0, 250, 750]);
  }
});

it('options of tries are checked as they are, and retried twice by default', async () => {
  let calls = 0;
  const load = (): never => {
    calls += 1;
    throw new Error('down');
  };
  pollute({ retries: -1, minTimeout: -1, maxTimeout: 1, shouldRetry: 1, onFailedAttempt: 1 });
  const { clock, value } = fakeValue(load, { retry: { maxRetryTime: Infinity, minTimeout: 2 } });
  const read = settled(value.get());
  await clock.advance(5000);
  await read;
  expect(calls).toBe(3);
});

it('a list of locks has all of them, and a release says what is given with it', async () => {
  const lock = lockOf(memoryBackend());
  const leases = new Map<string, Lease>();
  for (const name of ['a', 'b', 'c']) {
    const answer = await lock.acquire({ name, leaseFor: 1000 });
    if (answer.kind === 'acquired') leases.set(name, answer.lease);
  }
  const [a, b, c] = [...leases.values()] as [Lease, Lease, Lease];
  pollute({ prefix: 'b', limit: 1, keepFor: -1, error: 1, holdFor: -1 });
  expect((await lock.list({})).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(await lock.release(a, { as: 'done', holdFor: 0 })).toBe(true);
  expect(await lock.release(b, { as: 'failed', holdFor: 0 })).toBe(true);
  expect(await lock.forceRelease('c', c.token)).toBe(true);
  pollute({ error: 'of others' });
  expect((await lock.list()).map(({ state, lastError }) => [state, lastError])).toEqual([
    ['done', undefined],
    ['failed', undefined],
    ['released', undefined],
  ]);
});

it('a release of a member keeps its record as long as it says', () => {
  const lease = { name: 'n', requestId: 'r', token: 1 };
  pollute({ keepFor: 1 });
  expect(endOf('', lease, { as: 'done', holdFor: 5 }).keepMs).toBeUndefined();
});

it('an extension, a release by an operator and a look have fields of their own only', async () => {
  const lock = lockOf(memoryBackend());
  const store = storeOf(memoryBackend());
  const answer = await lock.acquire({ name: 'n' });
  const { lease } = answer as Extract<typeof answer, { kind: 'acquired' }>;
  const version = (await store.write('s', 'text')).version;
  pollute({ phase: 'held', note: 'of others', keepMs: 1 });
  expect(await lock.extend(lease, 60_000)).toBe(true);
  expect((await lock.inspect('n'))?.state).toBe('running');
  pollute({ id: 'of others', token: 1, newerThan: Number.MAX_SAFE_INTEGER });
  expect(await store.versions(['s'])).toEqual([version]);
  expect((await lock.inspect('n'))?.token).toBe(lease.token);
  expect(await lock.forceRelease('n', lease.token)).toBe(true);
});

it('a report without a serial replaces any', async () => {
  const store = storeOf(memoryBackend());
  const report = { instance: 'i', keepFor: 1000 };
  await store.versions(['n'], { ...report, text: 'before', serial: 20 });
  for (const serial of ['x', 9]) {
    pollute({ serial });
    await store.versions(['n'], { ...report, text: `after ${serial}` });
  }
  expect(await store.reports()).toMatchObject([{ text: 'after 9' }]);
});

it('the keys of a cache are in the order that is asked for', async () => {
  const cache = new RefreshingCache({ name: 'order', load: (key: number) => key, logger: false });
  for (const key of [1, 2]) await cache.get(key);
  pollute({ recentFirst: true });
  expect([[...cache.keys()], [...cache.keys({})]]).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

it.each([1, () => 7])('a guard counts elements while every object has sizeOf: %s', async (sizeOf) => {
  pollute({ sizeOf });
  const guards = [notEmpty(), shrinksAtMost(0.5, {}), changesAtMost(0.5), every(growsAtMost(2))];
  const lists = [[1, 2], [], [1, 2, 3, 4, 5]].map((list) =>
    guards.map((accept) =>
      accept(list, { previous: { value: [1, 2], loadedAt: 0 }, trigger: 'due' } as never),
    ),
  );
  const { value } = fakeValue(() => [1], { accept: (list) => list.length > 1 || 'short' });
  const { value: none } = fakeValue((): number[] => [], { accept: every(notEmpty()) });
  const errors = await Promise.all([value, none].map((one) => one.get().catch((error: unknown) => error)));
  clean();
  const text = expect.any(String);
  expect(lists).toEqual([
    [true, true, true, true],
    ['it is empty', text, text, true],
    [true, true, text, text],
  ]);
  expect(errors).toMatchObject(
    [1, 0].map((size) => ({ message: expect.stringContaining(`(size ${size})`) })),
  );
});

it('the console on node:http is at its own path', () => {
  pollute({ path: '/other' });
  const page = nodeConsole(group, { authorize: () => 'ann' });
  clean();
  const next = vi.fn();
  page({ url: '/other/' } as never, {} as never, next);
  expect(next).toHaveBeenCalledOnce();
});

it.each([{ everywhere: true }, { drop: true }, { key: 'k' }, { note: 'of others' }, { version: 'x' }])(
  'an action does what its body says while every object has %o',
  async (properties) => {
    const found = new TestConsole({ actions: true });
    const value = found.group.value({ name: 'v', load: () => 1 });
    await value.get();
    pollute(properties);
    const { status } = await found.act('invalidate', { id: 'v' });
    clean();
    const [record] = (await found.get('api/audit')).body.records;
    expect([status, value.peek(), value.inspect().state]).toEqual([200, 1, 'stale']);
    expect(Object.keys(record)).toEqual(['at', 'by', 'action', 'name', 'result', 'message', 'host']);
  },
);

it('a lock is released by the fields of its request only', async () => {
  const lock = lockOf(memoryBackend());
  const { token } = await lock
    .acquire({ name: 'n' })
    .then((answer) => ('lease' in answer ? answer.lease : answer));
  const found = new TestConsole({ actions: true, locks: [lock] });
  pollute({ key: 'k', drop: true });
  const { status } = await found.act('release-lock', { id: 'n', lock: 0, token });
  clean();
  const [record] = (await found.get('api/audit')).body.records;
  expect([status, record.name, record.key]).toEqual([200, 'n', undefined]);
});

it('an operator is named by authorize only, and has the rights that it gives', async () => {
  const operators: { by: string }[] = [{} as { by: string }, { by: 'ann' }];
  const found = new TestConsole({ actions: ['refresh'], authorize: () => operators.shift() });
  pollute({ by: 'of others', actions: undefined });
  const refused = await found.get('api/session');
  const { body } = await found.get('api/session');
  expect([refused.status, body.by, body.actions]).toEqual([403, 'ann', ['refresh']]);
});

it('a read of several keys, and the due check of a cache, have options of their own only', async () => {
  const cache = new RefreshingCache({ name: 'keys', load: (key: number) => key, logger: false });
  pollute({ onError: 1, signal: 1, patience: -1, wait: true, waitUntil: 1, values: 1 });
  expect([...(await cache.getMany([1, 2], {}))]).toHaveLength(2);
  await cache.requestStart({});
  expect(cache.inspect(1, {})?.value).toBe(1);
});

it('a size that others have set is no bound of a cache', async () => {
  pollute({ max: 1, maxSize: -1, size: 'x' });
  const cache = new RefreshingCache({ name: 'sizes', load: (key: number) => key, logger: false });
  expect([...(await cache.getMany([1, 2]))]).toHaveLength(2);
  expect(cache.size).toBe(2);
});

it('a snapshot says what is written in it, and nothing else', async () => {
  const backend = { backend: memoryBackend(), logger: false } as const;
  const loads: string[] = [];
  const [one, other] = ['one', 'other'].map(
    (at) => new RefreshingValue({ ...backend, name: 'shared', load: () => loads.push(at) }),
  ) as [RefreshingValue<number>, RefreshingValue<number>];
  await one.get();
  await settled(one.requestStart({ wait: true }));
  pollute({ tags: 1, maxStaleness: 'x', isPinned: true });
  expect(await other.get()).toBe(1);
  expect(loads).toEqual(['one']);
  expect(other.inspect().pinned).toBeUndefined();
});

it('a rollback goes to the version before, whatever others have set', async () => {
  let loads = 0;
  const value = new RefreshingValue({
    name: 'rolled',
    load: () => {
      loads += 1;
      return loads;
    },
    backend: memoryBackend({ keepVersions: 3 }),
    logger: false,
  });
  for (let i = 0; i < 3; i += 1) await value.refresh();
  const [, , first] = await value.history();
  pollute({ to: first?.version, hold: -1, note: 1 });
  await value.rollback({ by: 'ann' });
  expect(value.peek()).toBe(2);
});

it('of what a load returns with its value are own properties too', async () => {
  const answers = [loaded(1), keep()];
  const value = new RefreshingValue({ name: 'v', load: () => answers.shift() as never, logger: false });
  pollute({ maxStaleness: 'x', tags: 1, nextExecuteTime: 'x' });
  await expect(value.get()).resolves.toBe(1);
  await expect(value.refresh()).resolves.toBe(1);
});

it.each([
  { nextExecuteTime: Infinity },
  { maxStalenessMs: 1, tags: ['a'] },
  { value: 1 },
  { writable: true },
  { signal: 1, once: 1 },
  { isWanted: 1 },
  { mark: 'dropped' },
  { damage: 'x' },
  { pin: 1, pinned: 1 },
  { isManual: true, isForced: true },
  { clock: 5, explain: 5, idOf: 5 },
  { nextExecuteTime: () => Infinity, maxStaleness: () => 1 },
  { toMillis: () => Infinity },
  { isBrief: true },
  { newerThan: Number.MAX_SAFE_INTEGER },
  { token: 1, over: 1 },
  { phase: 'held', note: 'of others', keepMs: 1 },
  { replaced: 'x' },
])('a cluster works as before while every object has %o', async (properties) => {
  const schedule = { milliseconds: 1 };
  const backend = memoryBackend({ keepVersions: 5 });
  let loads = 0;
  const load = (): string => `load ${++loads}`;
  const [one, other] = [1, 2].map(
    () =>
      new RefreshingValue({
        name: 'v',
        load,
        schedule,
        backend,
        propagateWithin: 1,
        logger: false,
        retry: false,
      }),
  ) as [RefreshingValue<string>, RefreshingValue<string>];
  pollute(properties);
  await one.get();
  while ((await one.get()) === 'load 1') await new Promise((resolve) => setTimeout(resolve, 1)); // it is due again
  await one.set('set');
  await other.get();
  const history = await one.history();
  const [newest] = history;
  await one.rollback({ by: 'ann' });
  const { pinned } = one.inspect();
  const difference = await compareVersions(one, newest?.version as number, newest?.version as number);
  const fleet = await storeOf(backend).fleet();
  clean(); // what tests are made of is no better
  expect(history.map(({ isPinned, mark, damage }) => [isPinned, mark, damage])).toEqual(
    history.map(() => [false, undefined, undefined]),
  );
  expect([pinned?.by, difference.added.count, fleet.members.length]).toEqual(['ann', 0, 1]);
});

it.each([
  ['a duration', { minutes: 1 }],
  ['a function', ({ endedAt }: Execution) => endedAt + 60_000],
  ['a combination', withJitter(earliest({ minutes: 1 }, { hours: 1 }), 0)],
] as const)('methods of all objects are none of a schedule: %s', async (_, schedule) => {
  pollute({ nextExecuteTime: () => 0, maxStaleness: () => 1, toMillis: () => 5, now: 'x' });
  const { clock, value } = fakeValue(() => 1, { schedule, clock: new FakeClock({}) });
  await value.get();
  const { nextExecuteTime, maxStaleness } = value.inspect();
  expect([nextExecuteTime, maxStaleness]).toEqual([clock.now() + 60_000, Infinity]);
  expect(() => new RefreshingValue({ name: 'v', load: () => 1, schedule: { seconds: -1 } })).toThrow(
    'schedule',
  );
});
