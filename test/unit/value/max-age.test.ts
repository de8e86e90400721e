import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { loadedManualValue } from '../../support/manual-value.ts';
import { optionsIn } from '../../support/option-errors.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

describe('get({ maxAge })', () => {
  it('serves a younger value; for another one it waits for a reload that all such reads share', async () => {
    const { clock, manual, value } = await loadedManualValue();
    await clock.advance(500);
    expect(await value.get({ maxAge: 501 })).toBe('one');
    const reads = [value.get({ maxAge: 500 }), value.get({ maxAge: 0 })];
    expect([await settled(reads[0] as Promise<string>), await value.get()]).toEqual(['pending', 'one']);
    expect(manual.calls).toHaveLength(2);
    manual.call(1).resolve('two');
    expect(await Promise.all(reads)).toEqual(['two', 'two']);
    expect(await value.get({ maxAge: Infinity })).toBe('two');
    const error = await rejectionOf(value.get({ maxAge: -1 }));
    expect(optionsIn(error)).toEqual(['maxAge']);
  });

  it('rejects with TOO_STALE if the reload fails, or may not start; other reads are served', async () => {
    const { clock, manual, value } = await loadedManualValue({ coolDown: 100 });
    await clock.advance(500);
    const read = rejectionOf(value.get({ maxAge: 200 }));
    manual.call(1).reject(new Error('down'));
    const stale = { age: 500, message: /maxAge is 200 ms/, cause: /down/ };
    for (const error of [await read, await rejectionOf(value.get({ maxAge: 200 }))]) {
      expect(isTicklessError(error, 'TOO_STALE')).toBe(true);
      expect(error).toMatchObject({ age: stale.age });
      expect(String(error)).toMatch(stale.message);
      expect(String((error as Error).cause)).toMatch(stale.cause);
    }
    expect([await value.get({ maxAge: 501 }), manual.calls.length]).toEqual(['one', 2]);
    await clock.advance(100);
    value.pause();
    expect(isTicklessError(await rejectionOf(value.get({ maxAge: 200 })), 'TOO_STALE')).toBe(true);
  });

  it('holds after patience too: the read rejects, as it does when the load has failed', async () => {
    for (const ending of ['late', 'fails'] as const) {
      const { clock, manual, value } = await loadedManualValue({ coolDown: 100, maxStaleness: Infinity });
      await clock.advance(1000);
      const read = value.get({ maxAge: 1100, patience: 200 });
      if (ending === 'late') {
        const ended = rejectionOf(read);
        await clock.advance(300);
        expect(isTicklessError(await ended, 'TOO_STALE')).toBe(true);
      } else {
        const failed = rejectionOf(read);
        await clock.advance(150);
        manual.call(1).reject(new Error('down'));
        expect(isTicklessError(await failed, 'TOO_STALE')).toBe(true);
      }
    }
  });

  it('a signal ends the read also where its value has become too old meanwhile', async () => {
    const { clock, value } = await loadedManualValue({ maxStaleness: 1100, whenTooStale: 'wait' });
    await clock.advance(1000);
    const gaveUp = new AbortController();
    const read = rejectionOf(value.get({ patience: 200, signal: gaveUp.signal }));
    await clock.advance(150); // too stale by now
    gaveUp.abort('enough');
    expect(await read).toBe('enough');
  });

  it('waits in spite of whenTooStale and whenFailing; its signal ends this wait only', async () => {
    const own = { whenTooStale: 'throw', whenFailing: 'throw', maxStaleness: 1500, coolDown: 1 } as const;
    const { clock, manual, value } = await loadedManualValue(own);
    await clock.advance(2000);
    const ended = new AbortController();
    const reads = [value.get({ maxAge: 1, patience: 500 }), value.get({ maxAge: 1, signal: ended.signal })];
    ended.abort('enough');
    expect(await rejectionOf(reads[1] as Promise<string>)).toBe('enough');
    await clock.advance(10);
    manual.call(1).resolve('two');
    expect(await reads[0]).toBe('two');
  });

  it('of a cache holds for each key, also in getMany', async () => {
    const loads: string[] = [];
    const { clock, cache } = fakeCache({ load: (key) => String(loads.push(key)) });
    await cache.get('a');
    await clock.advance(500);
    await cache.get('b');
    const read = await cache.getMany(['a', 'b'], { maxAge: 100 });
    expect([[...read], loads]).toEqual([[['a', '3'], ['b', '2']], ['a', 'b', 'a']]); // biome-ignore format: short
  });

  it('loads anew though the round is done, and where the snapshot of the store is too old', async () => {
    const cluster = new ManualCluster();
    const [a, b] = await cluster.warm(2, { schedule: 10_000 });
    await cluster.clock.advance(2000);
    const read = b.value.get({ maxAge: 1000 });
    await cluster.clock.advance(10);
    expect([a.manual.calls.length, b.manual.calls.length]).toEqual([1, 1]);
    await cluster.end(b, 0, 'two');
    expect(await read).toBe('two');
    await cluster.clock.advance(2000);
    const cold = cluster.instance({ schedule: 10_000 });
    const first = cold.value.get({ maxAge: 1000 });
    await cluster.clock.advance(10);
    cold.manual.call(0).resolve('three');
    await cluster.clock.advance(10);
    expect(await first).toBe('three');
  });
});
