import { describe, expect, it } from 'vitest';
import { PeriodicExecutor, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { recordEvents, recordLines, wordsOf } from '../../support/events.ts';
import { unspread } from '../../support/unspread.ts';

/** A source that is down or not, with a clock and a logger. */
function world() {
  const clock = new FakeClock();
  const logger = recordLines();
  const source = { isDown: false };
  const load = async (): Promise<number> => {
    if (source.isDown) throw new Error('connect refused');
    return 1;
  };
  const common = { clock, logger, schedule: 1000, retry: { retries: 0 }, random: () => 0 } as const;
  const readFor = async (ms: number, read: () => unknown, eachMs = 250): Promise<void> => {
    for (let passed = 0; passed < ms; passed += eachMs) {
      read();
      await clock.advance(eachMs);
    }
  };
  return { clock, lines: logger.lines, source, load, common, readFor };
}

/** How often each text occurs among the lines. */
function count(lines: readonly string[], ...texts: readonly string[]): number[] {
  return texts.map((text) => lines.filter((line) => line.includes(text)).length);
}

describe('rule 21: an outage is a bounded number of log lines', () => {
  it('of a value and of a task: one when it begins, one a minute, one when it is over', async () => {
    for (const kind of ['value', 'task']) {
      const { lines, source, load, common, readFor } = world();
      const coolDown = 10_000;
      const value = new RefreshingValue({ ...common, name: 'v', load, coolDown });
      const task = new PeriodicExecutor(load, { ...common, name: 'v', coolDown });
      const read = (): unknown => (kind === 'value' ? value.get() : task.requestStart());
      await readFor(2000, read);
      source.isDown = true;
      await readFor(150_000, read);
      source.isDown = false;
      await readFor(20_000, read);
      expect(lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, '…'))).toEqual([
        expect.stringMatching(
          /^warn tickless: v: (background load|run) failed at attempt 1, .*; re(ads|quests) are served, the .* 1 s .*: connect refused$/,
        ),
        expect.stringMatching(
          /: v: still failing after 1 min and 13 failures, (background load|run) failed /,
        ),
        expect.stringMatching(
          /: v: still failing after 2 min and 25 failures, (background load|run) failed /,
        ),
        expect.stringMatching(/: v: recovered after 2 min 30 s and 30 failures$/),
      ]);
    }
  });

  it('of a cache: all keys together, with their number and an example', async () => {
    const { clock, lines, source, load, common, readFor } = world();
    const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
    const loadMany = async (asked: readonly string[]): Promise<Map<string, number>> => {
      const value = await load();
      return new Map(asked.map((key) => [key, value]));
    };
    const own = { name: 'cities', random: unspread, batchSize: 50 };
    const cache = new RefreshingCache({ ...common, loadMany, ...own });
    await cache.getMany(keys);
    await clock.advance(2000);
    source.isDown = true;
    const read = (): unknown => keys.map((key) => cache.peek(key) && cache.get(key));
    await readFor(24_000, read, 1000);
    expect(count(lines, '"k0" and 99 more keys failed', 'recovered')).toEqual([1, 0]);
    expect(lines).toHaveLength(1);
    source.isDown = false;
    await readFor(20_000, read, 1000);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/cities: recovered after \d\d s and \d+00 failures of up to 100 keys$/);
  });

  it('of a source that fails now and then: two lines a minute at most', async () => {
    const { lines, source, load, common, readFor } = world();
    const value = new RefreshingValue({ ...common, name: 'v', load });
    for (let minute = 0; minute < 10; minute++) {
      for (let turn = 0; turn < 15; turn++) {
        source.isDown = turn % 2 === 1;
        await readFor(4000, () => value.get().catch(() => {}));
      }
    }
    expect(lines.length).toBeGreaterThan(9);
    expect(lines.length).toBeLessThanOrEqual(20);
  });

  it('of one key that always fails beside others that do not: two lines a minute at most', async () => {
    const { clock, lines, common, readFor } = world();
    const load = async (key: string): Promise<string> => {
      if (key === 'bad' && clock.monotonic() > 500) throw new Error('bad row');
      return key;
    };
    const cache = new RefreshingCache({ ...common, name: 'c', load, coolDown: 2000 });
    await cache.getMany(['good', 'bad']);
    await readFor(10 * 60_000, () => cache.getMany(['good', 'bad']));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(20);
  });

  it('of a schedule that fails', async () => {
    const { lines, load, common, readFor } = world();
    let isBroken = true;
    const schedule = (): number => (isBroken ? Number.NaN : Number.POSITIVE_INFINITY);
    const value = new RefreshingValue({ ...common, name: 'v', load, schedule, coolDown: 1000 });
    await readFor(50_000, () => value.get());
    isBroken = false;
    await readFor(3000, () => value.get());
    expect(count(lines, 'error tickless: v: next load in', 'the schedule has recovered after')).toEqual([
      1, 1,
    ]);
    expect(lines).toHaveLength(2);
  });

  it('of a lock, of a store and of snapshots that are refused, however often they come and go', async () => {
    const cluster = new ManualCluster();
    const { value, link, logger } = cluster.instance({ load: async () => 'one', schedule: 1000 });
    for (let turn = 0; turn < 60; turn++) {
      const isBroken = turn % 6 < 3;
      if (isBroken) link.break('refused', 'acquire', 'read', 'write');
      else link.mend();
      for (let read = 0; read < 8; read++) {
        await value.get();
        await cluster.clock.advance(1000);
      }
    }
    // Eight minutes, twenty outages of each.
    expect(count(logger.lines, 'lock unavailable')[0]).toBeGreaterThan(0);
    for (const lines of count(logger.lines, 'lock ', 'store ', 'snapshot')) expect(lines).toBeLessThan(18);
  });

  it('listeners change nothing of it', async () => {
    const { lines, source, load, common, readFor } = world();
    const value = new RefreshingValue({ ...common, name: 'v', load });
    const events = recordEvents(value);
    await readFor(2000, () => value.get());
    source.isDown = true;
    await readFor(5000, () => value.get());
    expect(wordsOf(events)).toContain('failed');
    expect(lines).toHaveLength(1);
  });

  it('of causes that change: one a minute, with the cause of then', async () => {
    const { clock, lines, source, common, readFor } = world();
    let cause = 'refused';
    const load = async (): Promise<number> => {
      if (source.isDown) throw new Error(cause);
      return 1;
    };
    const value = new RefreshingValue({ ...common, name: 'v', load, coolDown: 2000 });
    await readFor(2000, () => value.get());
    source.isDown = true;
    await readFor(10_000, () => value.get());
    cause = 'timed out';
    await readFor(60_000, () => value.get());
    expect(lines.map((line) => line.replace(/^.*: /, ''))).toEqual(['refused', 'timed out']);
    await clock.flush();
  });
});
