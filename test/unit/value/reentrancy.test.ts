import { describe, expect, it } from 'vitest';
import { isTicklessError, keep, loaded, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { onEnded, recordEvents, wordsOf } from '../../support/events.ts';
import { fakeValue, loadedManualValue, type ManualValue, manualValue } from '../../support/manual-value.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf, settled } from '../../support/settle.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

// Code of the user that calls back into the value in the middle of things.

describe('listeners that act', () => {
  it('read the new state from within an event', async () => {
    const { clock, manual, value } = await loadedManualValue();
    const seen: unknown[] = [];
    onEnded(value, 'loaded', () => seen.push(value.current, value.inspect().running));
    onEnded(value, 'failed', () => seen.push(value.current, value.inspect().running));
    await clock.advance(1000);
    value.current;
    await clock.flush();
    manual.call(1).resolve('two');
    await clock.advance(1000);
    value.current;
    await clock.flush();
    manual.call(2).reject(new Error('down'));
    await clock.flush();
    expect(seen).toEqual(['two', false, 'two', false]);
  });

  it('may invalidate from within load-started', async () => {
    const { clock, manual, value } = manualValue();
    const off = value.on('load-started', () => {
      off();
      value.invalidate();
    });
    const read = value.get();
    await clock.flush();
    expect(manual.calls).toHaveLength(1);
    manual.call(0).resolve('one');
    expect(await read).toBe('one');
    expect(value.inspect()).toMatchObject({ running: false });
  });

  for (const whenTooStale of ['throw', 'wait'] as const) {
    it(`may refresh from within too-stale (${whenTooStale}): still one load`, async () => {
      const { clock, manual, value } = await loadedManualValue({ maxStaleness: 2000, whenTooStale });
      value.on('too-stale', () => void value.refresh());
      await clock.advance(5000);
      value.get().catch(() => {});
      await clock.flush();
      expect(manual.calls).toHaveLength(2);
      expect(manual.mostLive).toBe(1);
    });
  }

  it('may set from within too-stale: the new value is served', async () => {
    const { clock, value } = await loadedManualValue({ maxStaleness: 2000, whenTooStale: 'throw' });
    value.on('too-stale', () => value.set('by hand'));
    await clock.advance(5000);
    expect(await value.get()).toBe('by hand');
    await clock.advance(5000);
    expect(value.current).toBe('by hand');
  });

  it('may drop the value from within a read: the read still gets it', async () => {
    for (const type of ['stale-served', 'load-started'] as const) {
      const { clock, value } = await loadedManualValue();
      value.on(type, () => value.invalidate({ drop: true }));
      await clock.advance(1000);
      expect(await value.get()).toBe('one');
      value.set('two');
      await clock.advance(1000);
      expect(value.current).toBe('two');
    }
  });

  it('a refresh from within an event gets its own load', async () => {
    const { clock, manual, value } = await loadedManualValue();
    const refreshes: Promise<string>[] = [];
    const again = (): void => {
      if (refreshes.length < 2) refreshes.push(value.refresh());
    };
    onEnded(value, 'failed', again);
    onEnded(value, 'loaded', again);
    const failed = rejectionOf(value.refresh());
    manual.call(1).reject(new Error('down'));
    expect(isTicklessError(await failed, 'LOAD_FAILED')).toBe(true);
    expect(await settled(refreshes[0] as Promise<string>)).toBe('pending');
    manual.call(2).resolve('two');
    expect(await refreshes[0]).toBe('two');
    expect(await settled(refreshes[1] as Promise<string>)).toBe('pending');
    manual.call(3).resolve('three');
    expect(await refreshes[1]).toBe('three');
    await clock.flush();
    expect(manual.mostLive).toBe(1);
  });

  it('may set a fallback from within the event of a failure', async () => {
    const { clock, manual, value } = await loadedManualValue();
    onEnded(value, 'failed', () => value.set('fallback'));
    const events = recordEvents(value);
    const refresh = rejectionOf(value.refresh());
    manual.call(1).reject(new Error('down'));
    await refresh;
    await clock.flush();
    expect(value.current).toBe('fallback');
    expect(wordsOf(events)).toEqual(['load-started', 'failed']);
  });

  it('unsubscribed by one before it, a listener is not called any more', () => {
    const { value } = manualValue();
    const seen: string[] = [];
    value.on('paused', () => {
      seen.push('first');
      off();
    });
    const off = value.on('paused', () => seen.push('second'));
    value.pause();
    expect(seen).toEqual(['first']);
  });
});

describe('loads that act', () => {
  it('a load that always invalidates its own value blocks no other work, and never sticks', async () => {
    for (const isSync of [true, false]) {
      let loads = 0;
      let invalidates = true;
      const value: RefreshingValue<number> = new RefreshingValue({
        name: 'v',
        load: () => {
          loads += 1;
          if (invalidates) value.invalidate();
          return isSync ? loads : Promise.resolve(loads);
        },
      });
      const read = value.get();
      await new Promise((resolve) => setTimeout(resolve, 20)); // a frozen event loop would never get here
      expect(loads).toBeLessThan(100);
      invalidates = false;
      expect(await read).toBe(loads);
      expect(value.inspect().running).toBe(false);
    }
  });

  it('a burst of invalidations while a caller waits costs one load', async () => {
    const { clock, manual, value } = manualValue();
    const read = value.get();
    for (let i = 0; i < 1000; i++) value.invalidate();
    const after = value.get();
    manual.call(0).resolve('old');
    expect(await read).toBe('old');
    await clock.flush();
    expect(manual.calls).toHaveLength(2);
    manual.call(1).resolve('new');
    expect(await after).toBe('new');
  });

  it('a load that reads its own value finds none, and fails at once if it awaits it before its first await', async () => {
    const { value } = fakeValue(async (): Promise<number> => (await value.get()) + 1);
    expect(await rejectionOf(value.get())).toMatchObject({
      code: 'LOAD_FAILED',
      cause: ofOption('load'),
    });
  });

  it('and ends at the deadline if it awaits it later', async () => {
    const { clock, value } = fakeValue(async (): Promise<number> => {
      await undefined;
      return (await value.get()) + 1;
    });
    const read = rejectionOf(value.get());
    await clock.advance(30_000);
    expect(await read).toMatchObject({ code: 'TIMED_OUT' });
  });

  it('a value that loads from a value that cools down waits about as long, not a day', async () => {
    const clock = new FakeClock();
    const load = (): Promise<number> => Promise.reject(new Error('down'));
    const { value: source } = fakeValue(load, { name: 'a', coolDown: { minutes: 1 }, clock });
    await rejectionOf(source.get());
    const { value } = fakeValue(async () => (await source.get()) + 1, { name: 'b', clock });
    const error = await rejectionOf(value.get());
    expect(isTicklessError(error, 'LOAD_FAILED') && isTicklessError(error.cause, 'COOLING_DOWN')).toBe(true);
    const inMs = (status: { nextExecuteTime: number }): number => status.nextExecuteTime - clock.now();
    expect(inMs(value.inspect())).toBe(inMs(source.inspect()));
  });
});

describe('schedules that act', () => {
  it('may inspect the value that they are called for', async () => {
    const { clock, manual, value } = manualValue({
      schedule: ({ endedAt }) => endedAt + 1000 * value.current.length + (value.inspect().age ?? 0),
    });
    const first = value.get();
    await clock.advance(20_000);
    manual.call(0).resolve('three');
    await first;
    expect(value.inspect()).toMatchObject({ loadedAt: clock.now(), nextExecuteTime: clock.now() + 5000 });
    expect(manual.calls).toHaveLength(1);
  });

  it('may invalidate it, and it stays invalidated', async () => {
    const { clock, value } = manualValue({
      schedule: ({ endedAt }) => {
        value.invalidate();
        return endedAt + 1000;
      },
    });
    value.set('one');
    expect(value.inspect()).toMatchObject({ isDue: true, state: 'stale', nextExecuteTime: clock.now() });
  });

  it('may replace themselves', async () => {
    const { clock, value } = manualValue({
      schedule: ({ endedAt }) => {
        value.reschedule(5000);
        return endedAt + 1000;
      },
    });
    value.set('one');
    expect(value.inspect().nextExecuteTime).toBe(clock.now() + 1000);
    value.set('two');
    expect(value.inspect().nextExecuteTime).toBe(clock.now() + 5000);
  });
});

it('callbacks that are asynchronous and reject are logged, never unhandled', async () => {
  const unhandled = unhandledRejections();
  const lines: string[] = [];
  const { clock, manual, value } = await loadedManualValue({
    logger: {
      warn: () => Promise.reject(new Error('logger')),
      error: async (line: string) => {
        lines.push(line);
        throw new Error('logger');
      },
    },
    waitUntil: () => Promise.reject(new Error('platform')),
  });
  value.on('stale-served', () => Promise.reject(new Error('listener')));
  await clock.advance(1000);
  value.current;
  await clock.flush();
  manual.call(1).reject(new Error('down'));
  await clock.flush();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(unhandled).toEqual([]);
  expect(lines.sort()).toEqual([
    'tickless: v: listener of stale-served threw: listener',
    'tickless: v: waitUntil threw: platform',
  ]);
});

it('metadata that the load returned stays over a step of the clock, another schedule, and keep()', async () => {
  let loads = 0;
  const load = async () => (++loads === 1 ? loaded('crl', { maxStaleness: { minutes: 5 } }) : keep());
  const { clock, value } = fakeValue<string>(load, { schedule: { hours: 1 } });
  await value.get();
  clock.stepWall({ hours: -3 });
  await clock.advance({ minutes: 2 });
  await value.get();
  expect(value.inspect().maxStaleness).toBe(300_000);
  value.reschedule({ hours: 2 });
  expect(value.inspect().maxStaleness).toBe(300_000);
  await value.refresh();
  expect(value.inspect()).toMatchObject({ maxStaleness: 300_000, age: 0 });
  value.set('other');
  expect(value.inspect().maxStaleness).toBe(Number.POSITIVE_INFINITY);
});

describe('a listener of the abort of a load that puts a value into place', () => {
  it.each<[string, (made: ManualValue) => unknown]>([
    ['at its deadline', ({ clock }) => clock.advance(1000)],
    ['by cancel()', ({ value }) => value.cancel()],
  ])('wins over its failure %s, alone and behind a lock', async (_, end) => {
    for (const hasBackend of [false, true]) {
      const cluster = new ManualCluster();
      const { lock, store } = cluster.link();
      const made = manualValue({
        clock: cluster.clock,
        timeout: 1000,
        whenFailing: 'throw',
        schedule: 3_600_000,
        ...(hasBackend ? { backend: { lock, store } } : {}),
      });
      const { value, manual, clock } = made;
      const read = value.get();
      await clock.flush();
      const { signal } = manual.call(0).context;
      signal.addEventListener('abort', () => value.set('fallback'));
      end(made);
      await clock.flush();
      manual.call(0).reject(signal.reason);
      await clock.advance(100);
      expect(await read).toBe('fallback');
      expect(value.inspect()).toMatchObject({ state: 'fresh', failures: 0, running: false });
      expect([await value.get(), manual.calls.length]).toEqual(['fallback', 1]);
      const refreshed = value.refresh();
      await clock.advance(100);
      manual.call(1).resolve('loaded');
      await clock.flush();
      expect(await refreshed).toBe('loaded');
    }
  });

  it('wins too where the lease is lost, and the round ends: the load may never settle', async () => {
    const cluster = new ManualCluster();
    const { lock, store } = cluster.link();
    const { value, manual, clock } = manualValue({
      clock: cluster.clock,
      schedule: 3_600_000,
      backend: { lock, store },
    });
    const read = value.get();
    await clock.flush();
    const { signal, token } = manual.call(0).context;
    signal.addEventListener('abort', () => value.set('fallback'));
    await cluster.lock.forceRelease('v', token as number);
    await clock.advance(5000);
    expect(signal.aborted).toBe(true);
    expect(await read).toBe('fallback');
    const refreshed = value.refresh();
    await clock.advance(100);
    manual.call(1).resolve('loaded');
    await clock.flush();
    expect(await refreshed).toBe('loaded');
    const everywhere = value.set('for all');
    await clock.advance(100);
    await everywhere;
  });
});

it('refresh() resolves at once when set() supersedes its load, also behind a lock whose lease lasts on', async () => {
  const cluster = new ManualCluster();
  const { lock, store } = cluster.link();
  const { value, manual, clock } = manualValue({
    clock: cluster.clock,
    schedule: 3_600_000,
    backend: { lock, store },
  });
  const refreshed = value.refresh({ here: true });
  await clock.flush();
  expect(manual.calls.length).toBe(1); // it ignores its signal
  value.set('by hand', { here: true });
  await clock.flush();
  expect(await settled(refreshed)).toEqual({ value: 'by hand' });
});

it('a promise about versions that is dropped is no unhandled rejection', async () => {
  const unhandled = unhandledRejections();
  const value = new RefreshingValue({ name: 'v', load: () => 1, logger: false });
  const dropped = [value.history(), value.rollback({ to: 1, by: 'me' }), value.unpin()];
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(unhandled).toEqual([]);
  for (const promise of dropped) expect(await rejectionOf(promise)).toMatchObject({ code: 'OPTION' });
});
