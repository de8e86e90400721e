import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memoryBackend } from '../../src/backends/memory.ts';
import { locked, refreshing as refreshingMethod } from '../../src/decorators/index.ts';
import { changesAtMost, every } from '../../src/guards/index.ts';
import {
  derive,
  earliest,
  lockedTask,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
  refreshing,
  withJitter,
} from '../../src/index.ts';
import { asLock } from '../../src/records/lock/as-lock.ts';
import { createSignals } from '../../src/signals/create-signals.ts';
import { fileSource, firstOf, httpSource, mergeOf } from '../../src/sources/index.ts';
import { loadInWorker } from '../../src/worker/index.ts';
import { TestConsole } from '../support/console.ts';
import { lockOf } from '../support/parts.ts';

type Code = (this: unknown, ...args: unknown[]) => unknown;

/** How a function of a user was called: by the number of its arguments and its `this`. */
const calls = new Map<string, Set<string>>();

/** The objects of users: the `this` of their methods. */
const owners = new Map<unknown, string>();

function shown(self: unknown): string {
  return self === undefined ? 'none' : (owners.get(self) ?? `another: ${self?.constructor?.name}`);
}

/** A function of a user that notes its calls. Undeclared arguments are among those that it counts. */
function spy(name: string, code: (...args: never[]) => unknown = () => undefined): never {
  return function (this: unknown, ...args: unknown[]) {
    calls.set(name, (calls.get(name) ?? new Set()).add(`${args.length} ${shown(this)}`));
    return (code as Code)(...args);
  } as never;
}

/** An object of a user with methods. */
function own<O extends object>(name: string, object: O): O {
  owners.set(object, name);
  return object;
}

const until = async (isDone: () => boolean): Promise<void> =>
  expect.poll(isDone, { timeout: 5000 }).toBe(true);
const ONCE = { retry: false, logger: false, schedule: '1h' } as const;

