import { describe, expect, it } from 'vitest';
import { keep, RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { fakeValue, loadedManualValue, manualValue } from '../../support/manual-value.ts';

describe('the stats of a value', () => {
  it('count reads: those that found no value, waited, were served a stale one', async () => {
    const { value, manual, clock } = manualValue();
    const cold = [value.get(), value.get()];
    manual.call(0).resolve('one');
    await Promise.all(cold);
    await value.get(); // fresh
    await clock.advance(1000);
    expect(value.current).toBe('one'); // stale
    const patient = value.get({ patience: 10 });
    await clock.flush();
    manual.call(1).resolve('two');
    expect(await patient).toBe('two');
    expect(value.inspect().stats).toMatchObject({
      reads: 5,
      misses: 2,
      hitRatio: 0.6,
      waited: 3,
      servedStale: 1,
    });
    expect(value.stats()).toEqual(value.inspect().stats);
  });

  it('count loads by their ends and their lengths', async () => {
    const { value, manual, clock } = manualValue({
      accept: (candidate) => candidate !== 'bad' || 'is bad',
      timeout: 500,
    });
    const results: unknown[] = ['one', keep(), 'bad', new Error('down')];
    for (const [call, result] of results.entries()) {
      const refreshed = value.refresh().catch(() => {});
      await clock.advance(30);
      if (result instanceof Error) manual.call(call).reject(result);
      else manual.call(call).resolve(result as string);
      await refreshed;
    }
    const timedOut = value.refresh().catch(() => {});
    await clock.advance(500);
    await timedOut;
    const { loading, ...stats } = value.stats();
    expect(stats).toMatchObject({ loads: 5, kept: 1, failures: 3, rejections: 1 });
    expect(loading).toMatchObject({ count: 5, total: 4 * 30 + 500, longest: 500 });
    expect(loading.buckets.filter(({ count }) => count > 0)).toEqual([
      { upTo: 50, count: 4 },
      { upTo: 500, count: 1 },
    ]);
  });

  it('count reads of a value that is too stale, whatever they are served', async () => {
    const { value, clock } = fakeValue(() => 1, { schedule: 500, maxStaleness: 1000, whenTooStale: 'throw' });
    expect(value.current).toBe(1);
    await clock.advance(2000);
    expect(() => value.current).toThrow('is 2 s old');
    expect(value.stats()).toMatchObject({ tooStale: 1, servedStale: 0 });
  });

  it('are copies, and shown as JSON', async () => {
    const { value } = await loadedManualValue();
    const before = value.inspect();
    await value.get();
    expect(before.stats?.reads).toBe(1);
    expect(JSON.parse(JSON.stringify(before)).stats).toMatchObject({ reads: 1, hitRatio: 0 });
  });
});

describe('the stats in a cluster', () => {
  it('count commands, snapshots published with their size, and those adopted', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [cluster.instance(), cluster.instance()];
    const reads = [a.value.get(), b.value.get()];
    await cluster.clock.flush();
    a.manual.call(0).resolve('€ 😀 '.repeat(40_000)); // longer than a slice, with pairs at its end
    await cluster.clock.advance(100);
    await Promise.all(reads);
    const sent = (steps: readonly string[]): number =>
      a.link.commands.filter(({ step }) => steps.includes(step)).length;
    const stats = a.value.stats();
    expect(stats).toMatchObject({ published: 1, adopted: 0 });
    const payloads = a.link.commands
      .filter(({ step }) => step === 'write')
      .map(({ args }) => String(args[0]));
    expect(stats.bytesPublished).toBe(Buffer.byteLength(payloads.join('')));
    expect(stats.lockCommands).toBe(sent(['acquire', 'extend', 'release']));
    expect(stats.storeCommands).toBe(sent(['read', 'write']));
    expect(stats.lockCommands).toBeGreaterThan(1);
    expect(b.value.stats()).toMatchObject({ published: 0, bytesPublished: 0, adopted: 1, loads: 0 });
  });
});

describe('the stats of a cache', () => {
  it('count the reads of all keys, the share of hits, and evicted keys', async () => {
    const clock = new FakeClock();
    const cache = new RefreshingCache({ name: 'c', load: async (key: string) => key, clock, max: 2 });
    await cache.getMany(['a', 'b']);
    await cache.getMany(['a', 'b', 'c']); // c takes the place of a
    expect(cache.current('c')).toBe('c');
    expect(cache.stats()).toMatchObject({
      reads: 6,
      misses: 3,
      hitRatio: 0.5,
      waited: 3,
      loads: 3,
      evicted: 1,
    });
    expect(cache.inspect('c')).not.toHaveProperty('stats');
  });
});

describe('the stats of a group', () => {
  it('are those of each member and of all together', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock });
    const a = group.value({ name: 'a', load: () => 1 });
    const c = group.cache({ name: 'c', load: (key: string) => key });
    expect([a.current, a.current, c.current('x')]).toEqual([1, 1, 'x']);
    const { total, members } = group.stats();
    expect(members).toEqual([
      { name: 'a', ...a.stats() },
      { name: 'c', ...c.stats() },
    ]);
    expect(total).toMatchObject({ reads: 3, misses: 2, loads: 2, loading: { count: 2 } });
    expect(group.inspect().members.map((member) => member.stats?.reads)).toEqual([2, 1]);
  });
});
