import { describe, expect, it } from 'vitest';
import type { RefreshingValue } from '../../../src/index.ts';
import type { Edit } from '../../../src/records/records.ts';
import { Link, ManualCluster } from '../../support/cluster.ts';
import { onRound } from '../../support/events.ts';
import { keyedInstance, keyedPair, loadKey } from '../../support/keyed-cluster.ts';
import { recordsWith } from '../../support/parts.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

const A_DAY = { schedule: { hours: 24 } } as const;

/** Two instances, of which the first loads again, and the second has seen it and stands by. */
async function standingBy(own: Parameters<ManualCluster['warm']>[1] = {}) {
  const cluster = new ManualCluster({}, 30_000);
  const [a, b] = await cluster.warm(2, own);
  await cluster.readAfter(1030, a);
  await cluster.read(b);
  expect(b.link.take()).toEqual(['acquire']);
  return { cluster, a: a, b: b! };
}

describe('who stands by for the load of another instance', () => {
  it('waits for it with a request that wants to', async () => {
    const { cluster, a, b } = await standingBy();
    const request = b.value.requestStart({ wait: true });
    await cluster.clock.advance(2000);
    expect(await settled(request)).toBe('pending');
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(1000);
    await request;
    expect(b.value.peek()).toBe('two');
  });

  it('lets readers wait for it once the value is too old to be served', async () => {
    const { cluster, a, b } = await standingBy({ maxStaleness: 3000 });
    await cluster.clock.advance(2500);
    const read = b.value.get();
    await cluster.clock.advance(1500);
    expect(await settled(read)).toBe('pending');
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(1000);
    expect(await read).toBe('two');
  });

  it('starts nothing for a reader who is refused, whatever patience he has', async () => {
    const { cluster, b } = await standingBy({ maxStaleness: 1130, whenTooStale: 'throw' });
    await cluster.clock.advance(1);
    expect(await rejectionOf(b.value.get({ patience: 10_000 }))).toMatchObject({ code: 'TOO_STALE' });
    await cluster.clock.flush();
    expect(b.link.take()).toEqual([]);
  });

  it('does so no more after an invalidation, also while loads fail', async () => {
    const { cluster, b } = await standingBy();
    b.value.invalidate({ here: true });
    await cluster.read(b);
    expect(b.link.take()).toEqual(['acquire']);
  });

  it('an invalidation on all of them is one load', async () => {
    const cluster = new ManualCluster();
    const all = await cluster.warm(4, { schedule: { hours: 1 } });
    for (const { value } of all) value.invalidate({ here: true });
    for (let read = 0; read < 20; read++) {
      for (const { value } of all) value.current;
      await cluster.clock.advance(100);
      for (const { manual } of all) for (const call of manual.calls) call.resolve('anew');
      await cluster.clock.flush();
    }
    expect(all.map(({ value }) => value.peek())).toEqual(['anew', 'anew', 'anew', 'anew']);
    expect(all.reduce((sum, { manual }) => sum + manual.calls.length, 0)).toBe(2); // the first of all included
  });

  it('answers its readers with the snapshot that came with a lease, and gives the lease back behind them', async () => {
    const { cluster, a, b } = await standingBy({ maxStaleness: 2000 });
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(1500); // the value of the second is too old by then, and the snapshot is not
    b.link.hold('release');
    const read = b.value.get();
    await cluster.clock.flush();
    expect(await settled(read)).toEqual({ value: 'two' });
    expect(b.link.take().at(-1)).toBe('release');
    expect(b.manual.calls).toHaveLength(0);
  });

  it('takes no older snapshot over after an invalidation, which was loaded before that', async () => {
    const cluster = new ManualCluster({}, 30_000);
    const [a, b] = await cluster.warm(2, A_DAY);
    void a.value.refresh({ here: true });
    await cluster.clock.flush();
    await cluster.end(a, 1, 'two');
    b.value.invalidate({ here: true });
    await cluster.clock.advance(10);
    void a.value.refresh({ here: true });
    await cluster.clock.flush();
    await cluster.readFor([b], 5000, 100);
    expect(b.value.peek()).toBe('one');
    await cluster.end(a, 2, 'three');
    b.link.take();
    await cluster.readFor([b], 1000, 100);
    expect(b.value.peek()).toBe('three');
    expect(b.link.take()).toEqual(['acquire']);
    expect(b.manual.calls).toHaveLength(0);
  });

  it('a snapshot that has become too old meanwhile is not what a reader gets who waits for a fresh one', async () => {
    const { cluster, a, b } = await standingBy({ maxStaleness: { minutes: 10 } });
    a.manual.call(1).resolve('two');
    await cluster.clock.advance({ hours: 1 });
    expect(await cluster.load(b, 'three')).toBe('three');
  });

  it('another schedule passes over the rest of the round', async () => {
    const cluster = new ManualCluster();
    const [, b] = await cluster.warm(2, { schedule: { hours: 24 } });
    b.value.reschedule({ minutes: 1 });
    await cluster.readAfter({ minutes: 1 }, b);
    expect(b.manual.calls).toHaveLength(1);
  });

  it('the same of a key, where one load is for all instances that have the other schedule', async () => {
    const { cluster, a, b } = keyedPair(A_DAY);
    await loadKey(cluster, a, 'k', 'one');
    await b.cache.get('k');
    for (const { cache } of [a, b]) cache.reschedule({ minutes: 1 });
    await cluster.clock.advance({ minutes: 1 });
    await loadKey(cluster, a, 'k', 'two');
    await b.cache.get('k');
    await cluster.clock.flush();
    expect([a.calls.length, b.calls.length, b.cache.peek('k')]).toEqual([2, 0, 'two']);
    await cluster.clock.advance({ minutes: 2 });
    await loadKey(cluster, b, 'k', 'three');
    expect(b.calls.length).toBe(1);
  });

  it('the same of a round that has ended at the very instant of the other schedule', async () => {
    const cluster = new ManualCluster();
    const b = keyedInstance(cluster, A_DAY);
    await loadKey(cluster, b, 'k', 'one');
    b.cache.reschedule({ minutes: 1 });
    await cluster.clock.advance({ minutes: 1 });
    await loadKey(cluster, b, 'k', 'two');
    expect(b.cache.peek('k')).toBe('two');
  });
});

