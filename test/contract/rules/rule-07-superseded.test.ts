import { describe, expect, it } from 'vitest';
import { loaded, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordEvents, wordsOf } from '../../support/events.ts';
import { fakeValue, manualValue } from '../../support/manual-value.ts';
import { settled } from '../../support/settle.ts';

const make = () => manualValue({ schedule: 100 });

describe('rule 7: a load begun before invalidate or set never overwrites what came after', () => {
  it('cold, dropped in mid-load while none waits: the load is aborted, reads get the one begun after', async () => {
    const { clock, manual, value } = make();
    void value.requestStart({ wait: false });
    value.invalidate({ drop: true });
    const after = value.get();
    expect(manual.call(0).context.signal.aborted).toBe(true);
    manual.call(0).resolve('old');
    await clock.flush();
    expect(manual.calls).toHaveLength(2);
    expect(manual.call(1).context).toMatchObject({ trigger: 'invalidated', background: false });
    expect(await settled(after)).toBe('pending');
    manual.call(1).resolve('new');
    expect(await after).toBe('new');
    expect(manual.mostLive).toBe(1);
  });

  it('warm, invalidated in mid-load: its result is younger, but due, and the next read reloads', async () => {
    const { clock, manual, value } = make();
    value.set('held');
    await clock.advance(100);
    value.current;
    await clock.flush();
    value.invalidate();
    const events = recordEvents(value);
    manual.call(0).resolve('old');
    await clock.flush();
    expect([value.peek(), value.inspect()]).toMatchObject(['old', { state: 'stale', age: 0 }]);
    expect(value.current).toBe('old');
    await clock.flush();
    manual.call(1).resolve('new');
    await clock.flush();
    expect(value.current).toBe('new');
    expect(wordsOf(events)).toEqual(['loaded', 'load-started', 'stale-served', 'loaded']);
  });

  it('refresh after invalidate does not join the load begun before', async () => {
    const { clock, manual, value } = make();
    const before = value.refresh();
    value.invalidate();
    const after = value.refresh();
    manual.call(0).resolve('old');
    await clock.flush();
    manual.call(1).resolve('new');
    expect([await before, await after]).toEqual(['old', 'new']);
  });

  it('set wins over a load in flight, and is what its waiters get', async () => {
    const { clock, manual, value } = make();
    const read = value.get();
    const refresh = value.refresh();
    value.set('by hand');
    expect([await read, await refresh]).toEqual(['by hand', 'by hand']);
    manual.call(0).resolve('old');
    await clock.flush();
    expect(value.current).toBe('by hand');
    expect(value.inspect()).toMatchObject({ running: false, state: 'fresh', loadedAt: clock.now() });
    expect(manual.calls).toHaveLength(1);
  });

  it('drop forgets the value: the next read waits as the first did', async () => {
    const { clock, manual, value } = make();
    value.set('held');
    value.invalidate({ drop: true });
    expect(value.peek()).toBeUndefined();
    expect(value.inspect()).toMatchObject({
      state: 'empty',
      isStale: false,
      loadedAt: undefined,
      age: undefined,
    });
    const read = value.get();
    expect(manual.call(0).context.previous).toBeUndefined();
    expect(await settled(read)).toBe('pending');
    manual.call(0).resolve('new');
    expect(await read).toBe('new');
    await clock.flush();
    expect(value.current).toBe('new');
  });

  it('invalidated before its turn came, a background load never calls the source', async () => {
    const { clock, manual, value } = make();
    value.set('held');
    await clock.advance(100);
    value.current;
    value.invalidate();
    await clock.flush();
    expect(manual.calls).toHaveLength(0);
    value.current;
    await clock.flush();
    expect(manual.calls).toHaveLength(1);
  });

  it('the result of a load that calls invalidate itself is due at once', async () => {
    let loads = 0;
    const { clock, value } = fakeValue<number>(() => {
      loads += 1;
      if (loads === 1) value.invalidate();
      return loads;
    });
    expect(await value.get()).toBe(1);
    expect(value.current).toBe(1);
    await clock.flush();
    expect(value.current).toBe(2);
  });

  it('a tag that is invalidated has each of its keys loaded anew', async () => {
    let loads = 0;
    const load = async () => loaded(++loads, { tags: ['nl'] });
    const clock = new FakeClock();
    const cache = new RefreshingCache<string, number>({ name: 'c', load, schedule: '1h', clock });
    await cache.getMany(['a', 'b']);
    cache.invalidateTag('nl');
    await cache.getMany(['a', 'b']);
    await clock.flush();
    expect(loads).toBe(4);
  });
});
