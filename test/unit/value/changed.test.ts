import { describe, expect, it } from 'vitest';
import { absent, keep, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { coldPair } from '../../support/cluster.ts';
import { onEnded, recordChanges, recordEvents, recordLines } from '../../support/events.ts';
import { fakeValue, loadedManualValue, manualValue } from '../../support/manual-value.ts';

describe('the event changed of a value', () => {
  it('comes once per load and per set, with the value before, and not for keep()', async () => {
    const answers = ['one', keep(), 'one', keep()];
    const { value, clock } = fakeValue<string>(() => answers.shift() as string);
    const changes = recordChanges(value);
    await value.get();
    await value.refresh(); // keep()
    await value.refresh();
    value.set('set');
    await value.refresh(); // keep()
    await clock.flush();
    const about = { type: 'changed', name: 'v', version: undefined };
    const at = expect.any(Number);
    expect(changes).toStrictEqual([
      { ...about, at, value: 'one', cause: 'loaded' },
      { ...about, at, value: 'one', previous: 'one', cause: 'loaded' },
      { ...about, at, value: 'set', previous: 'one', cause: 'set' },
    ]);
  });

  it('not for a failure, a drop, or a result that is not stored; the next value has none before it', async () => {
    const { value, manual } = await loadedManualValue();
    const changes = recordChanges(value);
    const failed = value.refresh();
    manual.call(1).reject(new Error('down'));
    await failed.catch(() => {});
    const read = value.refresh();
    value.invalidate({ drop: true });
    manual.call(2).resolve('dropped');
    expect([await read, changes]).toEqual(['dropped', []]);
    value.set('next');
    expect(changes).toMatchObject([{ value: 'next' }]);
    expect(changes[0]).not.toHaveProperty('previous');
  });

  it('comes when all is in place, before readers that wait: a listener may read, set, invalidate and throw', async () => {
    const logger = recordLines();
    const { value, manual } = manualValue({ logger });
    const seen: unknown[] = [];
    value.on('changed', (event) => {
      seen.push([event.value, value.current, value.inspect().state, value.inspect().running]);
      if (event.value === 'one') value.set('two');
      else value.invalidate();
      throw new Error('a listener');
    });
    const changes = recordChanges(value);
    const read = value.get().then((got) => void seen.push(['read', got]));
    manual.call(0).resolve('one');
    await read;
    // Both listeners hear of them in the order of the replacements.
    expect(changes.map((change) => change.value)).toEqual(['one', 'two']);
    expect(seen).toEqual([['one', 'one', 'fresh', false], ['two', 'two', 'fresh', false], ['read', 'one']]); // biome-ignore format: short
    expect(logger.lines).toHaveLength(1);
    expect(value.inspect()).toMatchObject({ value: 'two', state: 'stale', failures: 0 });
  });

  it('comes in the order of the replacements also where a listener of another event replaces the value', async () => {
    const { value, manual } = manualValue();
    onEnded(value, 'loaded', () => value.set('two'));
    const changes = recordChanges(value);
    const read = value.get();
    manual.call(0).resolve('one');
    await read;
    expect(changes).toMatchObject([{ value: 'one' }, { value: 'two', previous: 'one' }]);
  });

  it('a listener that replaces the value each time ends: the rest is logged, not emitted', () => {
    const logger = recordLines();
    const { value } = fakeValue(() => 0, { logger });
    let calls = 0;
    value.on('changed', (event) => {
      calls += 1;
      value.set(event.value + 1);
    });
    expect([value.current, calls, value.current]).toEqual([100, 100, 100]);
    expect(logger.lines).toEqual([
      expect.stringContaining('a listener of changed replaces the value each time'),
    ]);
    value.set(1000);
    expect(calls).toBe(200);
  });

  it('two listeners that replace the value each time end too, and so does one that does so twice', () => {
    for (const [listeners, times] of [
      [2, 1],
      [1, 2],
    ] as const) {
      const logger = recordLines();
      const { value } = fakeValue(() => 0, { logger });
      let calls = 0;
      for (let n = 0; n < listeners; n++)
        value.on('changed', () => {
          calls += 1;
          for (let time = 0; time < times; time++) value.set(calls);
        });
      value.set(0);
      expect(calls).toBeLessThan(50_000);
      expect(logger.lines).toHaveLength(1);
      value.set(0); // and can go on
      expect(logger.lines).toHaveLength(2);
    }
  });

  it('of 12,000 keys that a listener sets are all emitted', () => {
    const cache = new RefreshingCache<number, number>({
      name: 'c',
      load: (key) => key,
      max: 30_000,
      logger: false,
    });
    let heard = 0;
    cache.on('changed', ({ key }) => {
      heard += 1;
      if (key === 0) for (let other = 1; other <= 12_000; other++) cache.set(other, other);
    });
    cache.set(0, 0);
    expect(heard).toBe(12_001);
  });

  it('shows no value to a log of events', () => {
    const { value } = fakeValue(() => 'secret');
    const logged: string[] = [];
    value.on('changed', (event) => void logged.push(JSON.stringify(event)));
    value.set('other');
    value.set('secret');
    expect(logged.join()).toContain('"cause":"set"');
    expect(logged.join()).not.toMatch('secret');
  });

  it('has the version in a cluster: of the load its token, of a snapshot its own', async () => {
    const { cluster, a, b } = coldPair();
    const [ofA, ofB] = [recordChanges(a.value), recordChanges(b.value)];
    await cluster.load(a, 'one');
    const { token } = a.manual.call(0).context;
    expect(await b.value.get()).toBe('one');
    b.value.set('by hand');
    expect(ofA).toMatchObject([{ cause: 'loaded', version: token }]);
    expect(ofB).toMatchObject([
      { cause: 'adopted', version: token },
      { cause: 'set', version: undefined, previous: 'one' },
    ]);
  });
});

describe('the event changed of a cache', () => {
  function start(load: (key: string) => unknown = (key) => `v${key}`) {
    const clock = new FakeClock();
    const cache = new RefreshingCache<string, unknown>({ name: 'c', load, max: 2, clock, logger: false });
    return { cache, clock };
  }

  it('has the key, and comes when the key has its place', async () => {
    const { cache } = start();
    const seen: unknown[] = [];
    cache.on('changed', ({ key, value, cause }) => void seen.push([key, value, cause, [...cache.keys()]]));
    cache.current('a');
    await cache.get('b');
    cache.set('c', 'set');
    expect(seen).toEqual([
      ['a', 'va', 'loaded', ['a']],
      ['b', 'vb', 'loaded', ['a', 'b']],
      ['c', 'set', 'set', ['b', 'c']],
    ]);
  });

  it('has the value before, also of a key at rest; none after delete, and no event for delete, clear or absence', () => {
    const { cache } = start((key) => (key === 'none' ? absent() : key));
    cache.current('a');
    const changes = recordChanges(cache);
    const events = recordEvents(cache);
    cache.set('a', 2);
    cache.delete('a');
    cache.set('a', 3);
    cache.clear();
    expect(() => cache.current('none')).toThrow();
    expect(changes.map(({ type, name, at, ...rest }) => rest)).toStrictEqual([
      { key: 'a', value: 2, previous: 'a', version: undefined, cause: 'set' },
      { key: 'a', value: 3, version: undefined, cause: 'set' },
    ]);
    expect(events).toHaveLength(2); // of the load of the absent key
  });
});
