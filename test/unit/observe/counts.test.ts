import { describe, expect, it } from 'vitest';
import { keep, RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { coldPair } from '../../support/cluster.ts';
import { loadedManualValue, manualValue } from '../../support/manual-value.ts';

describe('the counts of a value', () => {
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
    expect(value.inspect().counts).toMatchObject({ reads: 5, misses: 2, waited: 3, 'stale-served': 1 });
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
    const { took, ...counts } = value.inspect().counts;
    expect(counts).toMatchObject({ loaded: 1, kept: 1, failed: 1, refused: 1, 'timed-out': 1 });
    expect(took).toMatchObject({ count: 5, total: 4 * 30 + 500, longest: 500 });
    expect(took.buckets.filter(({ count }) => count > 0)).toEqual([
      { upTo: 50, count: 4 },
      { upTo: 500, count: 1 },
    ]);
  });

  it('are copies, and shown as JSON', async () => {
    const { value } = await loadedManualValue();
    const before = value.inspect();
    await value.get();
    expect(before.counts.reads).toBe(1);
    expect(JSON.parse(JSON.stringify(before)).counts).toMatchObject({ reads: 1, misses: 1 });
  });
});

it('the counts in a cluster count commands, snapshots published with their size, and those adopted', async () => {
  const { cluster, a, b } = coldPair();
  const reads = [a.value.get(), b.value.get()];
  await cluster.clock.flush();
  a.manual.call(0).resolve('€ 😀 '.repeat(40_000)); // longer than a slice, with pairs at its end
  await cluster.clock.advance(100);
  await Promise.all(reads);
  const sent = (steps: readonly string[]): number =>
    a.link.commands.filter(({ step }) => steps.includes(step)).length;
  const { counts } = a.value.inspect();
  expect(counts).toMatchObject({ published: 1, adopted: 0 });
  const payloads = a.link.commands.filter(({ step }) => step === 'write').map(({ args }) => String(args[0]));
  expect(counts.bytes).toBe(Buffer.byteLength(payloads.join('')));
  expect(counts.lockCommands).toBe(sent(['acquire', 'extend', 'release']));
  expect(counts.storeCommands).toBe(sent(['read', 'write']));
  expect(counts).toMatchObject({ lockCommands: 1, storeCommands: 2 }); // the claim; a look, and the snapshot, which ends the round
  expect(b.value.inspect().counts).toMatchObject({ published: 0, bytes: 0, adopted: 1, loaded: 0 });
});

it('the counts of a cache count the reads of all keys, and evicted keys', async () => {
  const clock = new FakeClock();
  const cache = new RefreshingCache({ name: 'c', load: async (key: string) => key, clock, max: 2 });
  await cache.getMany(['a', 'b']);
  await cache.getMany(['a', 'b', 'c']); // c takes the place of a
  expect(cache.current('c')).toBe('c');
  const counts = { reads: 6, misses: 3, waited: 3, loaded: 3, evicted: 1 };
  expect(cache.inspect().counts).toMatchObject(counts);
  expect(cache.inspect('c')?.counts).toEqual(cache.inspect().counts);
  expect(cache.inspect('c')?.executions).toMatchObject([{ key: 'c', outcome: 'loaded' }]);
});

it('the counts of a group are those of each member', () => {
  const group = new RefreshGroup({ clock: new FakeClock() });
  const a = group.value({ name: 'a', load: () => 1 });
  const c = group.cache({ name: 'c', load: (key: string) => key });
  expect([a.current, a.current, c.current('x')]).toEqual([1, 1, 'x']);
  expect(group.inspect().members.map(({ counts }) => counts.reads)).toEqual([2, 1]);
});
