import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { LEASE_MS, ManualCluster, warmOne, warmPair } from '../../support/cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

describe('a value that is set everywhere', () => {
  it('is served here at once, and by the others when their next load is due, without a load', async () => {
    const { cluster, a, b } = await warmPair();
    a.value.reschedule(5000);
    const shared = a.value.set('by hand');
    expect(a.value.current).toBe('by hand');
    await shared;
    expect(a.value.inspect().lock?.version).toBe((await cluster.store.read('v'))?.version);
    expect(a.link.take()).toEqual(['write']);
    await cluster.readAfter(1000, b);
    expect([b.value.peek(), b.manual.calls.length]).toEqual(['by hand', 0]);
  });

  it('is newer than the result of the load that it aborts, and of one that ends elsewhere later', async () => {
    const { cluster, a, b } = await warmPair();
    a.value.reschedule(5000);
    await cluster.readAfter(1100, b); // b loads
    await a.value.set('by hand');
    await cluster.end(b, 0, 'two');
    expect([a.value.peek(), b.value.peek()]).toEqual(['by hand', 'two']);
    expect((await cluster.store.read('v'))?.payload).toContain('by hand');
    await cluster.readAfter(100, b);
    expect([b.value.peek(), b.manual.calls.length]).toEqual(['by hand', 1]);
  });

  it('ends a load elsewhere at its next extension; its readers get the value', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [cluster.instance({ schedule: 5000 }), cluster.instance()];
    const read = b.value.get();
    await cluster.clock.flush();
    await a.value.set('by hand');
    await cluster.clock.advance(LEASE_MS / 3);
    expect(b.manual.call(0).context.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    await cluster.end(b, 0, 'two');
    await cluster.clock.advance(10);
    expect([await read, b.value.peek(), b.manual.calls.length]).toEqual(['by hand', 'by hand', 1]);
  });

  it('does not wait for the end of its own load, which ignores that it was aborted; another load does', async () => {
    const { cluster, a } = await warmOne();
    void a.value.refresh({ here: true });
    await cluster.clock.flush();
    const shared = a.value.set('by hand');
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.flush();
    expect([await settled(shared), a.manual.calls.length]).toEqual([{ value: undefined }, 2]);
    const { version } = a.value.inspect().lock ?? {};
    await cluster.end(a, 1, 'two');
    await cluster.clock.advance(10);
    await cluster.end(a, 2, 'three');
    expect(await refreshed).toBe('three');
    expect(a.value.inspect().lock?.version).toBeGreaterThan(version as number);
  });

  it('of two instances at the same time, one remains', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [cluster.instance(), cluster.instance({ schedule: 5000 })];
    const both = [a.value.set('of a'), b.value.set('of b')];
    await cluster.clock.advance(200);
    await Promise.all(both);
    await cluster.readAfter(1000, a);
    expect([a.value.peek(), b.value.peek(), a.manual.calls.length]).toEqual(['of b', 'of b', 0]);
  });

  it('waits for a slow codec', async () => {
    const encoded = new Deferred<string>();
    const cluster = new ManualCluster({ codec: { encode: () => encoded.promise, decode: String } });
    const a = cluster.instance();
    const shared = a.value.set('by hand');
    await cluster.clock.advance(3 * LEASE_MS);
    encoded.resolve('by hand');
    expect(await settled(shared)).toEqual({ value: undefined });
    expect(new Set(a.link.take())).toEqual(new Set(['write']));
    expect(cluster.clock.timerCount).toBe(0);
  });
});

