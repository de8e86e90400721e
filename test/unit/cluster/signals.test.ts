import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingCache, RefreshingValue, type ValueOptions } from '../../../src/index.ts';
import { createSignals } from '../../../src/signals/create-signals.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { type Instance, ManualCluster, type PartedOptions } from '../../support/cluster.ts';
import { partsOn, storeOf } from '../../support/parts.ts';
import { thrownBy } from '../../support/settle.ts';

const WITHIN = 60_000;
/** The next load is far away, so that only checks tell of changes. */
const own = { schedule: { hours: 10 }, propagateWithin: WITHIN } as const;

/** Delivers texts to all that listen, as a test wants it. */
class Bus {
  readonly sent: string[] = [];
  readonly listeners: Map<(text: string) => void, (cause?: unknown) => void> = new Map();
  listens = 0;
  deliver = (text: string): void => {
    for (const listener of this.listeners.keys()) listener(text);
  };
  /** Called by each step first. */
  fault: (step: 'send' | 'listen') => unknown = () => undefined;

  connect = (): ReturnType<typeof createSignals> =>
    createSignals({
      send: async (text) => {
        await this.fault('send');
        this.sent.push(text);
        this.deliver(text);
      },
      listen: async (onMessage, onEnd) => {
        this.listens += 1;
        await this.fault('listen');
        this.listeners.set(onMessage, onEnd);
        return () => void this.listeners.delete(onMessage);
      },
    });
}

function clusterWith(bus: Bus, ...args: ConstructorParameters<typeof ManualCluster>): ManualCluster {
  const cluster = new ManualCluster(...args);
  cluster.signals = bus.connect;
  return cluster;
}

/** Warm instances that have checked their store just now: the next check is far away, unless a signal comes. */
async function quiet(
  cluster: ManualCluster,
  count: number,
  more: PartedOptions<ValueOptions<string>> = {},
): Promise<Instance[]> {
  let drawn = 0;
  const random = (): number => (drawn++ * 0.618) % 1; // spread evenly, the same in each run
  const instances: Instance[] = await cluster.warm(count as 3, { ...own, random, ...more });
  await cluster.clock.advance((more.propagateWithin as number | undefined) ?? WITHIN);
  await readFor(cluster, instances, 1);
  for (const { link } of instances) link.take();
  return instances;
}

/** Reads all of them each millisecond. */
function readFor(cluster: ManualCluster, instances: readonly Instance[], ms: number): Promise<void> {
  return cluster.readFor(instances, ms, 1);
}

const checksOf = ({ link }: Instance): number =>
  link.commands.splice(0).filter(({ step, name }) => step === 'check' && name === 'v').length;
const signal = (from: string, instances?: number): string =>
  JSON.stringify({ tickless: 'signal/1', from, instances });

