import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { coldOne, LEASE_MS, ManualCluster, warmPair } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('rule 11: at most one completed execution per round', () => {
  it('six instances over twenty rounds load once per round, and all have what was loaded', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    let loads = 0;
    const load = (): Promise<string> =>
      new Promise((resolve) => clock.setTimeout(() => resolve(`${++loads}`), 100));
    const instances = Array.from({ length: 6 }, () => cluster.instance({ load }));
    const first = Promise.all(instances.map(({ value }) => value.get()));
    await clock.advance(200);
    expect(await first).toEqual(Array(6).fill('1'));
    const read = async (steps: number): Promise<void> => {
      for (let step = 0; step < steps; step++) {
        for (const { value } of instances) value.current;
        await clock.advance(50);
      }
    };
    for (let round = 2; round <= 20; round++) {
      for (let step = 0; step < 30 && loads < round; step++) await read(1);
      await read(10);
      expect(loads).toBe(round);
      expect(instances.map(({ value }) => value.peek())).toEqual(Array(6).fill(`${round}`));
    }
  });

  it('a load whose lease could not be extended is aborted, and its result is not published', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.clock.advance(1025);
    a.link.break('refused', 'extend');
    const failed = rejectionOf(a.value.refresh());
    await cluster.clock.flush();
    const { signal } = a.manual.call(1).context;
    await cluster.clock.advance(LEASE_MS - 1);
    expect(signal.aborted).toBe(false);
    await cluster.clock.advance(1);
    expect(isTicklessError(signal.reason, 'LEASE_LOST')).toBe(true);
    expect(await failed).toBe(signal.reason);
    expect(wordsOf(a.events)).toEqual(['acquired', 'load-started', 'lost', 'failed']);

    expect(await cluster.refresh(b, 0, 'of b')).toBe('of b');
    a.link.take();
    await cluster.end(a, 1, 'late');
    expect(a.link.take()).toEqual([]);
    expect(wordsOf(a.events).at(-1)).toBe('late');
    expect((await cluster.store.read('v'))?.payload).toContain('of b');
    expect(a.value.peek()).toBe('one');
  });

  it('one that an operator has ended is noticed at the next extension', async () => {
    const { cluster, value, manual, link } = coldOne();
    const failed = rejectionOf(value.get());
    await cluster.clock.flush();
    const { signal, token } = manual.call(0).context;
    expect(await cluster.lock.forceRelease('v', token as number)).toBe(true);
    await cluster.clock.advance(LEASE_MS / 3);
    expect(await failed).toMatchObject({
      code: 'LEASE_LOST',
      message: expect.stringContaining('operator'),
    });
    expect(signal.aborted).toBe(true);
    await cluster.end({ manual }, 0, 'late');
    expect(link.take()).not.toContain('write');
    expect(await cluster.store.read('v')).toBeUndefined();
  });

  it('an extension that is never answered does not keep the load from knowing', async () => {
    const { cluster, value, manual, link } = coldOne();
    link.break('no-answer', 'extend');
    const failed = rejectionOf(value.get());
    await cluster.clock.advance(LEASE_MS);
    expect(manual.call(0).context.signal.aborted).toBe(true);
    expect(await failed).toMatchObject({ message: expect.stringContaining('could not be reached') });
  });

  it('a load that ends after its lease, before any timer could tell, has failed and is not published', async () => {
    const { cluster, value, manual, clock, events } = coldOne();
    const failed = rejectionOf(value.get());
    await cluster.clock.flush();
    clock.stop();
    await cluster.clock.advance(LEASE_MS);
    manual.call(0).resolve('late');
    expect(isTicklessError(await failed, 'LEASE_LOST')).toBe(true);
    clock.continue();
    await cluster.clock.flush();
    expect(value.peek()).toBeUndefined();
    expect(await cluster.store.read('v')).toBeUndefined();
    expect(wordsOf(events)).not.toContain('published');
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('a lease that expires while the value is being encoded is not published under', async () => {
    let encoded = (_: string): void => {};
    const encode = (): Promise<string> =>
      new Promise((resolve) => {
        encoded = resolve;
      });
    const cluster = new ManualCluster({ codec: { encode, decode: String } });
    const { value, manual, clock, link, events } = cluster.instance();
    expect(await cluster.load({ value, manual }, 'one')).toBe('one');
    clock.stop();
    await cluster.clock.advance(LEASE_MS);
    encoded('one');
    await cluster.clock.flush();
    expect(link.take()).not.toContain('write');
    expect(wordsOf(events)).toContain('lost');
  });

  it('where the lease expires between settling and publishing, that is emitted, and nothing is published', async () => {
    const { cluster, value, manual, clock, link, events } = coldOne();
    const jump = jumpOf(clock);
    // A schedule that takes longer than the lease, as seen by this machine's clock.
    value.reschedule(({ endedAt }) => {
      jump.by = LEASE_MS;
      return endedAt + 1000;
    });
    expect(await cluster.load({ value, manual }, 'one')).toBe('one');
    expect(wordsOf(events)).toContain('lost');
    expect(wordsOf(events)).not.toContain('published');
    expect(link.take()).not.toContain('write');
  });
});

/** Lets the monotonic clock of a machine jump, as synchronous code does that takes its time. */
function jumpOf(clock: { monotonic(): number }): { by: number } {
  const jump = { by: 0 };
  const monotonic = clock.monotonic.bind(clock);
  clock.monotonic = () => monotonic() + jump.by;
  return jump;
}
