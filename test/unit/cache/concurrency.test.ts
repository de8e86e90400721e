import { describe, expect, it } from 'vitest';
import {
  type CacheOptions,
  isTicklessError,
  type KeyContext,
  RefreshGroup,
  RefreshingCache,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

/** A cache whose loads end by hand; they ignore their signals. */
function make(options: Partial<CacheOptions<number, string>> = {}) {
  const calls: { key: number; context: KeyContext<number, string>; resolve: (value: string) => void }[] = [];
  const { clock, cache } = fakeCache<number, string>({
    load: (key, context) => new Promise((resolve) => calls.push({ key, context, resolve })),
    ...{ schedule: 600_000, retry: undefined, timeout: 1000 },
    ...options,
  });
  const keys = (): number[] => calls.map(({ key }) => key);
  return { clock, cache, calls, keys };
}

const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe('concurrency of a cache', () => {
  it('by default 1,000 of 1,200 first loads that hang are under way; the others wait within their deadline', async () => {
    const { clock, cache, calls } = make();
    const reads = numbers(1200).map((key) => rejectionOf(cache.get(key)));
    await clock.flush();
    expect(calls.length).toBe(1000);
    await clock.advance(1000);
    const errors = await Promise.all(reads);
    expect(errors.every((error) => isTicklessError(error, 'TIMED_OUT'))).toBe(true);
    expect(String(errors[0])).toBe('TicklessError: c[0]: load timed out after 1 s');
    const waited = 'load timed out after 1 s, waiting for one of 1000 places (concurrency)';
    expect(String(errors[1199])).toBe(`TicklessError: c[1199]: ${waited}`);
    expect(calls.length).toBe(1000); // what was over before its turn never begins
    expect(clock.timerCount).toBe(0);
  });

  it('loads begin in the order of their reads, as places become free; refresh waits too', async () => {
    const { clock, cache, calls, keys } = make({ concurrency: 2 });
    const reads = [cache.get(1), cache.get(2), cache.get(3), cache.refresh(4)];
    await clock.flush();
    expect(keys()).toEqual([1, 2]);
    for (const index of [1, 0, 2, 3]) {
      calls[index]?.resolve(`v${calls[index]?.key}`);
      await clock.flush();
    }
    expect(keys()).toEqual([1, 2, 3, 4]);
    expect(await Promise.all(reads)).toEqual(['v1', 'v2', 'v3', 'v4']);
    expect(clock.timerCount).toBe(0);
  });

  it('a load that ignores its abort keeps its place until it settles, or until its deadline', async () => {
    const { clock, cache, calls, keys } = make({ concurrency: 1, schedule: 10_000 });
    void cache.get(1);
    cache.set(1, 'by hand');
    const waiting = cache.get(2);
    await clock.advance(500);
    expect(keys()).toEqual([1]);
    calls[0]?.resolve('late');
    await clock.flush();
    calls[1]?.resolve('two');
    expect(await waiting).toBe('two');

    void cache.get(3);
    cache.set(3, 'by hand');
    await clock.advance(400);
    const next = cache.get(4);
    await clock.advance(600);
    expect(keys()).toEqual([1, 2, 3]);
    await clock.advance(1);
    expect(keys()).toEqual([1, 2, 3, 4]); // the place was taken back
    calls[3]?.resolve('four');
    expect(await next).toBe('four');
  });

  it('without a deadline a load that never settles is one problem in health, and cancel gives its place back', async () => {
    const never = (): Promise<never> => new Promise(() => {});
    for (const of of ['load', 'loadMany', 'value'] as const) {
      for (const limited of ['cache', 'group'] as const) {
        const clock = new FakeClock({ now: '2026-01-01' });
        const shared = { clock, logger: false, timeout: Infinity } as const;
        const group = new RefreshGroup({ clock, ...(limited === 'group' && { concurrency: 1 }) });
        const own = { name: 'hangs', ...shared, ...(limited === 'cache' && { concurrency: 1 }) };
        const load = (key: number): number | Promise<never> => (key < 2 ? never() : key);
        const loadMany = (keys: readonly number[]): Map<number, number> | Promise<never> =>
          keys[0] === 0 ? never() : new Map(keys.map((key) => [key, key]));
        const cache =
          of === 'loadMany' ? group.cache({ ...own, batchSize: 2, loadMany }) : group.cache({ ...own, load });
        const value = limited === 'group' && of === 'value';
        const single = value ? group.value({ ...shared, name: 'single', load: never }) : undefined;
        const first = single?.get() ?? (of === 'load' ? cache.get(1) : cache.getMany([0, 1]));
        const rejected = rejectionOf(first);
        await clock.flush();
        const waiting = cache.get(2);
        await clock.advance(29_999);
        const hanging = () =>
          group.health({ start: false }).problems.filter(({ kind }) => kind === 'hanging');
        expect(hanging()).toEqual([]);
        await clock.advance(1);
        expect(hanging()).toMatchObject([{ name: value ? 'single' : 'hangs', isFatal: false }]);
        expect(hanging()[0]?.message).toContain(
          'since 2026-01-01T00:00:00.000Z; such loads keep 1 of 1 places',
        );
        if (value) single?.cancel();
        else for (const key of [0, 1]) cache.cancel(key);
        if (of === 'load') expect(await waiting).toBe(2);
        expect(await waiting).toBe(2);
        await rejected;
        expect(hanging()).toEqual([]);
      }
    }
  });

  it('a second try that hangs keeps its place until the deadline of its execution, not for as long again', async () => {
    for (const of of ['load', 'loadMany']) {
      const tries: (number | undefined)[] = [];
      const clock = new FakeClock();
      const load = async (key: number): Promise<string> => {
        tries.push(key);
        if (key === 2) return 'two';
        if (tries.length > 1) return new Promise(() => {});
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, 800));
        throw new Error('down');
      };
      const loadMany = async ([key = 0]: readonly number[]) => new Map([[key, await load(key)]]);
      const cache = new RefreshingCache<number, string>({
        ...{ name: 'c', clock, logger: false, timeout: 1000, concurrency: 1 },
        ...(of === 'load' ? { load } : { loadMany, batchSize: 1 }),
        retry: { retries: 1, minTimeout: 10 },
      });
      const failed = rejectionOf(cache.get(1));
      await clock.advance(900);
      expect(tries).toEqual([1, 1]);
      const waiting = cache.get(2);
      await clock.advance(100);
      expect(isTicklessError(await failed, 'TIMED_OUT')).toBe(true);
      await clock.advance(10);
      expect(tries).toEqual([1, 1, 2]);
      expect(await waiting).toBe('two');
    }
  });

  it('a read that leaves the line takes no place', async () => {
    const { clock, cache, calls, keys } = make({ concurrency: 1 });
    const first = cache.get(1);
    void cache.get(2);
    const third = cache.get(3);
    await clock.flush();
    cache.set(2, 'by hand');
    calls[0]?.resolve('one');
    expect(await first).toBe('one');
    await clock.flush();
    expect(keys()).toEqual([1, 3]);
    calls[1]?.resolve('three');
    expect(await third).toBe('three');
  });

  it('synchronous loads never wait for each other, and give their places back also when they throw', async () => {
    const load = (key: number): number => {
      if (key < 0) throw new Error('down');
      return key;
    };
    const { cache } = fakeCache<number, number>({ load, concurrency: 1 });
    for (const key of [1, -1, 2, -2, 3]) {
      if (key < 0) thrownBy(() => cache.current(key));
      else expect(cache.current(key)).toBe(key);
    }
  });

  it('of loadMany it limits the calls; keys whose loads are over by then are left out', async () => {
    const calls: { keys: readonly number[]; end: () => void }[] = [];
    const loadMany = (keys: readonly number[]) =>
      new Promise<Map<number, number>>((resolve) => {
        calls.push({ keys, end: () => resolve(new Map(keys.map((key) => [key, key]))) });
      });
    const { clock, cache } = fakeCache<number, number>({ loadMany, batchSize: 2, concurrency: 1 });
    const reads = cache.getMany([1, 2, 3, 4]);
    await clock.flush();
    expect(calls.map(({ keys }) => keys)).toEqual([[1, 2]]);
    cache.set(3, 33);
    calls[0]?.end();
    await clock.flush();
    expect(calls.map(({ keys }) => keys)).toEqual([[1, 2], [4]]);
    calls[1]?.end();
    expect([...(await reads).values()]).toEqual([1, 2, 33, 4]);
  });

  it('refuses anything but a whole number from 1 or Infinity', () => {
    const load = async (): Promise<number> => 1;
    for (const concurrency of [0, 1.5, Number.NaN, -1]) {
      const error = thrownBy(() => new RefreshingCache({ name: 'c', load, concurrency }));
      expect(String(error)).toContain('concurrency must be a whole number of 1 or more, or Infinity');
      expect(String(thrownBy(() => new RefreshGroup({ concurrency })))).toContain('concurrency');
    }
  });
});

