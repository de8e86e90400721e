import { describe, expect, it } from 'vitest';
import { RefreshGroup, type TicklessError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { loadedManualValue } from '../../support/manual-value.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

const COOL_DOWN = 100;
const options = { whenFailing: 'throw', coolDown: COOL_DOWN, random: () => 0.999 } as const;

describe("whenFailing: 'throw'", () => {
  it('rejects with the error of the failed reload, until one has succeeded', async () => {
    const { clock, manual, value } = await loadedManualValue(options);
    await clock.advance(1000);
    expect(await value.get()).toBe('one'); // starts the reload
    await clock.flush();
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    const { lastError } = value.inspect();
    expect((lastError as TicklessError).message).toContain('down');
    expect(await rejectionOf(value.get())).toBe(lastError);
    expect(await rejectionOf(value.get({ patience: 50 }))).toBe(lastError);
    expect(thrownBy(() => value.current)).toBe(lastError);
    expect([value.peek(), manual.calls.length]).toEqual(['one', 2]);
    await clock.advance(COOL_DOWN);
    expect(await rejectionOf(value.get())).toBe(lastError); // starts the next one
    await clock.flush();
    manual.call(2).resolve('two');
    await clock.flush();
    expect([await value.get(), value.current]).toEqual(['two', 'two']);
  });

  it('holds for a refresh() that failed before the value is due, over steps of the clock and reschedule', async () => {
    const { clock, manual, value } = await loadedManualValue(options);
    const refresh = rejectionOf(value.refresh());
    manual.call(1).reject(new Error('down'));
    const error = await refresh;
    for (const change of [() => {}, () => clock.stepWall({ hours: -5 }), () => value.reschedule(5000)]) {
      change();
      expect(await rejectionOf(value.get())).toBe(error);
      expect(thrownBy(() => value.current)).toBe(error);
    }
    value.set('by hand');
    expect(await value.get()).toBe('by hand');
  });

  it('does not hold for a schedule that failed: the value was loaded', async () => {
    const schedule = (): number => Number.NaN;
    const { value } = await loadedManualValue({ ...options, schedule });
    expect([value.inspect().failures, await value.get()]).toEqual([1, 'one']);
  });

  it('holds for each key of a cache by itself, and as a default of a group', async () => {
    let isDown = false;
    const load = (key: string): string => {
      if (isDown && key === 'a') throw new Error('down');
      return key;
    };
    const clock = new FakeClock();
    const { cache } = fakeCache({ ...options, load, clock, group: new RefreshGroup({ clock, ...options }) });
    await cache.getMany(['a', 'b']);
    isDown = true;
    await cache.refresh('a').catch(() => {});
    expect(await rejectionOf(cache.get('a'))).toMatchObject({ code: 'LOAD_FAILED', key: 'a' });
    expect(thrownBy(() => cache.current('a'))).toMatchObject({ code: 'LOAD_FAILED' });
    expect(await cache.get('b')).toBe('b');
  });
});
