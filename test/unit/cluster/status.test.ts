import { describe, expect, it } from 'vitest';
import { RefreshGroup, RefreshingValue } from '../../../src/index.ts';
import { coldOne, coldPair, ManualCluster, warmOne } from '../../support/cluster.ts';
import { onRound, recordLines, wordsOf } from '../../support/events.ts';
import { manualValue } from '../../support/manual-value.ts';

describe('the story of a round', () => {
  it('of the winner, in order and with its fields', async () => {
    const { cluster, value, manual, events } = coldOne();
    await cluster.load({ value, manual }, 'one');
    const { token } = manual.call(0).context;
    expect(events).toMatchObject([
      { type: 'round', outcome: 'acquired', name: 'v', token },
      { type: 'load-started', trigger: 'first', background: false },
      { type: 'load-ended', outcome: 'loaded', attempts: 1 },
      { type: 'round', outcome: 'published', version: token, bytes: expect.any(Number) },
    ]);
    expect(events.every((event) => !('key' in event))).toBe(true);
  });

  it('of one that finds it held, and takes it over', async () => {
    const { cluster, a, b } = coldPair();
    void a.value.get();
    await cluster.clock.flush();
    const read = b.value.get();
    await cluster.clock.flush();
    expect(b.value.inspect().lock).toMatchObject({ isHolder: false, version: undefined });
    a.manual.call(0).resolve('one');
    await cluster.clock.advance(100);
    await read;
    const { token } = a.manual.call(0).context;
    const elsewhere = { owner: expect.any(String), host: expect.any(String), token };
    expect(b.events).toMatchObject([
      { type: 'round', outcome: 'held', retryAfter: 3000, ...elsewhere },
      { type: 'round', outcome: 'done', retryAfter: 975, ...elsewhere },
      { type: 'load-ended', outcome: 'adopted', version: token, attempts: 0, age: 25 },
    ]);
  });

  it('a warm start tells its age and its version, and no load', async () => {
    const cluster = new ManualCluster();
    await cluster.warm(1);
    await cluster.clock.advance(400);
    const restarted = cluster.instance();
    await restarted.value.get();
    expect(restarted.events).toMatchObject([{ type: 'load-ended', outcome: 'adopted', age: 500 }]);
  });

  it('a fresh read tells nothing', async () => {
    const { a } = await warmOne();
    for (let read = 0; read < 100; read++) await a.value.get();
    expect(a.events).toEqual([]);
  });

  it('what a listener does in the middle of it makes no difference', async () => {
    const { cluster, value, manual, events } = coldOne();
    onRound(value, 'acquired', () => {
      throw new Error('listener');
    });
    value.on('load-started', () => void value.get());
    onRound(value, 'published', () => void value.get());
    expect(await cluster.load({ value, manual }, 'one')).toBe('one');
    expect(wordsOf(events)).toContain('published');
  });

  it('a listener that invalidates when the lease is there supersedes the load before it begins', async () => {
    const { cluster, a } = await warmOne();
    const stop = a.value.on('load-started', () => {
      stop();
      a.value.invalidate({ here: true });
    });
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.advance(10);
    expect(a.manual.calls).toHaveLength(2);
    a.manual.call(1).resolve('two');
    expect(await refreshed).toBe('two');
  });
});

describe('inspect().lock', () => {
  it('says who holds it, which version is served, and what was unavailable', async () => {
    const { cluster, a, b } = coldPair();
    const nothing = { holder: undefined, token: undefined, version: undefined, lockError: undefined };
    expect(a.value.inspect().lock).toEqual({ ...nothing, isHolder: false, storeError: undefined });
    const reads = [a.value.get(), b.value.get()];
    await cluster.clock.flush();
    const { token } = a.manual.call(0).context;
    const holder = { owner: expect.any(String), host: expect.any(String) };
    expect(a.value.inspect().lock).toMatchObject({ isHolder: true, token, holder });
    expect(b.value.inspect().lock).toMatchObject({ isHolder: false, token, holder });
    a.manual.call(0).resolve('one');
    await cluster.clock.advance(100);
    await Promise.all(reads);
    for (const { value } of [a, b]) {
      expect(value.inspect().lock).toMatchObject({ isHolder: false, token, version: token });
    }
    a.value.set('by hand', { here: true });
    expect(a.value.inspect().lock?.version).toBeUndefined();
  });

  it('is not there without a lock and a store', () => {
    const { value } = manualValue();
    expect('lock' in value.inspect()).toBe(false);
  });
});

