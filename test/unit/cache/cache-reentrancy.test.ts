import { describe, expect, it } from 'vitest';
import {
  absent,
  type LoadContext,
  loaded,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { onEnded } from '../../support/events.ts';
import { type FakeCache, fakeCache } from '../../support/fake-cache.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { ofOption } from '../../support/option-errors.ts';
import { settled, thrownBy } from '../../support/settle.ts';
import { unspread } from '../../support/unspread.ts';

const MINUTE = 60_000;

/** A cache of a period of 1 min, whose loads end when the test says so. */
function make(options: object = {}): FakeCache & { readonly manual: ManualLoad<unknown> } {
  const manual = new ManualLoad<unknown>();
  const load = (_key: string, context: LoadContext) => manual.load(context) as Promise<string>;
  return { manual, ...fakeCache({ load, schedule: MINUTE, ...options }) };
}

describe('user code that reads a key while its load settles', () => {
  it('a schedule that inspects it leaves it refreshing', async () => {
    let loads = 0;
    const { clock, cache } = make({
      load: () => `${++loads}`,
      schedule: ({ endedAt }: { endedAt: number }) => {
        cache.inspect('a');
        return endedAt + MINUTE;
      },
      random: () => 0,
    });
    cache.current('a');
    await clock.advance(MINUTE);
    cache.current('a');
    await clock.flush();
    expect([loads, cache.inspect('a')?.nextExecuteTime]).toEqual([2, clock.now() + MINUTE]);
  });

  it('a sizeOf that inspects it does not keep it from being held', async () => {
    const { cache } = make({
      load: () => 'x',
      maxSize: 10,
      sizeOf: () => {
        cache.inspect('a');
        return 1;
      },
    });
    expect([cache.current('a'), cache.size]).toEqual(['x', 1]);
  });

  it('its tag being invalidated meanwhile, there is one live load', async () => {
    const { clock, cache, manual } = make({
      schedule: ({ endedAt }: { endedAt: number }) => {
        cache.inspect('a');
        return endedAt + MINUTE;
      },
    });
    void cache.get('a');
    cache.invalidateTag('t');
    const read = cache.get('a');
    manual.call(0).resolve(loaded('old', { tags: ['t'] }));
    await clock.flush();
    void cache.refresh('a').catch(() => {});
    await clock.flush();
    expect([manual.calls.length, manual.mostLive]).toEqual([2, 1]);
    manual.call(1).resolve('new');
    expect(await read).toBe('new');
  });

  it('a listener that sets a value wins over the load that a tag has made out of date', async () => {
    const { clock, cache, manual } = make();
    onEnded(cache, 'loaded', () => cache.set('a', 'by hand'));
    void cache.get('a');
    cache.invalidateTag('t');
    const read = cache.get('a');
    manual.call(0).resolve(loaded('old', { tags: ['t'] }));
    expect(await read).toBe('by hand');
    await clock.flush();
    expect([cache.current('a'), manual.calls.length, clock.timerCount]).toEqual(['by hand', 1, 0]);
  });

  it('a listener that closes the cache ends the wait for another load', async () => {
    const { clock, cache, manual } = make();
    onEnded(cache, 'loaded', () => void cache.close());
    void cache.get('a');
    cache.invalidateTag('t');
    const read = cache.get('a');
    manual.call(0).resolve(loaded('old', { tags: ['t'] }));
    await clock.flush();
    expect(await settled(read)).toMatchObject({ error: { code: 'CLOSED', key: 'a' } });
    expect([manual.calls.length, clock.timerCount]).toEqual([1, 0]);
  });

  it('a listener that starts what is due does not lose a slot of the group', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, concurrency: 1, schedule: 1000 });
    let loads = 0;
    const cache = group.cache({ name: 'c', load: async (_key: string) => loaded(++loads, { tags: ['t'] }) });
    await cache.get('a');
    onEnded(cache, 'loaded', () => {
      if (loads > 5) return;
      cache.invalidateTag('t');
      group.requestStart();
    });
    await clock.advance(2000);
    const ends: Promise<unknown>[] = [];
    group.requestStart({ waitUntil: (end) => void ends.push(end) });
    for (let i = 0; i < 20; i++) await clock.advance(1);
    expect(loads).toBe(6);
    expect([group.inspect().running, await settled(ends[0] as Promise<unknown>)]).toEqual([
      0,
      { value: undefined },
    ]);
  });

  it('a load that is aborted by set, and sets too, leaves the outer value with its own size', async () => {
    const { clock, cache, manual } = make({ maxSize: 100, sizeOf: (value: string) => value.length });
    void cache.get('a').catch(() => {});
    manual.call(0).context.signal.addEventListener('abort', () => cache.set('a', 'x'.repeat(90)));
    cache.set('a', 'y');
    cache.set('b', 'z'.repeat(50));
    await clock.flush();
    expect([cache.peek('a'), cache.size]).toEqual(['y', 2]);
  });
});

