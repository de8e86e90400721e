import { describe, expect, it } from 'vitest';
import { fixedDelay, loaded } from '../../../src/index.ts';
import { coldPair, ManualCluster } from '../../support/cluster.ts';
import { settled } from '../../support/settle.ts';

describe('a lock and a store: one loads, the others take it over', () => {
  it('a value is too old at its age limit to the millisecond, though the round is held for a moment longer', async () => {
    const cluster = new ManualCluster();
    const [a] = await cluster.warm(1, {
      schedule: fixedDelay(1000),
      maxStaleness: 1000,
      whenTooStale: 'throw',
    });
    a.value.inspect(); // compares the clocks
    await cluster.clock.advance(900);
    expect(a.value.inspect().age).toBe(1000);
    expect(a.value.current).toBe('one');
    await cluster.clock.advance(1);
    expect(() => a.value.current).toThrow('old');
  });

  it('cold instances wait for the winner, and have its value, its age and its due time', async () => {
    const { cluster, a, b } = coldPair();
    const reads = [a.value.get(), b.value.get()];
    await cluster.clock.advance(500);
    await cluster.end(a, 0, 'one');
    const { nextExecuteTime } = a.value.inspect();
    await cluster.clock.advance(400);
    expect(await Promise.all(reads)).toEqual(['one', 'one']);
    expect(b.manual.calls).toHaveLength(0);
    expect(b.value.inspect()).toMatchObject({ state: 'fresh', age: 400 });
    expect(Math.abs(b.value.inspect().nextExecuteTime - nextExecuteTime)).toBeLessThanOrEqual(25);
    expect(b.value.inspect().lock).toMatchObject({
      version: a.manual.call(0).context.token,
      isHolder: false,
    });
  });

  it('a snapshot in the store is served at once after a restart, and reloaded when it is due', async () => {
    const cluster = new ManualCluster();
    await cluster.warm(1);
    await cluster.clock.advance({ hours: 3 });
    const restarted = cluster.instance();
    expect(await restarted.value.get()).toBe('one');
    expect(restarted.value.inspect()).toMatchObject({ state: 'stale', age: 3 * 3_600_000 + 100 });
    expect(restarted.manual.calls).toHaveLength(0);
    expect(await restarted.value.get()).toBe('one');
    await cluster.clock.flush();
    expect(restarted.manual.calls).toHaveLength(1);
    expect(restarted.manual.call(0).context).toMatchObject({ trigger: 'due', previous: { value: 'one' } });
  });

  it('current takes a snapshot behind the read, and throws until it is there', async () => {
    const cluster = new ManualCluster();
    await cluster.warm(1);
    const restarted = cluster.instance();
    expect(() => restarted.value.current).toThrow('not loaded yet');
    await cluster.clock.flush();
    expect(restarted.value.current).toBe('one');
  });

  it('the age limit that a load returned elsewhere is never longer than that of the member here', async () => {
    const cluster = new ManualCluster();
    await cluster.instance({ load: async () => loaded('one', { maxStaleness: 90_000 }) }).value.get();
    await cluster.clock.flush();
    const b = cluster.instance({ maxStaleness: 5000 });
    expect([await b.value.get(), b.value.inspect().maxStaleness]).toEqual(['one', 5000]);
    await cluster.clock.advance(6000);
    const restarted = cluster.instance({ maxStaleness: 5000 });
    const waiting = restarted.value.get();
    await cluster.clock.flush();
    expect(await settled(waiting)).toBe('pending');
    restarted.manual.call(0).resolve('two');
    expect(await waiting).toBe('two');
  });

  it('what the load said of its value travels: the due time, the age limit', async () => {
    const cluster = new ManualCluster();
    const load = async (): Promise<ReturnType<typeof loaded<string>>> =>
      loaded('one', { dueAfter: 60_000, maxStaleness: 90_000 });
    const [a, b] = [cluster.instance({ load }), cluster.instance({ load })];
    await a.value.get();
    await cluster.clock.flush();
    await b.value.get();
    for (const { value } of [a, b]) {
      const { maxStaleness, nextExecuteTime } = value.inspect();
      expect(maxStaleness).toBe(90_000);
      expect(nextExecuteTime - cluster.clock.now()).toBeGreaterThanOrEqual(60_000);
      expect(nextExecuteTime - cluster.clock.now()).toBeLessThanOrEqual(60_025);
    }
  });

  it('a value that was set while another was being published has no version', async () => {
    const cluster = new ManualCluster();
    const a = cluster.instance();
    const answered = a.link.hold('write');
    await cluster.load(a, 'one');
    a.value.set('by hand', { here: true });
    answered.resolve();
    await cluster.clock.flush();
    expect(a.value.inspect().lock?.version).toBeUndefined();
  });
});

describe('a lock without a store: instances take turns at the source', () => {
  it('each loads for itself, one after the other', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [cluster.instance({ store: undefined }), cluster.instance({ store: undefined })];
    const reads = [a.value.get(), b.value.get()];
    await cluster.clock.advance(1000);
    expect([a.manual.calls.length, b.manual.calls.length]).toEqual([1, 0]);
    a.manual.call(0).resolve('of a');
    await cluster.clock.advance(1000);
    expect(b.manual.calls).toHaveLength(1);
    b.manual.call(0).resolve('of b');
    expect(await Promise.all(reads)).toEqual(['of a', 'of b']);
    expect(a.link.take()).toEqual(['acquire', 'extend', 'release']);
  });
});