describe('a signal', () => {
  it('has other instances check at their next read, within 5 ms for each of them beyond ten, and not its sender', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    for (let i = 0; i < 100; i++) {
      await cluster.store.versions(['v'], { instance: `i${i}`, text: '[]', keepFor: 10 * WITHIN });
    }
    const instances = await quiet(cluster, 11);
    const [a, ...others] = instances as [Instance, ...Instance[]];
    const { length } = await cluster.store.reports();
    await a.value.set('two');
    await cluster.clock.flush();
    expect(bus.sent.map((text) => JSON.parse(text).instances)).toEqual([length]);
    await cluster.clock.advance(1);
    const told = (): number => others.filter(({ value }) => value.peek() === 'two').length;
    const spreadMs = 5 * (length - 10);
    await readFor(cluster, instances, spreadMs / 2);
    expect(told()).toBeGreaterThan(0);
    expect(told()).toBeLessThan(10);
    await readFor(cluster, instances, spreadMs / 2 + 10);
    expect(told()).toBe(10);
    expect(others.map(({ link }) => link.take())).toEqual(others.map(() => ['check', 'read']));
    expect(checksOf(a)).toBe(0);
  });

  it('does nothing in an instance that is not read', async () => {
    const cluster = clusterWith(new Bus());
    const [a, b] = (await quiet(cluster, 2)) as [Instance, Instance];
    await a.value.set('two');
    await cluster.clock.advance(WITHIN / 2);
    expect(b.link.take()).toEqual([]);
    await readFor(cluster, [b], 2);
    expect([b.value.peek(), b.link.take()]).toEqual(['two', ['check', 'read']]);
  });

  it('is sent behind each change that a caller makes, and behind no other', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus, { keepVersions: 3 });
    const accept = (candidate: string): boolean => candidate !== 'bad';
    const [a] = (await quiet(cluster, 1, { accept, logger: false })) as [Instance];
    const { value } = a;
    const signals = async (action: () => unknown): Promise<number> => {
      bus.sent.length = 0;
      await action();
      await cluster.clock.advance(1);
      return bus.sent.length;
    };
    const force = async (): Promise<void> => {
      const forced = value.refresh({ force: value.inspect().refused?.digest });
      await cluster.clock.flush();
      await cluster.end(a, 3, 'bad');
      await forced;
    };
    expect([
      await signals(() => value.set('two')),
      await signals(() => cluster.refresh(a, 1, 'three')),
      await signals(() => value.rollback({ by: 'ann' })),
      await signals(() => value.unpin()),
      await signals(() => value.invalidate()),
      await signals(() => cluster.reload(a, 2, 'bad')),
      await signals(force),
    ]).toEqual([1, 1, 1, 1, 1, 0, 1]);
    const due = async (): Promise<void> => {
      await cluster.reloadAfter({ hours: 11 }, a, 4, 'four');
    };
    expect([
      await signals(() => value.set('here', { here: true })),
      await signals(() => value.invalidate({ here: true })),
      await signals(due),
    ]).toEqual([0, 0, 0]);
    expect(a.link.take()).toContain('write');
    const { lock, store } = a.link;
    const cache = new RefreshingCache({
      ...{ name: 'c', backend: { lock, store }, clock: cluster.clock, propagateWithin: WITHIN },
      load: (key: string) => key,
    });
    expect([
      await signals(() => cache.refresh('k', { here: true })),
      await signals(() => cache.set('k', 'two')),
      await signals(() => cache.clear()),
    ]).toEqual([0, 1, 1]);
  });

  it('that is foreign, damaged, huge or our own leads to no check, one that comes ten times to one', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    const [a, b] = (await quiet(cluster, 2)) as [Instance, Instance];
    const odd = ['', 'null', '[]', '{"tickless":"signal/2","from":"x"}', '{"tickless":"signal/1"}', '{'];
    for (const text of [...odd, signal('x'.repeat(1e6), 1)]) bus.deliver(text);
    bus.deliver(undefined as never);
    await readFor(cluster, [b], 100);
    expect(checksOf(b)).toBe(0);
    await a.value.set('two');
    for (let i = 0; i < 9; i++) bus.deliver(bus.sent[0] as string);
    await readFor(cluster, [a, b], 100);
    expect([checksOf(b), checksOf(a)]).toEqual([1, 0]);
  });

  it.each([undefined, -1, 0, Number.NaN, '7', 1e300])(
    'with %s instances leads to a check when one would come anyway, at the latest',
    async (instances) => {
      const bus = new Bus();
      const cluster = clusterWith(bus);
      const [b] = (await quiet(cluster, 1)) as [Instance];
      bus.deliver(signal('x', instances as number));
      await cluster.clock.advance(WITHIN);
      await readFor(cluster, [b], 1);
      expect(checksOf(b)).toBe(1);
    },
  );

  it('in a storm leads to one check in 20 ms at most, and leaves the next due check in its place', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    const [b] = (await quiet(cluster, 1)) as [Instance];
    for (let at = 0; at < 1000; at++) {
      bus.deliver(signal('x', 1));
      bus.deliver(signal('y', 3));
      await readFor(cluster, [b], 1);
    }
    const checks = checksOf(b);
    expect(checks).toBeGreaterThan(30);
    expect(checks).toBeLessThan(52);
    await cluster.clock.advance(0.79 * WITHIN - 1000);
    bus.deliver(signal('x', 1));
    await readFor(cluster, [b], 30);
    checksOf(b);
    await cluster.clock.advance(0.21 * WITHIN);
    await readFor(cluster, [b], 1);
    expect(checksOf(b)).toBe(1);
  });

  it('that comes while a check is under way leads to one more after it', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    const [b] = (await quiet(cluster, 1)) as [Instance];
    const answer = b.link.holdOnce('check');
    bus.deliver(signal('x', 1));
    await readFor(cluster, [b], 50);
    for (let i = 0; i < 3; i++) bus.deliver(signal(`y${i}`, 1));
    await readFor(cluster, [b], 50);
    expect(checksOf(b)).toBe(1);
    answer.resolve();
    await readFor(cluster, [b], 50);
    expect(checksOf(b)).toBe(1);
    await readFor(cluster, [b], 100);
    expect(checksOf(b)).toBe(0);
  });

  it('is one for many changes at once, and one more for those since it was sent', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    const { lock, store } = cluster.link();
    const values = Array.from({ length: 50 }, (_, i) => {
      const options = { name: `v${i}`, backend: { lock, store }, clock: cluster.clock, load: () => 1 };
      return new RefreshingValue(options);
    });
    await Promise.all(values.map((value) => value.set(2)));
    await cluster.clock.flush();
    expect(bus.sent.length).toBeGreaterThan(0);
    expect(bus.sent.length).toBeLessThan(10);
    bus.sent.length = 0;
    const send = new Deferred<void>();
    bus.fault = () => send.promise;
    for (const value of values.slice(0, 3)) await value.set(3);
    send.resolve();
    await cluster.clock.flush();
    expect(bus.sent.length).toBe(2);
  });

  it.each([1, 2, 3, 4, 5])(
    'may be lost, doubled or late: the bound holds, and no value goes back (%i)',
    async (seed) => {
      const within = 400;
      const bus = new Bus();
      const cluster = clusterWith(bus);
      const instances: Instance[] = await cluster.warm(3, { ...own, propagateWithin: within });
      const [a, ...others] = instances as [Instance, ...Instance[]];
      const { deliver } = bus;
      const delays = [[], [0], [0, 0], [30, 600], [200], [7, 7, 7]];
      let sends = seed;
      bus.deliver = (text) => {
        for (const ms of delays[sends++ % delays.length] ?? [])
          cluster.clock.setTimeout(() => deliver(text), ms);
      };
      const seen = others.map(() => [] as number[]);
      for (let version = 1; version <= 12; version++) {
        await a.value.set(String(version));
        const changedAt = cluster.clock.monotonic();
        for (let at = 0; at < 60 * version; at += 5) {
          await readFor(cluster, others, 1);
          await cluster.clock.advance(4);
          for (const [i, { value }] of others.entries()) {
            seen[i]?.push(Number(value.peek()) || 0);
            const isDue = cluster.clock.monotonic() - changedAt > within + 5;
            if (isDue) expect(value.peek()).toBe(String(version));
          }
        }
      }
      for (const versions of seen) expect(versions).toEqual(versions.toSorted((x, y) => x - y));
    },
  );
});