describe('who comes at the very moment at which it was decided to stand by', () => {
  /** An instance that finds the lock held, and does that so many turns of the queue of jobs later. */
  async function atThatMoment<R>(
    turns: number,
    act: (value: RefreshingValue<string>) => Promise<R>,
    fails = false,
  ) {
    const cluster = new ManualCluster({}, 30_000);
    const [a, b] = await cluster.warm(2);
    await cluster.readAfter(1030, a);
    const acted: Promise<R>[] = [];
    onRound(b.value, 'held', () => {
      let job = Promise.resolve();
      for (let turn = 0; turn < turns; turn++) job = job.then(() => {});
      if (acted.length === 0) acted.push(job.then(() => act(b.value)));
    });
    await cluster.read(b);
    if (fails) a.manual.call(1).reject(new Error('down'));
    else a.manual.call(1).resolve('two');
    await cluster.clock.advance(5000);
    expect(b.manual.calls).toHaveLength(fails ? 1 : 0);
    return { acted: acted[0] as Promise<R>, manual: b.manual };
  }

  for (let turns = 0; turns < 8; turns++) {
    it(`gets what the other instance loads, ${turns} jobs later`, async () => {
      const patient = await atThatMoment(turns, (value) => value.get({ patience: 10_000 }));
      const forced = await atThatMoment(turns, (value) => value.refresh({ here: true }));
      expect([await patient.acted, await forced.acted]).toEqual(['two', 'two']);
    });

    it(`loads itself when the other has failed, and says why, ${turns} jobs later`, async () => {
      for (const act of [
        (value: RefreshingValue<string>) => value.get({ patience: 10_000 }),
        (value: RefreshingValue<string>) => value.refresh({ here: true }),
      ]) {
        const { acted, manual } = await atThatMoment(turns, act, true);
        expect(['due', 'forced']).toContain(manual.call(0).context.trigger);
        manual.call(0).resolve('three');
        expect(await acted).toBe('three');
      }
    });

    it(`is answered also when it is closed at once, ${turns} jobs later`, async () => {
      const refreshAndClose = (value: RefreshingValue<string>): Promise<string> => {
        const refreshed = value.refresh({ here: true });
        void value.close();
        return refreshed;
      };
      const { acted } = await atThatMoment(turns, refreshAndClose);
      expect(['one', 'two']).toContain(await acted);
    });
  }
});

