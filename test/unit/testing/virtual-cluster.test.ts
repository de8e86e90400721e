import { describe, expect, it } from 'vitest';
import { isTicklessError, RefreshingCache, RefreshingValue, type ValueOptions } from '../../../src/index.ts';
import {
  type VirtualCluster,
  type VirtualClusterOptions,
  virtualCluster,
} from '../../../src/testing/index.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

const MINUTE = 60_000;

type Rates = RefreshingValue<number>;

/** Instances with rates of a period of 5 minutes; the source counts up. */
function ratesCluster<const N extends number>(
  instances: N,
  own: Partial<ValueOptions<number>> = {},
  options: Partial<VirtualClusterOptions<Rates, number, [], N>> = {},
): VirtualCluster<Rates, number, [], N> {
  let edition = 0;
  return virtualCluster({
    instances,
    source: () => ++edition,
    service: ({ source, clock, backend, random }) =>
      new RefreshingValue<number>({
        name: 'rates',
        load: () => source(),
        schedule: { minutes: 5 },
        retry: false,
        logger: false,
        clock,
        backend,
        random,
        ...own,
      }),
    ...options,
  });
}

describe('virtualCluster', () => {
  it('gives each instance a lock and a store on one backend: a load serves all', async () => {
    const cluster = ratesCluster(3);
    const { reads, unanswered } = await cluster.run(
      { hours: 1 },
      { every: { seconds: 30 }, read: (rates) => rates.get() },
    );
    expect([reads, unanswered]).toEqual([3 * 121, 0]);
    expect([12, 13]).toContain(cluster.source.calls.length); // one a period
  });

  it('shows that a service loads in each instance', async () => {
    const cluster = ratesCluster(3, { backend: false });
    await cluster.run(0, { read: (rates) => rates.get() });
    expect(cluster.source.calls.map(({ instance }) => instance).toSorted()).toEqual([
      'instance-1',
      'instance-2',
      'instance-3',
    ]);
  });

  it('finds a service that serves what is too old in an outage, and passes one with an age limit', async () => {
    const outage = async (own: Partial<ValueOptions<number>>): Promise<unknown> => {
      const cluster = ratesCluster(2, own);
      const read = async (rates: Rates): Promise<void> => {
        const rejection = await rates.get().then(
          () => undefined,
          (error: unknown) => error,
        );
        if (isTicklessError(rejection, 'TOO_STALE')) return;
        const age = rates.inspect().age ?? 0;
        if (age > 60 * MINUTE) throw new Error(`quotes a price of ${age / MINUTE} minutes ago`);
      };
      const every = { minutes: 1 };
      await cluster.run({ minutes: 10 }, { every, read });
      cluster.source.down();
      await cluster.run({ hours: 3 }, { every, read });
      cluster.source.up();
      await cluster.run({ minutes: 10 }, { every, read });
      return cluster.instances.map(({ service }) => service.inspect().failures);
    };
    await expect(outage({})).rejects.toThrow(
      /^read of instance-[12] failed 1 h \d+ min after the start: quotes a price of 61/,
    );
    expect(await outage({ maxStaleness: { hours: 1 }, whenTooStale: 'throw' })).toEqual([0, 0]);
  });

  it('gives the same run for the same seed, and another one for another', async () => {
    const run = async (seed: number): Promise<unknown> => {
      const cluster = ratesCluster(3, {}, { seed });
      cluster.backend.slow(20);
      await cluster.run({ minutes: 20 }, { every: { seconds: 20 }, read: (rates) => rates.get() });
      cluster.source.down();
      await cluster.run({ minutes: 20 }, { every: { seconds: 20 }, read: (rates) => rates.get() });
      return [cluster.source.calls, cluster.backend.calls];
    };
    const first = await run(1);
    expect(await run(1)).toEqual(first);
    expect(await run(2)).not.toEqual(first);
  });

  it('passes arguments to the source', async () => {
    const { instances } = virtualCluster({
      instances: 1,
      source: (code: string) => `city of ${code}`,
      service: ({ source, name: _, ...others }) =>
        new RefreshingCache({
          ...others,
          name: 'cities',
          schedule: 1000,
          load: (code: string) => source(code),
        }),
    });
    expect(await instances[0].service.get('1012')).toBe('city of 1012');
  });

  it('rejects invalid options', async () => {
    for (const wrong of [{ instances: 0 }, { seed: 0.5 }, { source: 1 }, { service: 1 }, { typo: 1 }]) {
      expect(thrownBy(() => ratesCluster(1, {}, wrong as object))).toMatchObject({ code: 'OPTION' });
    }
    const cluster = ratesCluster(1);
    const read = (): void => {};
    for (const every of [0, -1, Infinity]) {
      expect(isTicklessError(await rejectionOf(cluster.run(1, { every, read })), 'OPTION')).toBe(true);
    }
    expect(isTicklessError(await rejectionOf(cluster.run(-1, { read })), 'OPTION')).toBe(true);
    expect(thrownBy(() => cluster.source.slow(-1))).toMatchObject({ code: 'OPTION' });
    expect(thrownBy(() => cluster.instances[0].stepWall(Number.NaN))).toMatchObject({ code: 'OPTION' });
  });
});