describe('a way of signals that fails', () => {
  it.each([
    ['throws', () => Promise.reject(new Error('ECONNREFUSED')), 'ECONNREFUSED'],
    ['never answers', () => new Promise(() => {}), 'no answer within 1 s'],
  ])('by sending, where it %s, delays no caller, and is one log line', async (_, fault, cause) => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    const [a] = (await quiet(cluster, 1)) as [Instance];
    bus.fault = fault;
    for (let i = 0; i < 3; i++) {
      await a.value.set(`${i}`);
      await cluster.clock.advance(2000);
    }
    expect(a.logger.lines).toEqual([
      `warn tickless: signals: unavailable, checks of the store find changes: ${cause}`,
    ]);
    bus.fault = () => undefined;
    await a.value.set('last');
    await cluster.clock.flush();
    expect(a.logger.lines[1]).toMatch(/^warn tickless: signals: available again after \d+ s and 3 failures$/);
  });

  it('by listening, is tried again with later checks, also where it has ended by itself', async () => {
    const bus = new Bus();
    bus.fault = () => Promise.reject(new Error('ECONNREFUSED'));
    const cluster = clusterWith(bus);
    const within = WITHIN / 3;
    const [a, b] = (await quiet(cluster, 2, { propagateWithin: within })) as [Instance, Instance];
    expect([bus.listens > 2, bus.listeners.size]).toEqual([true, 0]);
    expect(b.logger.lines.length).toBe(1);
    bus.fault = () => undefined;
    await cluster.clock.advance(within);
    await readFor(cluster, [a, b], 1);
    expect([bus.listeners.size, b.logger.lines.length]).toEqual([2, 2]);
    const before = bus.listens;
    for (const [listener, end] of bus.listeners) {
      bus.listeners.delete(listener);
      end();
    }
    await cluster.clock.advance(5000);
    expect(bus.listens).toBe(before); // nothing runs without a read
    await readFor(cluster, [a, b], 1);
    expect([bus.listens, bus.listeners.size]).toEqual([before + 2, 2]);
  });

  it('by listening, for long, leads to few checks', async () => {
    const bus = new Bus();
    bus.fault = () => Promise.reject(new Error('denied'));
    const cluster = clusterWith(bus);
    const [b] = (await quiet(cluster, 1)) as [Instance];
    for (let at = 0; at < 10 * WITHIN; at += 100) {
      b.value.current;
      await cluster.clock.advance(100);
    }
    const checks = checksOf(b);
    expect(checks).toBeGreaterThan(9);
    expect(checks).toBeLessThan(20);
  });

  it('by counting the instances, which the store does not answer, still sends', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    const link = cluster.link();
    const { backend } = link;
    link.break('refused', 'check');
    const value = new RefreshingValue({ name: 'v', load: () => 1, backend, clock: cluster.clock });
    await value.set(2);
    await cluster.clock.flush();
    expect(bus.sent.map((text) => JSON.parse(text).instances)).toEqual([undefined]);
    expect(value.inspect().lock?.storeError).toBe(undefined);
  });
});