describe('a group', () => {
  it('tells of a lock or a store that is unavailable, and stays in service', async () => {
    const cluster = new ManualCluster();
    const group = new RefreshGroup({ clock: cluster.clock });
    const { value, manual, link } = cluster.instance({ group, required: true });
    link.break('refused', 'acquire', 'read', 'write');
    await cluster.load({ value, manual }, 'one');
    const { ok, problems } = group.health();
    expect(ok).toBe(true);
    expect(problems.map(({ kind, isFatal, name }) => [kind, isFatal, name])).toEqual([
      ['backend-down', false, 'v'],
    ]);
    expect(problems[0]?.message).toContain('ECONNREFUSED');
    link.mend();
    await cluster.readAfter(2000, { value });
    await cluster.end({ manual }, 1, 'two');
    expect(group.health().problems.map(({ kind }) => kind)).not.toContain('backend-down');
  });

  it('gives its members its lock and its store', async () => {
    const cluster = new ManualCluster();
    const link = cluster.link();
    const group = new RefreshGroup({ clock: cluster.clock, backend: { lock: link.lock, store: link.store } });
    const value = group.value({ name: 'v', load: async () => 1 });
    const cache = group.cache({ name: 'c', backend: 'group', load: async (key: string) => key });
    await value.get();
    await cache.get('x');
    await group.executor(() => 1, { name: 't' }).requestStart();
    await cluster.clock.flush();
    expect((await cluster.lock.list()).map(({ name }) => name)).toEqual(['c["x"]', 't', 'v']);
    expect(await cluster.store.read('t')).toBeUndefined();
    await group.close();
  });

  it('starts what is due behind any read, through the locks of each member', async () => {
    const cluster = new ManualCluster();
    const link = cluster.link();
    let loads = 0;
    const made = Array.from({ length: 3 }, () => {
      const group = new RefreshGroup({
        clock: cluster.clock,
        schedule: 1000,
        backend: { lock: link.lock, store: link.store },
      });
      const load = async (): Promise<number> => ++loads;
      return [group.value({ name: 'one', load }), group.value({ name: 'two', load })] as const;
    });
    const first = made.flat().map((value) => value.get());
    await cluster.clock.advance(500);
    await Promise.all(first);
    expect(loads).toBe(2);
    await cluster.clock.advance(1030);
    for (const [one] of made) one.current;
    await cluster.clock.advance(300);
    for (const [one] of made) one.current;
    await cluster.clock.flush();
    expect(loads).toBe(4);
    for (const [one, two] of made) expect([one.peek(), two.peek()].sort()).toEqual([3, 4]);
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('ready() waits for the snapshot that another instance is loading', async () => {
    const cluster = new ManualCluster();
    const a = cluster.instance();
    void a.value.get();
    await cluster.clock.flush();
    const group = new RefreshGroup({ clock: cluster.clock });
    cluster.instance({ group, required: true });
    const ready = group.ready();
    await cluster.clock.advance(1000);
    a.manual.call(0).resolve('one');
    await cluster.clock.advance(1000);
    expect((await ready).ok).toBe(true);
  });
});

describe('log lines', () => {
  it('one per outage of the store, whatever happens meanwhile', async () => {
    const { cluster, a } = await warmOne();
    a.link.break('refused', 'write');
    for (const index of [1, 2, 3]) {
      await cluster.readAfter(1030, a);
      await cluster.end(a, index, `${index}`);
    }
    expect(a.logger.lines).toEqual([
      "warn tickless: backend: the snapshot of v can't be written: ECONNREFUSED",
    ]);
    a.link.mend();
    await cluster.reloadAfter(1030, a, 4, '4');
    expect(a.value.inspect().lock?.storeError).toBeUndefined();
    expect(a.logger.lines[1]).toMatch(/^warn tickless: backend: available again after 3.1 s and 3 failures$/);
    await cluster.clock.advance(60_000);
    a.link.break('refused', 'write');
    await cluster.refresh(a, 5, '5', { here: true });
    expect(a.logger.lines).toHaveLength(3);
  });

  it('a lost lease is a failed load, which is told in one line where nobody waits', async () => {
    const cluster = new ManualCluster();
    const { lock } = cluster.link();
    const logger = recordLines();
    const { clock } = cluster;
    const load = (): Promise<string> => new Promise(() => {});
    const value = new RefreshingValue({ name: 'v', load, schedule: 1000, lock, clock, logger });
    value.set('by hand', { here: true });
    await clock.advance(1030);
    value.current;
    await clock.flush();
    await cluster.lock.forceRelease('v', (await cluster.lock.inspect('v'))?.token as number);
    await clock.advance(1000);
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain('background load failed at attempt 1');
    expect(logger.lines[0]).toContain('the lease is lost');
    expect(value.inspect()).toMatchObject({ failures: 1, value: 'by hand' });
  });
});