describe('keys that change, come and go', () => {
  it('a key object that keyOf no longer accepts does not affect other members of the group', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, concurrency: 1, schedule: 1000 });
    const load = async (_key: { id?: string }) => 'x';
    const keyOf = ({ id }: { id?: string }) => (id as string).toString();
    const cache = group.cache({ name: 'c', load, keyOf, random: unspread });
    let loads = 0;
    const value = group.value({ name: 'v', load: async () => ++loads });
    const key: { id?: string } = { id: 'a' };
    await cache.get(key);
    await value.get();
    delete key.id;
    for (let i = 0; i < 3; i++) {
      await clock.advance(2000);
      value.current;
      group.requestStart();
      await clock.flush();
    }
    expect([loads, group.inspect().running]).toEqual([4, 0]);
    cache.clear();
    expect(cache.size).toBe(0);
  });

  it('10,000 reads that give up leave nothing behind', async () => {
    const { clock, cache, manual } = make({ max: 10 });
    for (let i = 0; i < 1000; i++) {
      const controller = new AbortController();
      const read = cache.get(`k${i}`, { signal: controller.signal });
      cache.delete(`k${i}`);
      controller.abort();
      await read.catch(() => {});
    }
    expect(manual.calls.every(({ context }) => context.signal.aborted)).toBe(true);
    for (const { reject } of manual.calls) reject(new Error('aborted'));
    await clock.flush();
    const known = Array.from({ length: 1000 }, (_, i) => cache.inspect(`k${i}`)).filter(Boolean);
    expect([known.length, manual.live, clock.timerCount]).toEqual([0, 0, 0]);
  });

  it('the event of an absence comes when its key has no value any more', async () => {
    const { clock, cache, manual } = make();
    cache.set('a', 'old');
    const values: unknown[] = [];
    onEnded(cache, 'loaded', () => void values.push(cache.peek('a')));
    void cache.refresh('a').catch(() => {});
    manual.call(0).resolve(absent());
    await clock.flush();
    expect([values, cache.size]).toEqual([[undefined], 0]);
  });

  it('inspecting an absent key does not count as a use', async () => {
    const { cache } = make({ load: () => absent(), max: 20 });
    for (const key of ['a', 'b']) await cache.get(key).catch(() => {});
    cache.inspect('a');
    await cache.get('c').catch(() => {});
    expect(['a', 'b', 'c'].map((key) => cache.inspect(key)?.state)).toEqual([undefined, 'absent', 'absent']);
  });

  it('getMany gives waitUntil one promise, of the end of all, and none when no load starts', async () => {
    const { clock, cache, manual } = make();
    const ends: Promise<unknown>[] = [];
    for (const key of ['d', 'e']) cache.set(key, key);
    await cache.getMany(['d', 'e'], { waitUntil: (end) => void ends.push(end) });
    expect(ends).toEqual([]);
    const many = cache.getMany(['a', 'b', 'c'], { waitUntil: (end) => void ends.push(end) });
    expect(ends).toHaveLength(1);
    for (let call = 0; call < 2; call++) manual.call(call).resolve('x');
    await clock.flush();
    expect(await settled(ends[0] as Promise<unknown>)).toBe('pending');
    manual.call(2).resolve('x');
    expect((await many).size).toBe(3);
    expect(await settled(ends[0] as Promise<unknown>)).toMatchObject({ value: expect.anything() });
  });

  it('requestStart with wait also waits for a reload that a read has begun', async () => {
    const { clock, cache, manual } = make();
    cache.set('a', 'old');
    await clock.advance(MINUTE);
    cache.current('a');
    const start = cache.requestStart({ wait: true });
    await clock.flush();
    expect(await settled(start)).toBe('pending');
    manual.call(0).resolve('new');
    expect(await settled(start)).toEqual({ value: undefined });
  });
});

