import { describe, expect, it, vi } from 'vitest';
import {
  derive,
  keep,
  type LoadContext,
  loaded,
  RefreshingValue,
  type ValueOptions,
} from '../../../src/index.ts';
import { type VirtualCluster, virtualCluster } from '../../../src/testing/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { ManualCluster, WITHOUT_CHECKS, warmPair } from '../../support/cluster.ts';
import { isOutcome, wordOf } from '../../support/events.ts';

interface Rates {
  readonly USD: number;
}
type Load = (context: LoadContext<Rates>) => unknown;

/** What a service of the cluster has seen. */
interface Seen {
  readonly rates: RefreshingValue<Rates>;
  readonly events: string[];
  derived: number;
}

/** Four instances of rates with a period of 5 minutes, each with an index that is derived of them. */
function ratesCluster(
  load: Load,
  own: Partial<ValueOptions<Rates>> = {},
): VirtualCluster<Seen, unknown, [LoadContext<Rates>], 4> {
  return virtualCluster({
    instances: 4,
    source: load,
    service: ({ source, clock, backend, random }) => {
      const rates = new RefreshingValue<Rates>({
        name: 'rates',
        load: ((context: LoadContext<Rates>) => source(context)) as never,
        schedule: { minutes: 5 },
        propagateWithin: WITHOUT_CHECKS,
        logger: false,
        ...{ clock, backend, random, ...own },
      });
      const seen: Seen = { rates, events: [], derived: 0 };
      const index = derive([rates], (now) => {
        seen.derived += 1;
        return Object.keys(now);
      });
      rates.on('*', (event) => seen.events.push(wordOf(event)));
      return Object.assign(seen, { index });
    },
  });
}

async function readsOfAnHour(cluster: ReturnType<typeof ratesCluster>): Promise<void> {
  await cluster.run(
    { minutes: 61 },
    {
      every: { seconds: 30 },
      read: ({ rates, ...seen }) =>
        Promise.all([rates.get(), (seen as never as { index: { get(): unknown } }).index.get()]),
    },
  );
}

/** The number of events of a kind on each instance. */
function counts({ instances }: ReturnType<typeof ratesCluster>, type: string): number[] {
  return instances.map(({ service }) => service.events.filter((one) => one === type).length);
}

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);

