import { describe, expect, it } from 'vitest';
import { PeriodicExecutor, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordEvents, wordsOf } from '../../support/events.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { loadedManualValue } from '../../support/manual-value.ts';

describe('rule 1: never two live executions; a load past its timeout is aborted, freed, and dropped', () => {
  it('reads, requests and refreshes during a load start no second one', async () => {
    const { clock, manual, value } = await loadedManualValue();
    await clock.advance(1000);
    for (let i = 0; i < 50; i++) {
      value.current;
      void value.get();
      void value.requestStart();
      void value.refresh();
      await clock.advance(100);
    }
    const refresh = value.refresh();
    manual.call(1).resolve('two');
    expect(await refresh).toBe('two');
    expect(manual.calls).toHaveLength(2);
    expect(manual.mostLive).toBe(1);
  });

  it('a read during a load does not count as starting one: the platform gets one promise per load', async () => {
    const ends: Promise<unknown>[] = [];
    const { clock, manual, value } = await loadedManualValue({ waitUntil: (end) => void ends.push(end) });
    await clock.advance(1000);
    for (let i = 0; i < 50; i++) {
      value.current;
      void value.get();
    }
    await clock.flush();
    expect([manual.calls.length, ends.length]).toEqual([2, 1]);
    manual.call(1).resolve('two');
    await Promise.all(ends);
  });

  it('an executor neither', async () => {
    const clock = new FakeClock();
    const manual = new ManualLoad<void>();
    const executor = new PeriodicExecutor(manual.load as () => Promise<void>, {
      name: 'e',
      schedule: 10,
      clock,
    });
    const executions = [executor.execute(), executor.requestStart(), executor.execute()];
    expect(manual.calls).toHaveLength(1);
    manual.call(0).resolve();
    await Promise.all(executions);
    expect(manual.mostLive).toBe(1);
  });

  it('frees the slot at the deadline, and drops the late result', async () => {
    const { clock, manual, value } = await loadedManualValue({ timeout: 5000, coolDown: 100 });
    const events = recordEvents(value);
    await clock.advance(2000);
    expect(value.current).toBe('one');
    await clock.advance(4999);
    expect(manual.call(1).context.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(manual.call(1).context.signal.aborted).toBe(true);
    expect(value.inspect().running).toBe(false);

    await clock.advance(1000);
    value.current;
    await clock.flush();
    manual.call(2).resolve('new');
    await clock.flush();
    manual.call(1).resolve('late');
    await clock.flush();
    expect(value.peek()).toBe('new');
    expect(manual.mostLive).toBe(1);
    expect(wordsOf(events)).toEqual([
      'load-started',
      'stale-served',
      'timed-out',
      'load-started',
      'stale-served',
      'loaded',
      'late',
    ]);
  });

  it('a key that leaves the full cache during its load has no second one', async () => {
    const clock = new FakeClock();
    const calls: string[] = [];
    const load = (key: string): Promise<string> | string => {
      calls.push(key);
      return calls.length === 1 || key === 'b' ? `of ${key}` : new Promise<string>(() => {});
    };
    const cache = new RefreshingCache({ name: 'c', load, max: 1, schedule: 1000, clock, logger: false });
    await cache.get('a');
    await clock.advance(1000);
    void cache.get('a'); // due: its second load hangs
    await clock.flush();
    await cache.get('b'); // takes its place
    void cache.get('a').catch(() => {});
    await clock.flush();
    expect(calls).toEqual(['a', 'a', 'b']);
  });
});