describe('a change that could not reach all instances', () => {
  it('says so where the backend is down; the value stays here', async () => {
    const { cluster, a } = await warmOne();
    a.link.break('refused', 'write');
    const error = await rejectionOf(a.value.set('by hand'));
    expect([isTicklessError(error, 'BACKEND_DOWN'), (error as Error).message]).toEqual([
      true,
      expect.stringContaining('ECONNREFUSED'),
    ]);
    expect(a.value.current).toBe('by hand');
    a.link.mend();
    await cluster.clock.advance(60_000);
    await a.value.set('by hand');
  });

  it('says so within the timeout where the backend does not answer', async () => {
    const { cluster, a } = await warmOne({ timeout: 2000 });
    a.link.break('no-answer', 'write');
    const shared = a.value.set('by hand');
    const next = a.value.set('again'); // it waits for the one before
    await cluster.clock.advance(2100);
    for (const one of [shared, next])
      expect(await settled(one)).toMatchObject({ error: { code: 'BACKEND_DOWN' } });
    expect(a.value.current).toBe('again');
  });

  it('is made once where its answer is lost', async () => {
    const cluster = new ManualCluster({ keepVersions: 5 });
    const [a] = await cluster.warm(1);
    a.link.breakOnce('answer-lost', 'write');
    await a.value.set('by hand');
    expect(a.link.take()).toEqual(['write', 'write']);
    const [present] = await a.value.history();
    expect([(await a.value.history()).length, present?.version]).toEqual([
      2,
      a.value.inspect().lock?.version,
    ]);
  });

  it('of a refresh rejects it, and the value that was loaded is served', async () => {
    const { cluster, a } = await warmOne();
    a.link.break('refused', 'write');
    const refreshed = rejectionOf(a.value.refresh());
    await cluster.clock.flush();
    await cluster.end(a, 1, 'two');
    expect([isTicklessError(await refreshed, 'BACKEND_DOWN'), a.value.current]).toEqual([true, 'two']);
    a.link.mend();
    expect(await cluster.refresh(a, 2, 'three')).toBe('three');
  });

  it('ends with close while it waits for a result that is being written', async () => {
    const { cluster, a } = await warmOne();
    const written = a.link.holdOnce('write');
    a.value.refresh({ here: true }).catch(() => {});
    await cluster.clock.flush();
    await cluster.end(a, 1, 'two');
    const shared = a.value.set('by hand');
    await cluster.clock.flush();
    const closed = a.value.close({ timeout: 0 });
    await cluster.clock.advance(1000);
    expect(await settled(shared)).toMatchObject({ error: { code: 'CLOSED' } });
    written.resolve();
    await closed;
    await cluster.clock.advance(1000);
    expect([(await cluster.store.read('v'))?.payload, cluster.clock.timerCount]).toEqual([
      expect.stringContaining('two'),
      0,
    ]);
  });

  it('whose command is under way is made, though the member was closed', async () => {
    const { cluster, a } = await warmOne();
    const written = a.link.holdOnce('write');
    const shared = a.value.set('by hand');
    await cluster.clock.flush();
    const closed = a.value.close({ timeout: 0 });
    written.resolve();
    await closed;
    expect(await settled(shared)).toEqual({ value: undefined });
  });

  it('is waited for by close, and rejects after it', async () => {
    const { a } = await warmOne();
    const order: string[] = [];
    const shared = a.value.set('by hand').then(() => order.push('shared'));
    await Promise.all([shared, a.value.close().then(() => order.push('closed'))]);
    expect(order).toEqual(['shared', 'closed']);
    expect(await rejectionOf(a.value.set('again'))).toMatchObject({ code: 'CLOSED' });
  });
});

describe('refresh() of a shared value', () => {
  it('resolves when the snapshot is in the store; readers are served before', async () => {
    const { cluster, a } = await warmOne();
    const written = a.link.holdOnce('write');
    const refreshed = a.value.refresh();
    await cluster.clock.flush();
    await cluster.end(a, 1, 'two');
    expect(await a.value.get()).toBe('two');
    expect(await settled(refreshed)).toBe('pending');
    written.resolve();
    await cluster.clock.flush();
    expect(await settled(refreshed)).toEqual({ value: 'two' });
    const version = a.value.inspect().lock?.version;
    expect((await cluster.store.read('v'))?.version).toBe(version);
  });

  it('with here resolves without a version when it could not be published', async () => {
    const { cluster, a } = await warmOne();
    a.link.break('refused', 'write');
    expect(await cluster.refresh(a!, 1, 'two', { here: true })).toBe('two');
    expect(a.value.inspect().lock?.version).toBeUndefined();
  });

  it('waits for a store that is silent as long as its writes may take', async () => {
    const { cluster, a } = await warmOne();
    a.link.break('no-answer', 'write');
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.flush();
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(2999);
    expect(await settled(refreshed)).toBe('pending');
    await cluster.clock.advance(1);
    expect(await settled(refreshed)).toEqual({ value: 'two' });
  });
});