it('health is not fatal for a value that got too old without reads, and is when its reload fails', async () => {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, retry: false, logger: false, maxStaleness: 1000, schedule: 100 });
  let isDown = false;
  const load = async () => {
    if (isDown) throw new Error('down');
    return 1;
  };
  const value = group.value({ name: 'v', load });
  await value.get();
  await clock.advance(5000);
  expect(group.health()).toMatchObject({ ok: true, problems: [{ kind: 'too-stale', isFatal: false }] });
  isDown = true;
  await value.get().catch(() => {});
  expect(group.health()).toMatchObject({ ok: false, problems: [{ kind: 'too-stale', isFatal: true }] });
});

it('ready with a cool-down of next to nothing does not keep its deadline from coming', async () => {
  const group = new RefreshGroup({ retry: false, logger: false, coolDown: 0.0005 });
  const load = (): number => {
    throw new Error('down');
  };
  group.value({ name: 'v', load, required: true });
  expect((await group.ready({ timeout: 50 })).ok).toBe(false);
  await group.close();
});

it('close of a value returns the same promise to a call from within it', async () => {
  const manual = new ManualLoad<number>();
  const value = new RefreshingValue({ name: 'v', load: manual.load, retry: false, logger: false });
  void value.get().catch(() => {});
  const promises: Promise<unknown>[] = [];
  manual.call(0).context.signal.addEventListener('abort', () => void promises.push(value.close()));
  promises.push(value.close({ timeout: 0 }));
  expect(promises[0]).toBe(promises[1]);
  await promises[0];
});

it('options are own properties, not those of a prototype, and missing options are reported as missing', () => {
  const clock = new FakeClock();
  const own = { name: 'c', load: (key: string) => key, clock };
  const cache = new RefreshingCache<string, string>(Object.assign(Object.create({ schedule: 5000 }), own));
  cache.current('a');
  expect((cache.inspect('a')?.nextExecuteTime as number) - clock.now()).toBeGreaterThan(10_000);
  expect(thrownBy(() => new RefreshGroup(null as never).value(null as never))).toMatchObject({
    code: 'OPTION',
  });
});

it('invalid arguments are reported as OPTION, by rejection where a promise is returned', async () => {
  const { cache } = make();
  for (const keys of [undefined, null, 5, 'abc']) {
    const error = await cache.getMany(keys as never).catch((reason) => reason);
    expect(error).toMatchObject(ofOption('keys'));
    expect(error.message).toContain('iterable');
  }
  const onError = 5 as never;
  const error = await cache.getMany([], { onError }).catch((reason) => reason);
  expect(error).toMatchObject(ofOption('onError'));
  expect(thrownBy(() => cache.invalidateTag(5 as never))).toMatchObject(ofOption('tag', 'must be a string'));
  expect(thrownBy(() => cache.invalidateWhere(5 as never))).toMatchObject(ofOption('predicate'));
});

it.each([undefined, 1])(
  'a read within the event of a synchronous load has its value, max %s',
  async (max) => {
    let loads = 0;
    let isSynchronous = false;
    const load = (): string | Promise<string> => {
      loads += 1;
      return isSynchronous ? `load ${loads}` : Promise.resolve(`load ${loads}`);
    };
    const cache = new RefreshingCache({ name: 'c', max, load, logger: false, retry: false });
    await cache.get('a');
    isSynchronous = true;
    const seen: unknown[] = [];
    onEnded(cache, 'loaded', () => {
      seen.push(cache.peek('a'), cache.current('a'), cache.get('a'), cache.getMany(['a']));
    });
    await cache.refresh('a');
    const [peeked, current, got, many] = await Promise.all(seen);
    expect([peeked, current, got, [...(many as Map<string, string>).values()]]).toEqual([
      ...['load 2', 'load 2', 'load 2'],
      ['load 2'],
    ]);
    expect(loads).toBe(2);
  },
);

it('a key whose successor is about to start is not forgotten: never two live loads', async () => {
  const { clock, cache, manual } = make();
  const first = cache.get('a');
  await clock.flush();
  manual.call(0).resolve('one');
  await first;
  const refreshed = cache.refresh('a');
  await clock.flush();
  cache.invalidate('a');
  void cache.get('a'); // wants a successor of the load under way
  manual.call(1).resolve('two');
  await refreshed;
  void cache.get('a'); // starts a load behind this read, before the successor
  cache.invalidate('a'); // ends it, before it has begun
  void cache.get('a');
  await clock.flush();
  await clock.advance(1);
  expect([manual.calls.length, manual.mostLive]).toEqual([3, 1]);
  manual.call(2).resolve('three');
  await clock.flush();
  expect([cache.peek('a'), await cache.get('a'), manual.mostLive]).toEqual(['three', 'three', 1]);
});
