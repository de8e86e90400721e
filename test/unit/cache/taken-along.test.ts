import { describe, expect, it } from 'vitest';
import { type CacheOptions, loaded, RefreshGroup } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { seeded } from '../../support/distribution.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { rejectionOf } from '../../support/settle.ts';

/** A cache with the keys 0, 1, 2, … loaded at the start, and the calls since. */
async function make(keys: number, options: Partial<CacheOptions<number, number>> = {}) {
  const calls: (readonly number[])[] = [];
  const loadMany = async (ids: readonly number[]) => {
    calls.push(ids);
    return new Map(ids.map((id) => [id, id]));
  };
  const { clock, cache } = fakeCache<number, number>({ loadMany, schedule: 10_000, ...options });
  await cache.getMany(Array.from({ length: keys }, (_, index) => index));
  calls.length = 0;
  return { clock, cache, calls };
}

const sizes = (calls: readonly (readonly number[])[]): number[] => calls.map(({ length }) => length);

describe('a due reload of loadMany takes along', () => {
  it('at least 10 keys a call, of 500 keys that are read at random', async () => {
    const random = seeded();
    const { clock, cache, calls } = await make(500, { random });
    for (let step = 0; step < 2000; step++) {
      await cache.get(Math.floor(500 * random()));
      await clock.advance(20);
    }
    const count = sizes(calls).reduce((sum, size) => sum + size, 0);
    expect(count / calls.length).toBeGreaterThanOrEqual(10);
    expect(count).toBeLessThan((500 * 2000 * 20) / 10_000); // no key more often than once a period
  });

  it('all due keys: 50 that are read 1 ms apart are one call, or some of batchSize', async () => {
    for (const [batchSize, expected] of [
      [Infinity, [50]],
      [20, [20, 20, 10]],
    ] as const) {
      // biome-ignore format: short
      const { clock, cache, calls } = await make(50, { batchSize });
      await clock.advance(10_000);
      for (let key = 0; key < 50; key++) {
        cache.current(key);
        await clock.advance(1);
      }
      expect(sizes(calls)).toEqual(expected);
    }
  });

  it('the soonest first, those that fall due within a tenth of their time, and no others', async () => {
    const { clock, cache, calls } = await make(1, { batchSize: 4 });
    for (const key of [1, 2, 3, 4, 5, 6]) {
      await clock.advance(200);
      cache.set(key, key);
    }
    await clock.advance(10_000 - 6 * 200);
    cache.current(0); // the others fall due 200, 400, … 1200 ms later
    await clock.flush();
    expect(calls).toEqual([[0, 1, 2, 3]]);
    await clock.advance(900);
    cache.current(4);
    await clock.flush();
    expect(calls[1]).toEqual([4, 5, 6]);
  });

  it('no key that cools down, is being loaded, or is in the first half of its time', async () => {
    const down = new Set([1]);
    const calls: (readonly number[])[] = [];
    const loadMany = async (ids: readonly number[]) => {
      calls.push(ids);
      const answer = (id: number) => (down.has(id) ? new Error('down') : loaded(id, { dueAfter: 900 }));
      return new Map(ids.map((id) => [id, answer(id)]));
    };
    const { clock, cache } = await make(0, { loadMany, coolDown: 60_000 });
    for (const key of [0, 1]) cache.set(key, key);
    await clock.advance(4000);
    await rejectionOf(cache.refresh(1));
    await clock.advance(5500);
    await cache.get(3); // due in 900 ms: at 10 s in its second half
    await clock.advance(500);
    await cache.get(2); // due in 900 ms: at 10 s in its first half
    calls.length = 0;
    cache.current(0);
    await clock.flush();
    expect(calls).toEqual([[0, 3]]);
  });

  it('all others after invalidate(), without a scan', async () => {
    const { clock, cache, calls } = await make(30);
    cache.invalidate();
    await cache.get(7);
    await clock.flush();
    expect([sizes(calls), calls[0]?.[0]]).toEqual([[30], 7]);
  });

  it('in a pass of a group, too', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock });
    const value = group.value({ name: 'v', load: () => 1, schedule: 60_000 });
    const { cache, calls } = await make(0, { group, clock });
    value.set(1);
    for (const key of [1, 2, 3]) {
      cache.set(key, key);
      await clock.advance(300);
    }
    await clock.advance(10_000 - 900);
    expect(value.current).toBe(1);
    await clock.flush();
    expect(calls).toEqual([[1, 2, 3]]);
  });
});