describe('a publish that is refused', () => {
  it('by a version that was known already makes no storm of loads', async () => {
    const cluster = new ManualCluster();
    await cluster.store.write('v', 'from a clock that is ahead', (cluster.clock.now() + 3_600_000) * 1000);
    const a = cluster.instance({ schedule: { minutes: 10 } });
    const first = a.value.get();
    for (let ms = 0; ms < 50; ms++) {
      await cluster.clock.advance(100);
      for (const call of a.manual.calls) call.resolve('loaded');
      await cluster.clock.flush();
      if (a.value.peek() !== undefined) a.value.current;
    }
    expect(await first).toBe('loaded');
    expect(a.manual.calls.length).toBeLessThanOrEqual(3);
  });
});

describe('what takes its time', () => {
  it('an adopter is as old, and due as the winner, though the codec was slow', async () => {
    const clockOf: { current?: ManualCluster['clock'] } = {};
    const codec = {
      format: 'slow',
      encode: (value: unknown) =>
        new Promise<string>((resolve) => clockOf.current?.setTimeout(() => resolve(String(value)), 800)),
      decode: (text: string | Uint8Array) => text,
    };
    const cluster = new ManualCluster({ codec });
    clockOf.current = cluster.clock;
    const [a, b] = [
      cluster.instance({ schedule: { minutes: 1 } }),
      cluster.instance({ schedule: { minutes: 1 } }),
    ];
    await cluster.load(a, 'one');
    await cluster.clock.advance(1000);
    expect(await b.value.get()).toBe('one');
    const [ofA, ofB] = [a.value.inspect(), b.value.inspect()];
    expect(ofB.age).toBe(ofA.age);
    expect(Math.abs(ofB.nextExecuteTime - ofA.nextExecuteTime)).toBeLessThanOrEqual(25);
  });

  it('a codec that never answers holds up one round, not all', async () => {
    const codec = {
      format: 'hung',
      encode: () => new Promise<string>(() => {}),
      decode: (text: string | Uint8Array) => text,
    };
    const cluster = new ManualCluster({ codec });
    const a = cluster.instance();
    await cluster.load(a, 'one');
    await cluster.clock.advance(2500);
    expect(a.link.take()).not.toContain('extend'); // the load has ended
    for (let second = 0; second < 30; second++) {
      await cluster.clock.advance(1000);
      a.value.current;
    }
    expect(a.manual.calls.length).toBeGreaterThan(1);
    expect((await cluster.lock.inspect('v'))?.state).toBe('running'); // the second round; the first has ended
  });
});

describe('whose own round is done for longer than its value is fresh', () => {
  it('answers who waits with what is held, which is as new as it gets', async () => {
    const cluster = new ManualCluster();
    const { records } = cluster;
    const longer = (edit: Edit): Edit =>
      edit.op === 'amend' && edit.phase === 'held' ? { ...edit, forMs: edit.forMs + 5000 } : edit;
    const held = recordsWith(records, { apply: (edits) => records.apply(edits.map(longer)) });
    const link = new Link(held, cluster.options);
    const { value, manual } = cluster.instance(link.backend);
    await cluster.load({ value, manual }, 'one');
    await cluster.clock.advance(1100);
    const read = value.get({ patience: 10_000 });
    await cluster.clock.flush();
    expect(await settled(read)).toEqual({ value: 'one' });
    expect([link.requestIds().length, manual.calls.length]).toEqual([2, 1]);
  });
});
