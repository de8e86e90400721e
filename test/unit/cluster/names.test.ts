import { describe, expect, it } from 'vitest';
import { isTicklessError, RefreshingCache, RefreshingValue, type TicklessError } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { isOutcome, recordEvents } from '../../support/events.ts';
import { ofOption } from '../../support/option-errors.ts';
import { partsOn, recordsWith } from '../../support/parts.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

/** Backends of different namespaces over the same records. */
function sharedBackend() {
  const clock = new FakeClock();
  const inner = memoryRecords(clock);
  const names = new Set<string>();
  const records = recordsWith(inner, {
    sharesCommands: false,
    apply(edits) {
      for (const { op, name } of edits)
        if (op === 'claim' || op === 'put') names.add(name.slice(name.indexOf('/') + 1));
      return inner.apply(edits);
    },
  });
  const kind = { longestName: 100, options: [], clock };
  return {
    clock,
    names,
    backend: (namespace?: string) => partsOn(records, { namespace }, kind),
  };
}

describe('a namespace', () => {
  it('keeps two services with one name apart', async () => {
    const { clock, names, backend } = sharedBackend();
    const service = (namespace: string): RefreshingValue<string> =>
      new RefreshingValue({
        name: 'config',
        load: async () => namespace,
        clock,
        backend: backend(namespace),
      });
    expect(await service('shop').get()).toBe('shop');
    expect(await service('bank').get()).toBe('bank');
    await clock.flush();
    expect([...names].sort()).toEqual(['bank/config', 'shop/config']);
    const [shop, bank] = [backend('shop'), backend('bank')];
    expect((await shop.lock.list()).map(({ name }) => name)).toEqual(['config']);
    expect(await shop.lock.inspect('config')).toMatchObject({ name: 'config', state: 'done' });
    expect(await backend('other').lock.inspect('config')).toBeUndefined();
    expect(await bank.store.delete('config')).toBe(true);
    expect(await bank.store.read('config')).toBeUndefined();
    expect(await shop.store.read('config')).toBeDefined();
  });

  it('leases of a namespace can be extended and released by hand', async () => {
    const { backend } = sharedBackend();
    const [shop, bank] = [backend('shop').lock, backend('bank').lock];
    const answer = await shop.acquire({ name: 'n' });
    if (answer.kind !== 'acquired') throw new Error(answer.kind);
    expect(answer.lease.name).toBe('n');
    expect(await shop.extend(answer.lease)).toBe(true);
    expect(await bank.release(answer.lease, { as: 'abandoned' })).toBe(false);
    expect(await shop.release(answer.lease, { as: 'abandoned' })).toBe(true);
  });

  it('and names with slashes, brackets or the names of records of our own are never one record', async () => {
    const { clock, names, backend } = sharedBackend();
    const load = async (): Promise<number> => 1;
    const given = { clock, backend: backend(), logger: false, load } as const;
    const members: readonly (() => Promise<unknown>)[] = [
      () => new RefreshingValue({ ...given, name: 'eu/secrets', backend: backend('acme') }).get(),
      () => new RefreshingValue({ ...given, name: 'secrets', backend: backend('acme/eu') }).get(),
      () => new RefreshingValue({ ...given, name: 'secrets', backend: backend('acme%2Feu') }).get(),
      () => new RefreshingValue({ ...given, name: 'acme/eu/secrets' }).get(),
      () => new RefreshingValue({ ...given, name: '/acme/eu/secrets' }).get(),
      () => new RefreshingValue({ ...given, name: 'secrets', backend: backend('/acme/eu') }).get(),
      () => new RefreshingValue({ ...given, name: 'eu/x', backend: backend('acme') }).get(),
      () => new RefreshingValue({ ...given, name: 'x', backend: backend('acme/eu') }).get(),
      () => new RefreshingCache({ ...given, name: 'a' }).get('b'),
      () => new RefreshingValue({ ...given, name: 'a["b"]' }).get(),
      () => new RefreshingValue({ ...given, name: 'a["b"]/' }).get(),
      () => new RefreshingCache({ ...given, name: 'a["b"]/' }).get('c'),
      () => new RefreshingCache({ ...given, name: 'b', backend: backend('p["a') }).get('c'),
      () => new RefreshingCache({ ...given, name: 'p' }).get('a/b["c"]'),
      () => new RefreshingValue({ ...given, name: 'tickless-control' }).get(),
      () => new RefreshingValue({ ...given, name: '/tickless-control' }).get(),
      () => new RefreshingCache({ ...given, name: 'long' }).get('k'.repeat(200)),
      () =>
        new RefreshingValue({
          ...given,
          name: [...names].find((name) => name.includes('~')) as string,
        }).get(),
    ];
    for (const [i, read] of members.entries()) {
      await read();
      await clock.flush();
      expect(names.size, String(i)).toBe(i + 1);
    }
    expect(names).not.toContain('tickless-control');
  });

  it.each(['', 'a\0b', 7, 'x'.repeat(51), '/'.repeat(17)])('%j is refused', (namespace) => {
    const { backend } = sharedBackend();
    expect(thrownBy(() => backend(namespace as string))).toMatchObject(ofOption('namespace'));
  });
});

