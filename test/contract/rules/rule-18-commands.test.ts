import { describe, expect, it } from 'vitest';
import { ManualCluster } from '../../support/cluster.ts';

describe('rule 18: commands per round', () => {
  it('three for the winner, at most two for each other, none per read', async () => {
    const cluster = new ManualCluster();
    const [a, ...others] = await cluster.warm(6);
    for (let round = 1; round <= 10; round++) {
      await cluster.clock.advance(1030);
      for (const { value } of [a!, ...others]) value.current;
      await cluster.clock.flush();
      a!.manual.call(round).resolve(`round ${round}`);
      await cluster.clock.advance(300);
      for (let read = 0; read < 100; read++) {
        for (const { value } of [a!, ...others]) value.current;
        await cluster.clock.flush();
      }
      expect(a!.link.take()).toEqual(['acquire', 'write', 'release']);
      for (const { link, value } of others) {
        expect(link.take()).toEqual(['acquire', 'read']);
        expect(value.peek()).toBe(`round ${round}`);
      }
    }
  });

  it('an instance that reads when the round is done: two as well', async () => {
    const cluster = new ManualCluster();
    const [a, b] = await cluster.warm(2);
    await cluster.clock.advance(1030);
    a!.value.current;
    await cluster.clock.flush();
    a!.manual.call(1).resolve('two');
    await cluster.clock.advance(500);
    b!.value.current;
    await cluster.clock.flush();
    expect(b!.value.peek()).toBe('two');
    expect(b!.link.take()).toEqual(['acquire', 'read']);
  });

  it('an instance that defers to another asks once, however often it is read', async () => {
    const cluster = new ManualCluster();
    const [a, b] = await cluster.warm(2);
    await cluster.clock.advance(1030);
    a!.value.current;
    await cluster.clock.flush();
    for (let read = 0; read < 20; read++) {
      b!.value.current;
      await cluster.clock.advance(10);
    }
    expect(b!.link.take()).toEqual(['acquire']);
  });

  it('a warm start is one read', async () => {
    const cluster = new ManualCluster();
    await cluster.warm(1);
    const restarted = cluster.instance();
    expect(await restarted.value.get()).toBe('one');
    expect(restarted.link.take()).toEqual(['read']);
  });

  it('while a load runs, an extension at each third of the lease, and none after', async () => {
    const cluster = new ManualCluster();
    const [a] = await cluster.warm(1);
    const refreshed = a!.value.refresh();
    await cluster.clock.advance(999);
    expect(a!.link.take()).toEqual(['acquire']);
    await cluster.clock.advance(1);
    expect(a!.link.take()).toEqual(['extend']);
    await cluster.clock.advance(6500);
    expect(a!.link.take()).toEqual(Array(6).fill('extend'));
    a!.manual.call(1).resolve('two');
    await refreshed;
    await cluster.clock.advance(60_000);
    expect(a!.link.take()).toEqual(['write', 'release']);
  });

  it('reads of a cold value that waits cost none either', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [cluster.instance(), cluster.instance()];
    void a.value.get();
    await cluster.clock.flush();
    const reads = Array.from({ length: 100 }, () => b.value.get());
    await cluster.clock.flush();
    expect(b.link.take()).toEqual(['read', 'acquire']);
    a.manual.call(0).resolve('one');
    await cluster.clock.advance(100);
    expect(new Set(await Promise.all(reads))).toEqual(new Set(['one']));
  });
});
