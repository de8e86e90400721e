import { describe, expect, it } from 'vitest';
import { dailyAt } from '../../../src/calendar/index.ts';
import { loaded } from '../../../src/index.ts';
import { firstOf } from '../../../src/sources/index.ts';
import { ManualCluster, warmOne } from '../../support/cluster.ts';

const HOUR = 3_600_000;

describe("rule 17: only the server's clock decides", () => {
  it('instances whose wall clocks are hours apart agree on when it is five o’clock', async () => {
    const cluster = new ManualCluster(); // it is noon
    const { clock } = cluster;
    const schedule = dailyAt('17:00', { zone: 'UTC' });
    const right = cluster.instance({ schedule });
    const ahead = cluster.instance({ schedule }, 3 * HOUR);
    const behind = cluster.instance({ schedule }, -3 * HOUR);
    const all = [ahead, right, behind];
    const reads = all.map(({ value }) => value.get());
    await clock.flush();
    ahead.manual.call(0).resolve('one');
    await clock.advance(1000);
    await Promise.all(reads);
    const readAll = async (): Promise<void> => {
      for (const { value } of all) value.current;
      await clock.advance(1000);
    };
    const five = Date.UTC(2026, 10, 20, 17);
    expect(ahead.value.inspect().nextExecuteTime).toBe(five);
    await clock.advance(five - clock.now() - 60_000);
    await readAll();
    expect(all.map(({ manual }) => manual.calls.length)).toEqual([1, 0, 0]);
    await clock.advance(five - clock.now() + 1000);
    await readAll();
    expect(all.map(({ manual }) => manual.calls.length)).toEqual([2, 0, 0]);
    ahead.manual.call(1).resolve('two');
    await clock.advance(1000);
    await readAll();
    expect(all.map(({ value }) => value.peek())).toEqual(['two', 'two', 'two']);
    for (const { value } of all) {
      expect(value.inspect().nextExecuteTime).toBeGreaterThanOrEqual(five + 24 * HOUR);
      expect(value.inspect().nextExecuteTime).toBeLessThan(five + 24 * HOUR + 100);
    }
  });

  it.each([5, -5])(
    'a duration of the load is one, also where the clock of its machine is off by %d h',
    async (hours) => {
      const cluster = new ManualCluster();
      const a = cluster.instance({ schedule: '1h' }, hours * HOUR);
      const read = a.value.get();
      await cluster.clock.flush();
      a.manual.call(0).resolve(loaded('one', { dueAfter: '10m' }) as never);
      await cluster.clock.advance(1000);
      expect(await read).toBe('one');
      await cluster.readAfter({ minutes: 9 }, a);
      expect(a.manual.calls).toHaveLength(1);
      await cluster.readAfter({ minutes: 1 }, a);
      expect(a.manual.calls).toHaveLength(2);
    },
  );

  it.each([5, -5])(
    'a backup is replaced at its cool-down, also where the clock of its machine is off by %d h',
    async (hours) => {
      const cluster = new ManualCluster();
      const load = firstOf(
        () => Promise.reject(new Error('down')),
        async () => 'backup',
        { coolDown: '10m' },
      );
      const a = cluster.instance({ schedule: '1h', load: load as never }, hours * HOUR);
      const read = a.value.get();
      await cluster.clock.advance(1000);
      expect(await read).toBe('backup');
      const { nextExecuteTime, failures } = a.value.inspect();
      expect(failures).toBe(0);
      expect(nextExecuteTime - cluster.clock.now()).toBeGreaterThan(HOUR / 60);
      expect(nextExecuteTime - cluster.clock.now()).toBeLessThan(HOUR / 6);
    },
  );

  it('the age of a snapshot is what the engine says, not what wall clocks tell', async () => {
    const cluster = new ManualCluster();
    const a = cluster.instance({ schedule: { hours: 1 } }, 5 * HOUR);
    await cluster.load(a, 'one');
    await cluster.clock.advance({ minutes: 10 });
    const b = cluster.instance({ schedule: { hours: 1 } }, -5 * HOUR);
    expect(await b.value.get()).toBe('one');
    expect(b.value.inspect().age).toBe(600_000);
    await cluster.readAfter({ minutes: 49 }, b);
    expect(b.link.take()).toEqual(['read']);
    await cluster.readAfter(61_000, b);
    expect(b.manual.calls).toHaveLength(1);
  });

  it('a step of an instance’s own wall clock moves nothing, neither calendar nor durations', async () => {
    const cluster = new ManualCluster();
    const a = cluster.instance({ schedule: dailyAt('17:00', { zone: 'UTC' }) });
    const own = { by: 0 };
    const now = a.clock.now.bind(a.clock);
    a.clock.now = () => now() + own.by;
    await cluster.load(a, 'one');
    own.by = 6 * HOUR;
    for (let minute = 0; minute < 5; minute++) {
      await cluster.clock.advance({ minutes: 1 });
      a.value.current;
    }
    await cluster.clock.flush();
    expect(a.manual.calls).toHaveLength(1);
    expect(a.value.inspect().nextExecuteTime).toBe(Date.UTC(2026, 10, 20, 17));
  });

  it('without an answer of the engine the machine’s own clock is used', async () => {
    const cluster = new ManualCluster();
    const a = cluster.instance({ schedule: dailyAt('17:00', { zone: 'UTC' }) }, 3 * HOUR);
    a.link.break('refused', 'acquire', 'read');
    await cluster.load(a, 'one');
    expect(a.value.inspect().nextExecuteTime).toBe(Date.UTC(2026, 10, 20, 17));
    await cluster.clock.advance(2 * HOUR + 1000); // here it is five
    await cluster.read(a);
    expect(a.manual.calls).toHaveLength(2);
  });

  it('only durations travel', async () => {
    const { cluster, a } = await warmOne();
    const sent = a.link.commands;
    void a.value.refresh();
    await cluster.clock.flush();
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(LOOK_MS);
    const text = JSON.stringify(sent.map(({ args }) => args))
      .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'an id')
      .replaceAll(/[\da-f]{64}/g, 'a digest');
    const numbers = text.match(/\d{12,}/g) ?? [];
    const tokens = [0, 1].map((call) => `${a.manual.call(call).context.token}`);
    expect(numbers.filter((number) => !tokens.includes(number))).toEqual([]);
  });
});

const LOOK_MS = 100;
