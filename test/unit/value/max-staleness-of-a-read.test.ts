import { describe, expect, it } from 'vitest';
import { isTicklessError, loaded } from '../../../src/index.ts';
import { warmPair } from '../../support/cluster.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { fakeValue, loadedManualValue } from '../../support/manual-value.ts';
import { optionsIn } from '../../support/option-errors.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

describe('get({ maxStaleness })', () => {
  it('serves a value up to that age; for an older one it waits for a reload that all such reads share', async () => {
    const { clock, manual, value } = await loadedManualValue();
    await clock.advance(500);
    expect(await value.get({ maxStaleness: 500 })).toBe('one');
    const reads = [value.get({ maxStaleness: 499 }), value.get({ maxStaleness: 0 })];
    expect([await settled(reads[0] as Promise<string>), await value.get()]).toEqual(['pending', 'one']);
    expect(manual.calls).toHaveLength(2);
    manual.call(1).resolve('two');
    expect(await Promise.all(reads)).toEqual(['two', 'two']);
    expect(await value.get({ maxStaleness: Infinity })).toBe('two');
    const error = await rejectionOf(value.get({ maxStaleness: -1 }));
    expect(optionsIn(error)).toEqual(['maxStaleness']);
  });

  it('rejects with TOO_STALE if the reload fails, or may not start; other reads are served', async () => {
    const { clock, manual, value } = await loadedManualValue({ coolDown: 100 });
    await clock.advance(500);
    const read = rejectionOf(value.get({ maxStaleness: 200 }));
    manual.call(1).reject(new Error('down'));
    const stale = { age: 500, message: /maxStaleness is 200 ms/, cause: /down/ };
    for (const error of [await read, await rejectionOf(value.get({ maxStaleness: 200 }))]) {
      expect(isTicklessError(error, 'TOO_STALE')).toBe(true);
      expect(error).toMatchObject({ age: stale.age });
      expect(String(error)).toMatch(stale.message);
      expect(String((error as Error).cause)).toMatch(stale.cause);
    }
    expect([await value.get({ maxStaleness: 500 }), manual.calls.length]).toEqual(['one', 2]);
    await clock.advance(100);
    value.pause();
    expect(isTicklessError(await rejectionOf(value.get({ maxStaleness: 200 })), 'TOO_STALE')).toBe(true);
  });

  it('holds after patience too: the read rejects, as it does when the load has failed', async () => {
    for (const ending of ['late', 'fails'] as const) {
      const { clock, manual, value } = await loadedManualValue({ coolDown: 100, maxStaleness: Infinity });
      await clock.advance(1000);
      const read = value.get({ maxStaleness: 1100, patience: 200 });
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
    const reads = [
      value.get({ maxStaleness: 1, patience: 500 }),
      value.get({ maxStaleness: 1, signal: ended.signal }),
    ];
    ended.abort('enough');
    expect(await rejectionOf(reads[1] as Promise<string>)).toBe('enough');
    await clock.advance(10);
    manual.call(1).resolve('two');
    expect(await reads[0]).toBe('two');
  });

  it('0 waits for a load, also of a value that was loaded in this moment', async () => {
    const { manual, value } = await loadedManualValue({ maxStaleness: 2000, whenTooStale: 'throw' });
    const read = value.get({ maxStaleness: 0 });
    expect([await settled(read), await value.get({ maxStaleness: 1 })]).toEqual(['pending', 'one']);
    manual.call(1).resolve('two');
    expect(await read).toBe('two');
  });

  it.each([
    ['the member', { maxStaleness: 2000 }, {}, {}],
    ['the load', {}, { maxStaleness: 2000 }, {}],
    ['the read', {}, {}, { maxStaleness: 2000 }],
    ['the member, before the others', { maxStaleness: 2000 }, { maxStaleness: 3000 }, { maxStaleness: 3000 }],
    ['the load, before the others', { maxStaleness: 3000 }, { maxStaleness: 2000 }, { maxStaleness: 3000 }],
    ['the read, before the others', { maxStaleness: 3000 }, { maxStaleness: 3000 }, { maxStaleness: 2000 }],
  ])('the shortest counts, here that of %s', async (_, ofMember, ofLoad, ofRead) => {
    let isDown = false;
    const load = (): ReturnType<typeof loaded<string>> => {
      if (isDown) throw new Error('down');
      return loaded('one', ofLoad);
    };
    const { clock, value } = fakeValue<string>(load, { schedule: 1000, ...ofMember, coolDown: 5000 });
    await value.get();
    isDown = true;
    await clock.advance(2000);
    expect(await value.get(ofRead)).toBe('one');
    await clock.advance(1);
    const error = await rejectionOf(value.get(ofRead));
    expect(error).toMatchObject({ code: 'TOO_STALE', age: 2001 });
    expect((error as Error).message).toContain('maxStaleness is 2 s');
  });

  it('where that of the member is the shortest, whenTooStale decides', async () => {
    const { clock, value } = await loadedManualValue({ maxStaleness: 1500, whenTooStale: 'throw' });
    await clock.advance(1600);
    expect(isTicklessError(await rejectionOf(value.get({ maxStaleness: 1550 })), 'TOO_STALE')).toBe(true);
    expect(await settled(value.get({ maxStaleness: 1450 }))).toBe('pending');
  });

  it.each([
    [1450, 'forced'],
    [1550, 'due'],
  ])('only its own, with %i ms, passes over a round that is done', async (maxStaleness, trigger) => {
    const { clock, manual, value } = await loadedManualValue({ maxStaleness: 1500 });
    await clock.advance(1600);
    void value.get({ maxStaleness });
    expect(manual.call(1).context).toMatchObject({ trigger });
  });

  it('of a cache holds for each key, also in getMany', async () => {
    const loads: string[] = [];
    const { clock, cache } = fakeCache({ load: (key) => String(loads.push(key)) });
    await cache.get('a');
    await clock.advance(500);
    await cache.get('b');
    const read = await cache.getMany(['a', 'b'], { maxStaleness: 100 });
    expect([[...read], loads]).toEqual([[['a', '3'], ['b', '2']], ['a', 'b', 'a']]); // biome-ignore format: short
  });

  it('loads anew though the round is done, and where the snapshot of the store is too old', async () => {
    const { cluster, a, b } = await warmPair({ schedule: 10_000 });
    await cluster.clock.advance(2000);
    const read = b.value.get({ maxStaleness: 1000 });
    await cluster.clock.advance(10);
    expect([a.manual.calls.length, b.manual.calls.length]).toEqual([1, 1]);
    await cluster.end(b, 0, 'two');
    expect(await read).toBe('two');
    await cluster.clock.advance(2000);
    const cold = cluster.instance({ schedule: 10_000 });
    const first = cold.value.get({ maxStaleness: 1000 });
    await cluster.clock.advance(10);
    cold.manual.call(0).resolve('three');
    await cluster.clock.advance(10);
    expect(await first).toBe('three');
  });
});