describe('a load that finds its value unchanged', () => {
  it.each([
    ['keep()', {}, ({ previous }: LoadContext<Rates>) => (previous === undefined ? { USD: 1.08 } : keep())],
    ['the same text, without being asked for', {}, () => ({ USD: 1.08 })],
    ['an equal value', { unchanged: 'deep' }, () => ({ USD: 1.08 })],
    [
      'a function that says so',
      { unchanged: (a: Rates, b: Rates) => a.USD === b.USD },
      () => ({ USD: 1.08 }),
    ],
  ] as const)(
    '%s: others extend the age, hear that it is adopted, and derive nothing',
    async (_, own, load) => {
      const cluster = ratesCluster(load as Load, own as Partial<ValueOptions<Rates>>);
      await readsOfAnHour(cluster);
      expect(cluster.source.calls).toHaveLength(13);
      expect(counts(cluster, 'changed'), 'changed').toEqual([1, 1, 1, 1]);
      expect(
        cluster.instances.map(({ service }) => service.derived),
        'derived',
      ).toEqual([1, 1, 1, 1]);
      for (const { service } of cluster.instances) {
        const { age, state, lock } = service.rates.inspect();
        expect(age, 'age').toBeLessThanOrEqual(300_000);
        expect(state).toBe('fresh');
        expect(lock?.version, 'version').toBe(cluster.instances[0].service.rates.inspect().lock?.version);
      }
      const all = cluster.instances.map(({ service }) => service.rates.inspect().counts);
      expect(sum(all.map(({ loaded, kept }) => loaded + kept)), 'loads').toBe(13);
      expect(sum(all.map(({ kept }) => kept)), 'kept here').toBe(12);
      expect(sum(counts(cluster, 'kept')), 'kept here').toBe(12);
      expect(sum(counts(cluster, 'adopted')), 'adopted').toBe(39);
    },
  );

  it('the same text with other notes: the value stays, and the next load gets the notes', async () => {
    let edition = 0;
    const notes: unknown[] = [];
    const cluster = ratesCluster(({ previous }) => {
      notes.push(previous?.meta);
      return loaded({ USD: 1.08 }, { meta: { edition: ++edition } });
    });
    await readsOfAnHour(cluster);
    expect(notes.slice(0, 3)).toEqual([undefined, { edition: 1 }, { edition: 2 }]);
    expect(counts(cluster, 'changed')).toEqual([1, 1, 1, 1]);
  });

  it('a codec that is slow holds up a value for a second at most', async () => {
    const encoded = new Deferred<string>();
    const encode = (value: unknown) => (value === 'two' ? encoded.promise : `${value}`);
    const cluster = new ManualCluster({ codec: { encode, decode: String } });
    const [a] = await cluster.warm(1, { schedule: 5000 });
    await cluster.reloadAfter(5100, a, 1, 'two');
    expect(a.value.peek()).toBe('one');
    await cluster.clock.advance(1000);
    expect(a.value.peek()).toBe('two');
    encoded.resolve('two');
    await cluster.clock.flush();
    expect(a.events.filter(isOutcome('published'))).toHaveLength(1);
  });

  it('a codec that is slow does not take the time of the load', async () => {
    const encode = (value: unknown) => (value === 'two' ? new Promise<string>(() => {}) : `${value}`);
    const cluster = new ManualCluster({ codec: { encode, decode: String } });
    const [a] = await cluster.warm(1, { schedule: 5000, timeout: 1000 });
    await cluster.readAfter(5100, a);
    await cluster.clock.advance(100);
    await cluster.end(a, 1, 'two');
    await cluster.clock.advance(449);
    expect(a.value.peek()).toBe('one');
    await cluster.clock.advance(1); // half of what was left
    expect(a.value.peek()).toBe('two');
    expect(a.value.inspect().failures).toBe(0);
  });

  it('a value that was set here is no version: an equal load is published', async () => {
    const { cluster, a, b } = await warmPair({ schedule: 5000 });
    a.value.set('mine', { here: true });
    await cluster.clock.advance(5100);
    const changed = vi.fn();
    a.value.on('changed', changed);
    await cluster.reload(a, 1, 'one');
    expect(a.value.peek()).toBe('one');
    await cluster.readAfter(100, b);
    await cluster.clock.flush();
    expect(changed).toHaveBeenCalledTimes(1);
    expect(a.value.inspect().lock?.version).toBe(b.value.inspect().lock?.version);
  });

  it('the text of an earlier version is not that of the one in place', async () => {
    const { cluster, a, b } = await warmPair({ schedule: 5000 });
    await cluster.clock.advance(4000);
    const set = b.value.set('two'); // no digest of its text goes with it
    await cluster.clock.advance(1500);
    await set;
    await cluster.read(a);
    await cluster.clock.advance(100);
    expect(a.value.peek()).toBe('two');
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.advance(100);
    a.manual.call(1).resolve('one');
    await cluster.clock.advance(100);
    expect(await refreshed).toBe('one');
    expect(a.value.peek()).toBe('one');
  });

  it('the value of the moment is encoded once, where it has changed', async () => {
    const encode = vi.fn((value: unknown) => `${value}`);
    const cluster = new ManualCluster({ codec: { encode, decode: String } });
    const [a] = await cluster.warm(1, { schedule: 5000 });
    encode.mockClear();
    await cluster.reloadAfter(5100, a, 1, 'two');
    await cluster.clock.flush();
    expect(a.value.peek()).toBe('two');
    expect(encode.mock.calls).toEqual([['two']]);
  });

  it('a changed one is adopted by all', async () => {
    let edition = 0;
    const cluster = ratesCluster(() => ({ USD: Math.floor(edition++ / 4) }), { unchanged: 'deep' });
    await readsOfAnHour(cluster);
    expect(cluster.instances.map(({ service }) => service.rates.peek()?.USD)).toEqual([3, 3, 3, 3]);
    expect(counts(cluster, 'changed')).toEqual([4, 4, 4, 4]);
  });

  it('publishes a few hundred characters where it published the value', async () => {
    const table = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key ${i}`, i]));
    const cluster = ratesCluster(({ previous }) => (previous === undefined ? table : keep()));
    await readsOfAnHour(cluster);
    const published = sum(cluster.instances.map(({ service }) => service.rates.inspect().counts.bytes));
    const whole = JSON.stringify(table).length;
    expect(published - whole).toBeLessThan(12 * 600);
  });

  it('a started instance serves the age of the last confirmation', async () => {
    const cluster = ratesCluster(({ previous }) => (previous === undefined ? { USD: 1 } : keep()));
    await readsOfAnHour(cluster);
    const [first, , , last] = cluster.instances;
    await last.restart();
    await cluster.run(0, { read: ({ rates }) => rates.get() });
    expect(cluster.source.calls).toHaveLength(13);
    expect(last.service.rates.inspect().age).toBeLessThanOrEqual(
      (first.service.rates.inspect().age ?? 0) + 1,
    );
  });

  it('meta travels with the value, and with its confirmations', async () => {
    const seen: unknown[] = [];
    const cluster = ratesCluster(({ previous }) => {
      seen.push(previous?.meta);
      const { edition = 0 } = (previous?.meta ?? {}) as { edition?: number };
      return previous === undefined
        ? loaded({ USD: 1 }, { meta: { edition: 1 } })
        : keep({ meta: { edition: edition + 1 } });
    });
    await readsOfAnHour(cluster);
    expect(seen).toEqual([undefined, ...Array.from({ length: 12 }, (_, i) => ({ edition: i + 1 }))]);
  });

  it('a mark after it is answered by a whole value', async () => {
    const cluster = ratesCluster(({ previous }) => (previous === undefined ? { USD: 1 } : keep()), {
      propagateWithin: { seconds: 1 },
    });
    await cluster.run({ minutes: 12 }, { every: { seconds: 30 }, read: ({ rates }) => rates.get() });
    const { version } = cluster.instances[0].service.rates.inspect().lock ?? {};
    const marking = cluster.instances[1].service.rates.invalidate();
    await cluster.run({ minutes: 12 }, { every: { seconds: 1 }, read: ({ rates }) => rates.get() });
    await marking;
    const versions = cluster.instances.map(({ service }) => service.rates.inspect().lock?.version);
    expect(new Set(versions).size, 'one version').toBe(1);
    expect(versions[0], 'a later one').toBeGreaterThan(version ?? Infinity);
  });
});
