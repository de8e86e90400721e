import { describe, expect, it } from 'vitest';
import { cron, dailyAt } from '../../../src/calendar/index.ts';
import {
  type Execution,
  fixedRate,
  isTicklessError,
  PeriodicExecutor,
  RefreshGroup,
  withJitter,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { isOutcome, onCoolDown, recordEvents, recordLines } from '../../support/events.ts';
import { fakeValue, loadedManualValue } from '../../support/manual-value.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

describe('rule 22: after an outage a value is fresh again within one period', () => {
  it.each([
    [{ schedule: 10_000 }, 10_000],
    [{ schedule: 200 }, 1000],
    [{ schedule: { hours: 1 } }, 120_000],
    [{ schedule: 10_000, coolDown: { max: 60_000 } }, 60_000],
    [{ schedule: 10_000, coolDown: { initial: 20_000 } }, 20_000],
  ])('%j: the longest cool-down is %i ms', async (options, longest) => {
    const delays: number[] = [];
    const load = (): Promise<number> => Promise.reject(new Error('down'));
    const { clock, value } = fakeValue(load, { ...options, random: () => 0.999_999_9 });
    onCoolDown(value, (delay) => void delays.push(Math.round(delay)));
    for (let i = 0; i < 12; i++) {
      void value.get();
      await clock.advance(121_000);
    }
    expect(Math.max(...delays)).toBe(longest);
  });

  it.each([
    ['a function', ({ endedAt }: Execution) => endedAt + 10_000, {}, 10_000],
    ['a cron line', cron('*/10 * * * * *'), {}, 10_000],
    ['a short grid', fixedRate(200), {}, 1000],
    ['a calendar', dailyAt('05:00'), {}, 120_000],
    [
      'a function, of reads that reject',
      ({ endedAt }: Execution) => endedAt + 10_000,
      { whenFailing: 'throw' },
      10_000,
    ],
  ] as const)(
    '%s: the time until the next load is known once a load has succeeded',
    async (_, schedule, options, longest) => {
      const delays: number[] = [];
      let isDown = false;
      const load = async (): Promise<number> => (isDown ? Promise.reject(new Error('down')) : 1);
      const { clock, value } = fakeValue(load, { schedule, ...options, random: () => 0.999_999_9 });
      onCoolDown(value, (delay) => void delays.push(Math.round(delay)));
      await value.get();
      isDown = true;
      await clock.advance(86_400_000);
      for (let i = 0; i < 12; i++) {
        await value.get().catch(() => {});
        await clock.advance(121_000);
      }
      expect(Math.max(...delays)).toBe(longest);
    },
  );

  it("by the group's schedule too", async () => {
    const clock = new FakeClock();
    const quiet = { clock, logger: false, retry: false } as const;
    const group = new RefreshGroup({ ...quiet, schedule: 10_000, random: () => 0.999_999_9 });
    const value = group.value({ name: 'v', load: (): Promise<number> => Promise.reject(new Error('down')) });
    const delays: number[] = [];
    onCoolDown(value, (delay) => void delays.push(Math.round(delay)));
    for (let i = 0; i < 12; i++) {
      void value.get();
      await clock.advance(121_000);
    }
    expect(Math.max(...delays)).toBe(10_000);
  });
});

describe('rule 5: after a failed reload there is always a cool-down', () => {
  it('40 reads during an outage cause one load per cool-down, and all are served', async () => {
    let loads = 0;
    let isDown = false;
    const { clock, value } = fakeValue(
      async () => {
        loads += 1;
        if (isDown) throw new Error('down');
        return 'old';
      },
      { schedule: 20, coolDown: { max: 120_000 } },
    );
    await value.get();
    isDown = true;
    let cooledDown = 0;
    onCoolDown(value, () => {
      cooledDown += 1;
    });
    for (let read = 0; read < 40; read++) {
      await clock.advance(100);
      expect(await value.get()).toBe('old');
    }
    await clock.flush();
    expect(loads - 1).toBe(cooledDown);
    // 4 s of outage, cool-downs of 0.5 to 1 s, 1 to 2 s, 2 to 4 s: at most 4 loads.
    expect(loads - 1).toBeGreaterThanOrEqual(2);
    expect(loads - 1).toBeLessThanOrEqual(4);
  });

  it('grows from half to all of 1 s by factor 2 up to 2 minutes, and starts anew after a success', async () => {
    const clock = new FakeClock();
    let isDown = true;
    for (const [random, share] of [
      [0, 0.5],
      [0.999999, 1],
    ] as const) {
      const load = async (): Promise<number> => {
        if (isDown) throw new Error('down');
        return 1;
      };
      const { value } = fakeValue(load, { clock, random: () => random });
      const delays: number[] = [];
      onCoolDown(value, (delay) => void delays.push(Math.round(delay) / share));
      isDown = true;
      for (let i = 0; i < 9; i++) {
        await rejectionOf(value.get());
        await clock.advance(120_000);
      }
      expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 120_000, 120_000]);
      isDown = false;
      await value.get();
      isDown = true;
      await rejectionOf(value.refresh());
      expect(delays.at(-1)).toBe(1000);
    }
  });

  it('ends with a forced load that succeeds: the next due read starts a load', async () => {
    const { clock, manual, value } = await loadedManualValue({ coolDown: 60_000 });
    await clock.advance(1000);
    value.current;
    await clock.flush();
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    await clock.advance(1000);
    value.current;
    await clock.flush();
    expect(manual.calls).toHaveLength(2); // it cools down
    const refreshed = value.refresh();
    manual.call(2).resolve('two');
    expect(await refreshed).toBe('two');
    expect(value.inspect()).toMatchObject({ state: 'fresh', nextExecuteTime: clock.now() + 1000 });
    await clock.advance(1000);
    expect(value.current).toBe('two');
    await clock.flush();
    expect(manual.calls).toHaveLength(4);
  });

  it('rejects cold readers inside it at once, with the last error as cause', async () => {
    let loads = 0;
    const { clock, value } = fakeValue(async () => {
      loads += 1;
      throw new Error('down');
    });
    const loadError = await rejectionOf(value.get());
    expect(isTicklessError(loadError, 'LOAD_FAILED')).toBe(true);
    for (let i = 0; i < 40; i++) {
      const error = await rejectionOf(value.get());
      expect(isTicklessError(error, 'COOLING_DOWN') && error.cause).toBe(loadError);
      const thrown = thrownBy(() => value.current);
      expect(isTicklessError(thrown, 'NOT_LOADED') && thrown.cause).toBe(loadError);
    }
    expect(loads).toBe(1);
    await clock.advance(1000);
    expect(isTicklessError(await rejectionOf(value.get()), 'LOAD_FAILED')).toBe(true);
    expect(loads).toBe(2);
  });

  it('holds for executors, synchronous loads and after invalidate', async () => {
    const clock = new FakeClock();
    let runs = 0;
    const executor = new PeriodicExecutor(
      () => {
        runs += 1;
        throw new Error('down');
      },
      { name: 'e', clock },
    );
    expect(thrownBy(() => executor.requestStart())).toMatchObject({ code: 'LOAD_FAILED' });
    for (let i = 0; i < 10; i++) {
      expect(thrownBy(() => executor.requestStart())).toMatchObject({ code: 'COOLING_DOWN' });
    }
    expect(runs).toBe(1);

    const { value } = fakeValue((): number => {
      runs += 1;
      throw new Error('down');
    });
    for (let i = 0; i < 10; i++) {
      thrownBy(() => value.current);
      value.invalidate();
    }
    expect(runs).toBe(2);
  });

  it('refresh and execute ignore it', async () => {
    let loads = 0;
    const { value } = fakeValue(async () => {
      loads += 1;
      throw new Error('down');
    });
    await rejectionOf(value.refresh());
    await rejectionOf(value.refresh());
    expect(loads).toBe(2);
  });

  for (const [name, random] of Object.entries<() => unknown>({
    throws: () => {
      throw new Error('no entropy');
    },
    'is NaN': () => Number.NaN,
    'is negative': () => -1,
    'is 1': () => 1,
    'is infinite': () => Number.POSITIVE_INFINITY,
    'is not a number': () => 'x',
  })) {
    it(`holds with a source of randomness that ${name}, which is logged`, async () => {
      const logger = recordLines();
      const { clock, value } = fakeValue((): Promise<number> => Promise.reject(new Error('down')), {
        schedule: withJitter({ minutes: 1 }, { seconds: 5 }),
        retry: { retries: 1, minTimeout: 10, randomize: true },
        random: random as () => number,
        logger,
      });
      const rejection = rejectionOf(value.get());
      await clock.advance(20);
      expect(isTicklessError(await rejection, 'LOAD_FAILED')).toBe(true);
      const rest = value.inspect().nextExecuteTime - clock.now();
      expect(rest).toBeGreaterThan(450);
      expect(rest).toBeLessThanOrEqual(1000);
      value.set(1);
      expect(value.inspect()).toMatchObject({ failures: 0, state: 'fresh' });
      const faults = logger.lines.filter((line) => line.startsWith('error '));
      expect(faults).toEqual([expect.stringMatching(/^error tickless: v: random /)]); // one a minute
    });
  }

  it('lasts at least as long as the source asks by Retry-After', async () => {
    const response = new Response(null, { headers: { 'retry-after': '600' } });
    const busy = Object.assign(new Error('503'), { response });
    const { clock, value } = fakeValue((): Promise<number> => Promise.reject(busy));
    const events = recordEvents(value);
    await rejectionOf(value.get());
    expect(events.find(isOutcome('failed'))).toMatchObject({ retryAt: clock.now() + 600_000 });
    expect(value.inspect().nextExecuteTime).toBe(clock.now() + 600_000);
  });
});