describe('the source of a virtual cluster', () => {
  it('takes its time, fails, returns what is wrong, and is right again', async () => {
    const cluster = virtualCluster({ instances: 1, source: () => 1, service: ({ source }) => source });
    const call = cluster.instances[0].service;
    cluster.source.slow({ seconds: 2 });
    const slow = call();
    await cluster.advance(1999);
    expect(await settled(slow)).toBe('pending');
    await cluster.advance(1);
    expect(await settled(slow)).toEqual({ value: 1 });
    cluster.source.down();
    await expect(call()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    cluster.source.down(new Error('503'));
    await expect(call()).rejects.toThrow('503');
    cluster.source.silent();
    const silent = call();
    cluster.source.up();
    cluster.source.wrong(-1);
    expect(await call()).toBe(-1);
    cluster.source.up();
    expect(await call()).toBe(1);
    await cluster.advance({ hours: 1 });
    expect(await settled(silent)).toBe('pending');
    expect(cluster.source.calls.map(({ at }) => at)).toEqual([0, 2000, 2000, 2000, 2000, 2000]);
  });
});

describe('the backend of a virtual cluster', () => {
  it('is unavailable within its time-outs, and loads go on without it', async () => {
    const cluster = ratesCluster(1);
    cluster.backend.silent();
    const read = cluster.instances[0].service.get();
    const byHand = virtualCluster({
      instances: 1,
      source: () => 0,
      service: ({ backend }) => lockOf(backend),
    });
    byHand.backend.silent();
    const acquired = rejectionOf(byHand.instances[0].service.acquire({ name: 'task' }));
    await byHand.advance(1000);
    expect(await acquired).toMatchObject({ code: 'BACKEND_DOWN' });
    await cluster.advance({ seconds: 5 });
    expect(await settled(read)).toEqual({ value: 1 });
  });

  it('carries out a slow command whose sender has given up', async () => {
    const cluster = virtualCluster({
      instances: 1,
      source: () => 0,
      service: ({ backend }) => storeOf(backend),
      backend: { timeout: 100 },
    });
    const [{ service: store }] = cluster.instances;
    expect(await store.read('rates')).toBeUndefined(); // tells the clock
    cluster.backend.slow(1000);
    const written = rejectionOf(store.write('rates', 'payload'));
    await cluster.advance(499);
    expect(await written).toMatchObject({ code: 'BACKEND_DOWN' });
    cluster.backend.up();
    expect(await store.read('rates')).toBeUndefined();
    await cluster.advance(1);
    expect(await store.read('rates')).toMatchObject({ payload: 'payload' });
    cluster.backend.empty();
    expect(await store.read('rates')).toBeUndefined();
  });

  it('may lose its records: an instance that starts later loads, and the others take over its result', async () => {
    const cluster = ratesCluster(2);
    const [first, second] = cluster.instances;
    expect([await first.service.get(), await second.service.get()]).toEqual([1, 1]);
    cluster.backend.empty();
    second.restart();
    expect(await second.service.get()).toBe(2);
    await cluster.advance({ minutes: 5 });
    await cluster.run({ minutes: 1 }, { read: (rates) => rates.get() });
    expect([first.service.peek(), second.service.peek()]).toEqual([3, 3]);
  });
});

describe('an instance of a virtual cluster', () => {
  it('that is killed in a load is replaced when its lease is over, and begins anew', async () => {
    const cluster = ratesCluster(2, {}, { backend: { leaseFor: { seconds: 10 } } });
    const [first, second] = cluster.instances;
    cluster.source.slow({ seconds: 2 });
    const lost = first.service.get();
    await cluster.advance({ seconds: 1 });
    first.kill();
    expect(() => first.service).toThrow('instance-1 is killed; restart() starts it again');
    const read = second.service.get();
    await cluster.advance({ seconds: 15 });
    expect(await settled(read)).toEqual({ value: 2 });
    expect(await settled(lost)).toBe('pending');
    expect(cluster.source.calls.map(({ instance }) => instance)).toEqual(['instance-1', 'instance-2']);
    first.restart();
    expect(first.service.peek()).toBeUndefined();
    const adopted = first.service.get();
    await cluster.advance({ seconds: 1 });
    expect(await settled(adopted)).toEqual({ value: 2 });
  });

  it('that is stopped gets its answers and timers when it continues', async () => {
    const cluster = virtualCluster({
      instances: 1,
      source: () => 1,
      service: ({ clock, source }) => ({ clock, source }),
    });
    const [instance] = cluster.instances;
    const { clock, source } = instance.service;
    const order: string[] = [];
    cluster.source.slow(10);
    const answered = source().then(() => order.push('answer'));
    clock.setTimeout(() => order.push('timer'), 20);
    const cancelled = clock.setTimeout(() => order.push('cancelled'), 30);
    instance.stop();
    await cluster.advance(100);
    cancelled.cancel();
    void source().then(() => order.push('second answer'));
    expect((await cluster.run(10, { every: 5, read: () => order.push('read') })).reads).toBe(0);
    expect([order, instance.isRunning, cluster.source.calls.length]).toEqual([[], false, 1]);
    instance.continue();
    await answered;
    expect([order.toSorted(), instance.isRunning]).toEqual([['answer', 'timer'], true]);
    await cluster.advance(10);
    expect(order).toContain('second answer');
  });

  it('has a wall clock of its own', () => {
    const cluster = virtualCluster({ instances: 2, source: () => 0, service: ({ clock }) => clock });
    const [first, second] = cluster.instances;
    first.stepWall({ hours: 1 });
    first.restart();
    expect(first.service.now() - second.service.now()).toBe(60 * MINUTE);
    expect(first.service.monotonic()).toBe(second.service.monotonic());
  });
});