it('each function of a user is called with its documented arguments, and without a this of ours', async () => {
  const logger = own('logger', { warn: spy('logger.warn'), error: spy('logger.error') });
  const clock = own('clock', {
    now: spy('clock.now', () => Date.now()),
    monotonic: spy('clock.monotonic', () => performance.now()),
    setTimeout: spy('clock.setTimeout', (act: () => void, ms: number) => {
      const timer = setTimeout(act, ms);
      return { ref: () => timer.ref(), unref: () => timer.unref(), cancel: () => clearTimeout(timer) };
    }),
  });
  const standard = own('schema', {
    version: 1 as const,
    vendor: 'x',
    validate: spy('schema.validate', (value: unknown) => ({ value })) as (v: unknown) => { value: unknown },
  });
  const schedule = own('schedule', {
    nextExecuteTime: spy(
      'schedule.nextExecuteTime',
      ({ endedAt }: { endedAt: number }) => endedAt + 3_600_000,
    ),
    maxStaleness: spy('schedule.maxStaleness', () => 7_200_000),
  });
  const wrapped = { clock, logger, random: spy('random', () => 0.5), waitUntil: spy('waitUntil') };

  // A value
  let n = 0;
  const accept = Object.assign(spy('accept', () => n !== 3) as object, {
    sizeOf: spy('accept.sizeOf', () => 1),
  });
  class Own extends RefreshingValue<number> {
    protected override nextExecuteTime(...args: [never]): number {
      (spy('nextExecuteTime') as Code).apply(this === value ? undefined : this, args);
      return super.nextExecuteTime(...args);
    }
  }
  const value: Own = new Own({
    ...wrapped,
    name: 'value',
    load: spy('load', () => {
      n += 1;
      if (n === 1) throw new Error('down');
      return Promise.resolve(n);
    }),
    initial: spy('initial', () => undefined),
    schema: { '~standard': standard } as never,
    accept: accept as never,
    unchanged: spy('unchanged', () => false),
    schedule: schedule as never,
    retry: {
      retries: 1,
      minTimeout: 1,
      onFailedAttempt: spy('retry.onFailedAttempt'),
      shouldRetry: spy('retry.shouldRetry', () => true),
      shouldConsumeRetry: spy('retry.shouldConsumeRetry', () => true),
    },
    coolDown: 1,
  });
  value.on('load-started', spy('listener'));
  value.on(
    '*',
    spy('listener of *', () => {
      throw new Error('a listener');
    }),
  );
  value.requestStart();
  await value.get().catch(() => {});
  await value.refresh().catch(() => {});
  await value.refresh().catch(() => {});
  await value.refresh().catch(() => {});
  value.set(7);
  const plain = new RefreshingValue({
    ...ONCE,
    name: 'plain',
    load: spy('load of one try', async () => 1),
    schedule: spy('schedule', () => Date.now() + 5000),
  });
  await plain.get();
  await plain.get({ maxStaleness: 0, waitUntil: spy('get.waitUntil') });
  const limited = new RefreshGroup({ logger: false, concurrency: 1 });
  await limited.value({ name: 'x', load: spy('load in a limit', () => 1) }).get();
  await new RefreshingValue({
    ...ONCE,
    name: 'deep',
    load: spy('load compared deeply', () => ({})),
    unchanged: 'deep',
  }).refresh();
  for (const one of [
    withJitter(
      spy('schedule in withJitter', () => Date.now() + 1000),
      { seconds: 1 },
    ),
    earliest(spy('schedule in earliest', () => Date.now() + 1000)),
  ])
    await new RefreshingValue({ ...ONCE, name: 'combined', load: () => 1, schedule: one }).get();

  // A cache
  const cache = new RefreshingCache({
    ...ONCE,
    name: 'cache',
    maxSize: 10,
    load: spy('load of a key', (key: string) => key),
    keyOf: spy('keyOf', (key: string) => key),
    sizeOf: spy('sizeOf', () => 1),
  } as never) as RefreshingCache<string, string>;
  await cache.get('a');
  cache.set('b', 'b');
  const many = new RefreshingCache<string, string>({
    ...ONCE,
    name: 'many',
    max: 10,
    loadMany: spy('loadMany', (keys: string[]) => new Map(keys.map((key) => [key, key]))),
  });
  await many.get('a');

  // Functions, tasks, decorators
  await refreshing(spy('refreshing', () => 1) as () => number, ONCE)();
  await (
    refreshing(
      spy('refreshing keyed', () => 1) as (a: string, b: string) => number,
      { ...ONCE, keyed: true, keyOf: spy('refreshing.keyOf', () => 'k') } as never,
    ) as never as (...args: string[]) => unknown
  )('a', 'b');
  const [one, two] = [plain, new RefreshingValue({ ...ONCE, name: 'two', load: () => 2 })];
  await derive(
    [one, two] as never,
    spy('derive', (a: number, b: number) => a + b),
    { logger: false } as never,
  ).get();
  const task = spy('task', () => 1);
  await new PeriodicExecutor(task, { ...ONCE, name: 'task' }).execute();
  const { lock } = memoryBackend();
  await lockedTask(
    spy('lockedTask', () => 1) as (context: unknown, _: string) => number,
    { name: spy('lockedTask.name', () => 'n'), lock, logger: false } as never,
  )('x');
  class Jobs {}
  const decorate = (decorator: unknown, code: unknown): unknown =>
    (decorator as (...args: unknown[]) => unknown)(code, { kind: 'method', name: 'm', addInitializer() {} });
  const jobs = own('instance', new Jobs());
  await (
    decorate(
      locked(spy('locked options', () => ({ name: spy('locked.name', () => 'l'), lock, logger: false }))),
      spy('locked method', async () => 1),
    ) as Code
  ).call(jobs, 'x');
  await (
    decorate(
      refreshingMethod(spy('refreshing options', () => ONCE)),
      spy('refreshing method', async () => 1),
    ) as Code
  ).call(jobs);

  // Guards and sources
  const guarded = new RefreshingValue({
    ...ONCE,
    name: 'guarded',
    load: () => [{ id: n++ }],
    accept: every(
      changesAtMost(1, { idOf: spy('changesAtMost.idOf', ({ id }: { id: number }) => id) }),
      spy('every', () => true),
    ) as never,
  });
  await guarded.get();
  await guarded.refresh();
  const of = async (name: string, load: unknown): Promise<unknown> =>
    new RefreshingValue({ ...ONCE, name, load: load as () => number }).get();
  await of(
    'first',
    firstOf(
      spy('firstOf.source', async () => 1),
      { accept: spy('firstOf.accept', () => true), random: spy('firstOf.random', () => 0) } as never,
    ),
  );
  await of('merged', mergeOf({ a: spy('mergeOf.source', async () => 1) }));
  const fetched = (): Response => new Response('{}', { headers: { 'content-type': 'application/json' } });
  await of(
    'http',
    httpSource(
      spy('httpSource.url', () => 'http://localhost/x'),
      {
        fetch: spy('httpSource.fetch', async () => fetched()),
        parse: spy('httpSource.parse', () => 1),
      } as never,
    ),
  );
  const folder = mkdtempSync(join(tmpdir(), 'user-code-'));
  writeFileSync(join(folder, 'a.txt'), 'a');
  await of('file', fileSource(join(folder, 'a.txt'), { parse: spy('fileSource.parse', () => 1) } as never));

  // The backend
  const codec = own('codec', {
    format: 'x',
    encode: spy('codec.encode', (v: unknown) => JSON.stringify(v)),
    decode: spy('codec.decode', (v: string) => JSON.parse(v)),
  });
  const bus = own('bus', { send: spy('bus.send'), listen: spy('bus.listen', () => spy('bus.stop')) });
  const backend = memoryBackend({ codec, signals: createSignals(bus) } as never);
  const everywhere = { ...ONCE, name: 'shared', backend, propagateWithin: 5 } as const;
  const shared = new RefreshingValue({ ...everywhere, load: spy('load with a lease', () => 1) });
  await shared.get();
  const adopted = new RefreshingValue({ ...everywhere, load: () => 2 });
  await adopted.get();
  await adopted.set(3);
  await new Promise((resolve) => setTimeout(resolve, 20));
  shared.current;
  await until(() => calls.has('bus.send') && calls.has('codec.decode'));
  await Promise.all([shared.close(), adopted.close()]);

  // A lock of the user's own, and reads of many keys
  const locks = lockOf(memoryBackend());
  const provider = own('provider', {
    acquire: spy('lock.acquire', (request: never) => locks.acquire(request)),
    extend: spy('lock.extend', (lease: never, ms: never) => locks.extend(lease, ms)),
    release: spy('lock.release', (lease: never, outcome: never) => locks.release(lease, outcome)),
  });
  const byLock = new RefreshingValue({ ...ONCE, name: 'by lock', lock: asLock(provider), load: () => 1 });
  await byLock.get();
  await until(() => calls.has('lock.release'));
  const failing = new RefreshingCache<string, string>({
    ...ONCE,
    name: 'failing',
    max: 1,
    load: () => Promise.reject(new Error('down')),
  });
  await failing.getMany(['a'], { onError: spy('getMany.onError') });

  // The console
  const options = own('console options', {
    authorize: spy('console.authorize', () => 'me'),
    showValue: spy('console.showValue', (shown: unknown) => shown),
    redact: spy('console.redact', (text: string) => text),
    onAudit: spy('console.onAudit'),
  });
  const page = new TestConsole(options as never);
  await page.group.value({ name: 'v', load: () => 1 }).get();
  const { id } = (await page.get('api/overview')).body.members[0];
  await page.get(`api/member?id=${encodeURIComponent(id)}`);
  await page.act('refresh', { id });

  // In a thread
  writeFileSync(
    join(folder, 'load.mjs'),
    'export function load() { return [arguments.length, this === undefined]; }',
  );
  const picked = loadInWorker(join(folder, 'load.mjs'), { previous: spy('loadInWorker.previous') });
  const inThread = new RefreshingValue({ ...ONCE, name: 'thread', load: picked as () => Promise<unknown> });
  expect(await inThread.get()).toEqual([1, true]);
  await inThread.refresh();
  await Promise.all([page.group.close(), limited.close()]);

  const seen = Object.fromEntries([...calls].map(([name, ways]) => [name, [...ways].sort().join(' | ')]));
  // The number of arguments, and `this`.
  expect(seen).toEqual({
    accept: '2 none',
    'accept.sizeOf': '1 none',
    'bus.listen': '2 bus',
    'bus.send': '1 bus',
    'bus.stop': '0 none',
    'changesAtMost.idOf': '1 none',
    'clock.monotonic': '0 clock',
    'clock.now': '0 clock',
    'clock.setTimeout': '2 clock',
    'codec.decode': '1 codec',
    'codec.encode': '1 codec',
    'console.authorize': '2 none',
    'console.onAudit': '1 none',
    'console.redact': '1 none',
    'console.showValue': '2 none',
    derive: '2 none',
    every: '2 none',
    'fileSource.parse': '1 none',
    'firstOf.accept': '2 none',
    'firstOf.source': '1 none',
    'get.waitUntil': '1 none',
    'getMany.onError': '2 none',
    'httpSource.fetch': '2 none',
    'httpSource.parse': '1 none',
    'httpSource.url': '1 none',
    initial: '0 none',
    keyOf: '1 none',
    listener: '1 none',
    'listener of *': '1 none',
    load: '1 none',
    'load compared deeply': '1 none',
    'load in a limit': '1 none',
    'load of a key': '2 none',
    'load of one try': '1 none',
    'load with a lease': '1 none',
    'loadInWorker.previous': '1 none',
    loadMany: '2 none',
    'lock.acquire': '1 provider',
    'lock.release': '2 provider',
    'locked method': '1 instance',
    'locked options': '1 none',
    'locked.name': '1 instance',
    lockedTask: '2 none',
    'lockedTask.name': '1 none',
    'logger.error': '1 logger',
    'logger.warn': '1 logger',
    'mergeOf.source': '1 none',
    nextExecuteTime: '1 none',
    random: '0 none',
    refreshing: '0 none',
    'refreshing keyed': '2 none',
    'refreshing method': '0 instance',
    'refreshing options': '1 none',
    'refreshing.keyOf': '2 none',
    'retry.onFailedAttempt': '1 none',
    'retry.shouldConsumeRetry': '1 none',
    'retry.shouldRetry': '1 none',
    schedule: '1 none',
    'schedule in earliest': '1 none',
    'schedule in withJitter': '1 none',
    'schedule.maxStaleness': '1 schedule',
    'schedule.nextExecuteTime': '1 schedule',
    'schema.validate': '1 schema',
    sizeOf: '2 none',
    task: '1 none',
    unchanged: '2 none',
  });
}, 20_000);