describe('listening', () => {
  it('is one for all stores and members that use the signals, from the first to the last', async () => {
    const bus = new Bus();
    const cluster = new ManualCluster();
    const signals = bus.connect();
    const values = ['v', 'w', 'x'].map((name) => {
      const backend = partsOn(cluster.records, { signals });
      const { clock } = cluster;
      return new RefreshingValue({
        name,
        backend,
        clock,
        load: () => 1,
        logger: false,
        propagateWithin: WITHIN,
      });
    });
    await cluster.clock.flush();
    expect([bus.listens, bus.listeners.size]).toEqual([1, 1]);
    await values[0]?.close();
    expect(bus.listeners.size).toBe(1);
    await values[1]?.close();
    expect(bus.listeners.size).toBe(1);
    await values[2]?.close();
    expect([bus.listens, bus.listeners.size]).toEqual([1, 0]);
  });

  it('that is ended while it begins ends then, before another one begins', async () => {
    const bus = new Bus();
    const cluster = clusterWith(bus);
    const { backend } = cluster.link();
    const gates = [new Deferred<void>(), new Deferred<void>()];
    bus.fault = () => gates[bus.listens - 1]?.promise;
    const open = (): RefreshingValue<number> =>
      new RefreshingValue({ name: 'v', backend, clock: cluster.clock, load: () => 1, ...own });
    const first = open();
    await cluster.clock.flush();
    await first.close();
    const second = open();
    await cluster.clock.flush();
    const counts = [[bus.listens, bus.listeners.size]];
    for (const gate of gates) {
      gate.resolve();
      await cluster.clock.flush();
      counts.push([bus.listens, bus.listeners.size]);
    }
    await second.close();
    expect([...counts, bus.listeners.size]).toEqual([[1, 0], [2, 0], [2, 1], 0]);
  });
});

describe('the options of signals', () => {
  const refused = (action: () => unknown): string => String(thrownBy(action));
  const METHODS = 'signals must have the methods';

  it('must be signals, not a client or a bus', () => {
    const signals = { send: () => {}, listen: () => {} } as never;
    expect(refused(() => storeOf(memoryBackend({ signals })))).toContain(`${METHODS} portOf`);
    expect(refused(() => createSignals({ send: () => {} } as never))).toContain('send, listen');
  });

  it('of Redis are two clients of one server', () => {
    const client = { publish() {}, subscribe() {}, unsubscribe() {}, on() {}, off() {} } as never;
    expect(refused(() => redisBackend({ client, signals: client }))).toContain('another client');
    expect(refused(() => redisBackend({ client, signals: {} as never }))).toContain(METHODS);
  });

  it('of PostgreSQL are a client, or a function that connects one, not a pool', () => {
    const client = { query() {}, on() {}, removeListener() {} } as never;
    const pool = { query() {}, on() {}, removeListener() {}, totalCount: 0 } as never;
    expect(refused(() => postgresBackend({ client, signals: pool }))).toContain(
      'must be a Client, not a Pool',
    );
    expect(refused(() => postgresBackend({ client, signals: {} as never }))).toContain(METHODS);
    postgresBackend({ client, signals: client, table: `${'s'.repeat(63)}.${'t'.repeat(63)}` });
  });
});