describe('a snapshot of another maker', () => {
  it('is rejected and reported: a value is no key of a cache', async () => {
    const cluster = new ManualCluster();
    const { clock, store } = cluster;
    const { backend } = cluster.link();
    const name = 'cities["1012"]';
    const asValue = (load: string): RefreshingValue<string> =>
      new RefreshingValue({ name, load: async () => load, clock, logger: false, backend });
    await asValue('of the value').get();
    await clock.flush();
    const ofValue = await store.read('/cities["1012"]/');
    await store.write(name, ofValue?.payload as string); // as builds did that knew one name for both
    const cache = new RefreshingCache<string, string>({
      name: 'cities',
      load: async () => 'of the key',
      clock,
      logger: false,
      backend,
    });
    const events = recordEvents(cache);
    expect(await cache.get('1012')).toBe('of the key');
    const rejected = events.find(isOutcome('refused'));
    expect(rejected).toMatchObject({
      error: { message: expect.stringContaining('it was made by the value') },
    });
    await clock.flush();
    expect(await asValue('again').get()).toBe('of the value');
  });

  it('of another name is rejected', async () => {
    const cluster = new ManualCluster();
    const { clock, store } = cluster;
    const { backend } = cluster.link();
    const value = (name: string): RefreshingValue<string> =>
      new RefreshingValue({ name, load: async () => name, clock, logger: false, backend });
    await value('a').get();
    await clock.flush();
    await store.write('b', (await store.read('a'))!.payload);
    expect(await value('b').get()).toBe('b');
  });
});

describe('keys whose lock name is longer than the backend accepts', () => {
  const key = (end: string): string => `${'k'.repeat(120)}é${end}`;

  it('are locked and published under their beginning and a hash, each under its own', async () => {
    const { clock, names, backend } = sharedBackend();
    const loads: string[] = [];
    const instance = (): RefreshingCache<string, string> =>
      new RefreshingCache<string, string>({
        name: 'cities',
        load: async (asked) => {
          loads.push(asked);
          return asked;
        },
        clock,
        backend: backend(),
      });
    const first = instance();
    expect(await first.get(key('a'))).toBe(key('a'));
    expect(await first.get(key('b'))).toBe(key('b'));
    await first.close();
    const second = instance();
    expect([await second.get(key('a')), await second.get(key('b'))]).toEqual([key('a'), key('b')]);
    expect(loads).toEqual([key('a'), key('b')]);
    expect([...names]).toHaveLength(2);
    for (const name of names) {
      expect(name).toMatch(/^cities\["k{40,}~[0-9a-f]{32}$/);
      expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(100);
    }
  });

  it.each(['lock', 'backend'] as const)(
    'beyond 8,192 bytes are refused before any load, with the option %s',
    async (option) => {
      const { clock, backend } = sharedBackend();
      let loads = 0;
      const cache = new RefreshingCache<string, number>({
        name: 'c',
        load: async () => ++loads,
        clock,
        logger: false,
        [option]: backend(),
      });
      const error = (await rejectionOf(cache.get('k'.repeat(8192)))) as TicklessError;
      expect([isTicklessError(error.cause, 'OPTION'), loads]).toEqual([true, 0]);
      expect(error.message).toContain('must be short enough for a lock name of 8192 bytes');
      expect(await cache.get('k'.repeat(8000))).toBe(1);
    },
  );
});
