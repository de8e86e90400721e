import { describe, expect, it } from 'vitest';
import { coldPair, ManualCluster, warmOne, warmPair } from '../../support/cluster.ts';

describe('rule 18: commands per round', () => {
  it('two for the winner, at most two for each other, none per read', async () => {
    const cluster = new ManualCluster();
    const [a, ...others] = await cluster.warm(6);
    for (let round = 1; round <= 10; round++) {
      await cluster.clock.advance(1030);
      for (const { value } of [a, ...others]) value.current;
      await cluster.clock.flush();
      a.manual.call(round).resolve(`round ${round}`);
      await cluster.clock.advance(300);
      for (let read = 0; read < 100; read++) {
        for (const { value } of [a, ...others]) value.current;
        await cluster.clock.flush();
      }
      expect(a.link.take()).toEqual(['acquire', 'write']);
      for (const { link, value } of others) {
        expect(link.take()).toEqual(['acquire', 'acquire']); // the first found it loading
        expect(value.peek()).toBe(`round ${round}`);
      }
    }
  });

  it('one for an instance that is read when the round is done, value included', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.readAfter(1030, a);
    a.manual.call(1).resolve('two');
    await cluster.readAfter(500, b);
    expect(b.value.peek()).toBe('two');
    expect(b.link.take()).toEqual(['acquire']);
  });

  it('one while another instance loads, however often the value is read, and one for its snapshot', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.readAfter(1030, a);
    for (let read = 0; read < 20; read++) {
      expect(await b.value.get()).toBe('one');
      await cluster.clock.advance(10);
    }
    expect(b.link.take()).toEqual(['acquire']);
    a.manual.call(1).resolve('two');
    await cluster.readAfter(200, b);
    expect(b.link.take()).toEqual(['acquire']);
    expect(b.value.peek()).toBe('two');
  });

  it('one for a change of a person; what it is made of may have to be read before', async () => {
    const cluster = new ManualCluster({ keepVersions: 5 });
    const [{ value, link }] = await cluster.warm(1, { schedule: { hours: 1 } });
    await value.set('two');
    expect(link.take()).toEqual(['write']);
    await value.rollback({ by: 'ann' });
    expect(link.take()).toEqual(['read', 'read', 'write']); // the history, the version, the pin
    await value.unpin();
    expect(link.take()).toEqual(['read', 'write']);
    await value.invalidate();
    expect(link.take()).toEqual(['write']);
    await value.invalidate({ drop: true });
    expect(link.take()).toEqual(['write']);
  });

  it('a warm start is one read', async () => {
    const cluster = new ManualCluster();
    await cluster.warm(1);
    const restarted = cluster.instance();
    const reads = [restarted.value.get(), restarted.value.get()];
    await cluster.clock.flush();
    expect(await Promise.all(reads)).toEqual(['one', 'one']);
    expect(restarted.link.take()).toEqual(['read']);
  });

  it('while a load runs, an extension at each third of the lease, and none after', async () => {
    const { cluster, a } = await warmOne();
    const refreshed = a.value.refresh();
    await cluster.clock.advance(999);
    expect(a.link.take()).toEqual(['acquire']);
    await cluster.clock.advance(1);
    expect(a.link.take()).toEqual(['extend']);
    await cluster.clock.advance(6500);
    expect(a.link.take()).toEqual(Array(6).fill('extend'));
    a.manual.call(1).resolve('two');
    await refreshed;
    await cluster.clock.advance(60_000);
    expect(a.link.take()).toEqual(['write']);
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('reads of a cold value that waits cost none either', async () => {
    const { cluster, a, b } = coldPair();
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