describe('concurrency of a group', () => {
  it('counts the loads of all members, those of a pass and first loads of reads', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, concurrency: 3, logger: false });
    const manual = new ManualLoad<number>();
    const values = numbers(4).map((index) => group.value({ name: `v${index}`, load: manual.load }));
    const cache = group.cache({ name: 'c', load: (_: number, context) => manual.load(context) });
    group.executor((context) => manual.load({ ...context, previous: undefined }), { name: 'task' });
    group.requestStart();
    await clock.flush();
    expect(manual.calls.length).toBe(3); // of a pass
    const reads = [...values.map((value) => value.get()), cache.get(1), cache.get(2)];
    await clock.flush();
    expect(manual.calls.length).toBe(3);
    for (let call = 0; call < 7; call++) {
      expect(manual.mostLive).toBe(3);
      manual.call(call).resolve(call);
      await clock.flush();
    }
    await Promise.all(reads);
    expect(manual.mostLive).toBe(3);
  });

  it('without it members have no common limit', async () => {
    const manual = new ManualLoad<number>();
    const group = new RefreshGroup();
    const values = numbers(1100).map((index) => group.value({ name: `v${index}`, load: manual.load }));
    for (const value of values) void value.get();
    expect(manual.live).toBe(1100);
    await group.close({ timeout: 0 });
  });
});
