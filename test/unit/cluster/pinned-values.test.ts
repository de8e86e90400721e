import { expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { virtualCluster } from '../../../src/testing/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { isOutcome } from '../../support/events.ts';
import { rejectionOf } from '../../support/settle.ts';
import { pinnedOnBoth, pinnedOne, twoVersions } from '../../support/two-versions.ts';

it('unpin publishes the pinned value also on an instance that has dropped it', async () => {
  const { cluster, a } = await pinnedOne();
  a.value.invalidate({ drop: true, here: true });
  await a.value.unpin();
  expect([a.value.peek(), await cluster.instance().value.get()]).toEqual(['one', 'one']);
});

it('the version of an instance does not go back while it puts back another one, after a rollback that failed', async () => {
  const { a } = await twoVersions();
  const before = a.value.inspect().lock?.version as number;
  a.link.break('refused', 'write');
  for (const _ of [1, 2]) {
    const failure = rejectionOf(a.value.rollback({ by: 'ann' }));
    const versions: (number | undefined)[] = [];
    a.value.on('changed', () => versions.push(a.value.inspect().lock?.version));
    await failure;
    expect(versions.filter((version) => version !== undefined && version < before)).toEqual([]);
  }
});

it('a value that is dropped while its pin is checked is loaded again, and not served as nothing', async () => {
  const { cluster, a, b } = await pinnedOnBoth();
  const [, two] = await a.value.history();
  await a.value.rollback({ by: 'ann', to: two?.version });
  await cluster.clock.advance(60_000);
  const answers = b.link.hold('acquire');
  void b.value.get({ patience: 5000 }); // asks for the lease and the newer version
  await cluster.clock.flush();
  b.value.invalidate({ drop: true, here: true });
  b.link.break('refused', 'acquire', 'read');
  answers.reject(new Error('the backend is down'));
  await cluster.clock.flush();
  expect(b.value.get()).toBeInstanceOf(Promise); // for which it loads, since the backend rests
  await cluster.clock.flush();
  expect(b.manual.calls.length).toBe(1);
});

it('an instance with a value of its own learns within a minute that the pin is over', async () => {
  const { cluster, a, b } = await pinnedOne();
  await cluster.clock.advance(100);
  b.value.set('mine', { here: true });
  await cluster.readAfter(1100, b);
  expect(b.value.peek()).toBe('mine');
  await a.value.set('three');
  await cluster.readAfter(60_000, b);
  expect(b.manual.calls.length).toBe(1);
});

it('a lease whose answer came too late does not end the hold of a pinned version', async () => {
  const { cluster, a, b } = await twoVersions();
  const c = cluster.instance();
  await c.value.get();
  await a.value.rollback({ by: 'ann' });
  const answers = b.link.hold('acquire');
  b.value.refresh().catch(() => {});
  await cluster.clock.advance(2500);
  b.link.mend();
  answers.resolve();
  await cluster.clock.flush();
  await cluster.read(c);
  expect([c.value.peek(), c.manual.calls.length]).toEqual(['one', 0]);
});

it('a store that is not asked, because another call is asking it first, does not tell that nothing is pinned', async () => {
  const { cluster, a, b } = await pinnedOne();
  const answers = new Deferred<void>();
  b.link.break('refused', 'read');
  await rejectionOf(b.value.history());
  b.link.fault = (step) => (step === 'read' ? answers.promise : undefined);
  await cluster.clock.advance(1100);
  b.value.history().catch(() => {}); // the first one after the rest
  await cluster.clock.flush();
  b.value.invalidate({ here: true });
  void b.value.get({ patience: 5000 }); // which does not wait for that one
  await cluster.clock.flush();
  if (b.manual.calls.length > 0) await cluster.end(b, 0, 'three');
  const [present] = await a.value.history();
  expect(present?.isPinned).toBe(true);
});

it('an instance on which unpin has failed learns of the pin, and of its end', async () => {
  const { cluster, a, b } = await pinnedOne();
  b.link.break('no-answer', 'write');
  const failure = rejectionOf(b.value.unpin());
  while (b.value.peek() === 'two') await cluster.clock.flush();
  b.value.set('mine', { here: true });
  await cluster.clock.advance(10_000);
  await failure;
  b.link.mend();
  await cluster.readAfter(30_000, b);
  await a.value.set('three');
  await cluster.readAfter(60_000, b);
  expect(b.value.peek()).toBe('three');
});

it('an older version that arrives after the store has lost all is not adopted, after a rollback that failed', async () => {
  const { cluster, a, b } = await twoVersions();
  const { store } = a.link;
  const [, one] = await a.value.history();
  const { payload, version = 0 } = (await store.read('v', undefined, one?.version)) ?? {};
  a.link.break('refused', 'write');
  await rejectionOf(a.value.rollback({ by: 'ann' }));
  a.link.mend();
  await cluster.reloadAfter(2100, b, 0, 'three');
  await store.delete('v');
  await store.write('v', payload as string, version);
  a.events.length = 0;
  await cluster.read(a);
  expect(a.events.filter(isOutcome('adopted'))).toEqual([]);
});

it('a pinned version that was dropped, and loaded while neither lock nor store could be reached, is adopted again', async () => {
  const { cluster, a } = await pinnedOne();
  a.link.break('refused', 'acquire', 'read');
  a.value.invalidate({ drop: true, here: true });
  void a.value.get();
  await cluster.clock.flush();
  await cluster.end(a, 2, 'three');
  expect(a.value.peek()).toBe('three');
  a.link.mend();
  await cluster.readAfter(60_000, a);
  await cluster.read(a);
  expect(a.value.peek()).toBe('one');
});

it('rollback resolves with its own version, also if another one has failed meanwhile', async () => {
  const { cluster, a } = await twoVersions();
  const answers = a.link.holdOnce('write');
  const first = a.value.rollback({ by: 'ann' });
  await cluster.clock.flush();
  const [present, before] = await a.value.history();
  const second = rejectionOf(a.value.rollback({ by: 'bob', to: before?.version }));
  await cluster.clock.advance(10);
  a.link.break('refused', 'write');
  answers.resolve();
  await second;
  expect([await first, present?.isPinned]).toEqual([present?.version, true]);
});

it('unpin of a version that is replaced meanwhile, and no longer kept, publishes nothing', async () => {
  const { cluster, a, b } = await pinnedOne();
  const answers = new Deferred<void>();
  let reads = 0;
  b.link.fault = (step) => {
    if (step === 'read') reads += 1;
    return step === 'read' && reads === 1 ? answers.promise : undefined; // the history, before the version
  };
  const unpinned = b.value.unpin();
  for (const value of ['3', '4', '5', '6']) await a.value.set(value);
  answers.resolve();
  expect(await unpinned).toBe(false);
  expect(await cluster.instance().value.get()).toBe('6');
});

it('a mark takes the place of no version that may be pinned: it fails where the store cannot be read', async () => {
  const { a, b } = await pinnedOne();
  b.link.break('refused', 'read');
  expect(await rejectionOf(b.value.invalidate({ drop: true }))).toMatchObject({ code: 'BACKEND_DOWN' });
  expect((await a.value.history())[0]?.isPinned).toBe(true);
});

it('unpin discards no value that a person sets everywhere meanwhile', async () => {
  let loads = 0;
  const cluster = virtualCluster({
    instances: 3,
    source: () => `load ${++loads}`,
    backend: { keepVersions: 5 },
    service: ({ source, name, ...given }) =>
      new RefreshingValue({
        ...given,
        name: 'v',
        load: () => source(),
        schedule: { hours: 1 },
        propagateWithin: 1000,
        logger: false,
      }),
  });
  const [one, another, third] = cluster.instances.map(({ service }) => service) as RefreshingValue<string>[];
  if (one === undefined || another === undefined) throw new Error('three instances');
  const read = (value: RefreshingValue<string>): void => void value.get();
  const isDone = async <R>(done: Promise<R>): Promise<R> => {
    await cluster.run(5000, { every: 100, read });
    return done;
  };
  await isDone(one.refresh({ here: true }).then(() => one.refresh({ here: true })));
  await isDone(one.rollback({ by: 'ann' }));
  cluster.backend.slow(30);
  const set = one.set('set by hand');
  await cluster.advance(10);
  const unpinned = another.unpin();
  await isDone(set);
  expect(await isDone(unpinned)).toBe(true);
  expect([one, another, third].map((value) => value?.peek())).toEqual(Array(3).fill('set by hand'));
});

it('a pin that the store has lost is ended by unpin', async () => {
  const { cluster, a } = await twoVersions();
  const rolledBack = a.value.rollback({ by: 'ann' });
  await cluster.clock.flush();
  await rolledBack;
  await cluster.store.delete('v');
  expect(a.value.inspect().pinned?.by).toBe('ann');
  const unpinned = a.value.unpin();
  await cluster.clock.flush();
  expect(await unpinned).toBe(true);
  expect(a.value.inspect().pinned).toBeUndefined();
  const again = a.value.unpin();
  await cluster.clock.flush();
  expect(await again).toBe(false);
});

it('an unpin whose answer comes after a rollback ends no pin of that', async () => {
  const { cluster, a } = await twoVersions();
  const answer = new Deferred<void>();
  const faults = [answer.promise];
  a.link.fault = (step) => (step === 'read' ? faults.shift() : undefined);
  const unpinned = a.value.unpin();
  const rolledBack = a.value.rollback({ by: 'ann' });
  await cluster.clock.flush();
  await rolledBack;
  answer.resolve();
  await cluster.clock.flush();
  expect([await unpinned, a.value.inspect().pinned?.by]).toEqual([false, 'ann']);
});

it('a pinned version is fresh, keeps the limit of the member in sight, and has a line at its beginning and its end', async () => {
  const lines: string[] = [];
  const logger = {
    warn: (line: string) => void lines.push(line),
    error: (line: string) => void lines.push(line),
  };
  const { cluster, a, b } = await twoVersions({ logger, maxStaleness: 5000, whenTooStale: 'throw' });
  const staleBefore = a.value.inspect().counts['stale-served'];
  await a.value.rollback({ by: 'ann', note: 'bad prices' });
  await cluster.clock.advance(1100);
  await cluster.read(b);
  for (let minute = 0; minute < 10; minute++) {
    await cluster.clock.advance(60_000);
    expect(a.value.inspect().state).toBe('fresh');
    await cluster.read(a);
  }
  const { state, isStale, isDue, maxStaleness, nextExecuteTime, age, counts } = a.value.inspect();
  expect({ state, isStale, isDue, maxStaleness, nextExecuteTime }).toEqual({
    ...{ state: 'fresh', isStale: false, isDue: false, maxStaleness: 5000, nextExecuteTime: Infinity },
  });
  expect([age! > maxStaleness, counts['stale-served']]).toEqual([true, staleBefore]);
  const begun = 'tickless: v: pinned by ann until unpin(): bad prices';
  expect(lines).toEqual([begun, begun]); // one of each instance
  await a.value.unpin({ by: 'bob' });
  await cluster.clock.advance(61_000);
  await b.value.get().catch(() => {});
  await cluster.clock.flush();
  const ended = 'tickless: v: no longer pinned by ann';
  expect(lines.slice(2).filter((line) => line.includes('pinned'))).toEqual([ended, ended]);
});

it('a pin that is over by itself has a line too, and one that could not be published', async () => {
  const lines: string[] = [];
  const logger = { warn: (line: string) => void lines.push(line), error: () => {} };
  const { cluster, a } = await twoVersions({ logger });
  await a.value.rollback({ by: 'ann', hold: 10_000 });
  expect(lines).toEqual([expect.stringMatching(/v: pinned by ann until 2026-.*Z or unpin\(\)$/)]);
  await cluster.clock.advance(11_000);
  await cluster.read(a);
  expect(lines.slice(1)).toEqual(['tickless: v: no longer pinned by ann']);
  await cluster.end(a, 2, 'three');
  a.link.break('refused', 'write');
  await rejectionOf(a.value.rollback({ by: 'bob' }));
  const ofBob = lines.filter((line) => line.includes('pinned by bob'));
  expect(ofBob.map((line) => line.replace(/^tickless: v: /, ''))).toEqual([
    'pinned by bob until unpin()',
    'no longer pinned by bob',
  ]);
});
