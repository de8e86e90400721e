import { describe, expect, it } from 'vitest';
import {
  absent,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
  type ValueOptions,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { recordLines } from '../../support/events.ts';
import { unspread } from '../../support/unspread.ts';

const MINUTE = 60_000;

function world() {
  const clock = new FakeClock();
  const logger = recordLines();
  const source = { isDown: false };
  const load = async (): Promise<number> => {
    if (source.isDown) throw new Error('connect refused');
    return 1;
  };
  const common = { name: 'v', clock, logger, retry: false, random: () => 0 } as const;
  /** One action each second. @returns how many failed. */
  const each = async (seconds: number, action: () => unknown): Promise<number> => {
    let refused = 0;
    for (let second = 0; second < seconds; second++) {
      const end = (async () => action())().catch(() => {
        refused += 1;
      });
      await clock.advance(1000);
      await end;
    }
    return refused;
  };
  return { clock, lines: logger.lines, source, load, common, each };
}

type Options = Partial<ValueOptions<number>>;

/** An hour of outage, with a read each second, of a value in place; then the source is back. */
async function outage(options: Options, read: (value: RefreshingValue<number>) => unknown) {
  const { source, load, common, each, lines } = world();
  const value = new RefreshingValue({ ...common, load, schedule: '10m', maxStaleness: '30m', ...options });
  await value.get();
  source.isDown = true;
  const refused = await each(3600, () => read(value));
  const during = lines.splice(0);
  source.isDown = false;
  await each(200, () => read(value));
  return { refused, during, after: lines };
}

describe('rule 31: an outage is never silent', () => {
  const reads: readonly (readonly [string, Options, (value: RefreshingValue<number>) => unknown])[] = [
    ['whenTooStale wait, get', {}, (value) => value.get()],
    ['whenTooStale throw, get', { whenTooStale: 'throw' }, (value) => value.get()],
    ['whenTooStale wait, current', {}, (value) => value.current],
    ['whenTooStale throw, read', { whenTooStale: 'throw' }, (value) => value.read()],
    ['with patience', {}, (value) => value.get({ patience: 100 })],
    ['a prober beside the reads', {}, (value) => value.requestStart({ wait: false }).then(() => value.get())],
  ];
  it.each(reads)('a value that becomes too old: %s', async (_, options, read) => {
    const { refused, during, after } = await outage(options, read);
    expect(refused).toBeGreaterThan(1700);
    const first = during.findIndex((line) => line.includes('reads are refused'));
    expect(first).toBeGreaterThan(0);
    expect(during[0]).toMatch(
      /reads are served, the value is 10 min.* old, maxStaleness is 30 min: connect refused$/,
    );
    expect(during[first]).toMatch(/reads are refused .*, the value is 30 min.* old, maxStaleness is 30 min/);
    expect(during[first]).toMatch(/connect refused$/);
    expect(during.slice(first).every((line) => line.includes('reads are refused'))).toBe(true);
    expect(during.length).toBeGreaterThan(45);
    expect(during.length).toBeLessThanOrEqual(52);
    expect(during.at(-1)).toMatch(/still failing after 4\d min .*and \d+ failures/);
    expect(after.at(-1)).toMatch(/recovered after .*; reads are served again, 1\d\d\d were refused$/);
  });

  it('whenFailing throw, and maxStaleness of one read', async () => {
    const failing = await outage({ whenFailing: 'throw' }, (value) => value.get());
    expect(failing.during[0]).toMatch(/reads are refused.*the value is 10 min.* old/);
    expect(failing.after.at(-1)).toMatch(/reads are served again/);
    const limited = await outage({ maxStaleness: Infinity }, (value) => value.get({ maxStaleness: '20m' }));
    const some = limited.during.find((line) => /w(as|ere) refused/.test(line));
    expect(some).toMatch(
      /reads are served, 1 was refused \(with maxStaleness 20 min\), the value is 20 min.* old/,
    );
  });

  it('a value that was never loaded, also in the cool-down, by whatever method it is asked for', async () => {
    const ways: readonly ((value: RefreshingValue<number>) => unknown)[] = [
      (value) => value.get(),
      (value) => value.current,
      (value) => value.refresh(),
      (value) => value.requestStart(),
    ];
    for (const ask of ways) {
      const { source, load, common, each, lines } = world();
      source.isDown = true;
      const value = new RefreshingValue({ ...common, load });
      await each(180, () => ask(value));
      expect(lines.length).toBeGreaterThanOrEqual(3);
      expect(lines.length).toBeLessThanOrEqual(4);
      for (const line of lines)
        expect(line).toMatch(/reads are refused.*there is no value.*connect refused$/);
      source.isDown = false;
      await each(100, () => ask(value));
      expect(lines.at(-1)).toMatch(/recovered after/);
    }
  });

  it('a source that hangs, where reads have patience; and reads of a paused value', async () => {
    const { clock, common, lines } = world();
    const hang = () => new Promise<number>(() => {});
    const hanging = new RefreshingValue<number>({ ...common, load: hang, timeout: '10m' });
    for (let second = 0; second < 120; second++) {
      hanging.get({ patience: 200 }).catch(() => {});
      await clock.advance(1000);
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /reads are refused \(1 so far\), there is no value, a load is under way for 200 ms/,
    );
    hanging.cancel();
    await hanging.close({ timeout: 0 });
    lines.splice(0);
    const paused = new RefreshingValue({ ...common, name: 'p', load: () => 1, maxStaleness: '20m' });
    await paused.get();
    paused.pause();
    await clock.advance('21m');
    await paused.get().catch(() => {});
    await undefined;
    expect(lines).toEqual([
      expect.stringMatching(/p: reads are refused \(1 so far\), .*21 min old.*it is paused$/),
    ]);
    paused.resume();
    await paused.get();
    expect(lines[1]).toMatch(/recovered after .*reads are served again, 1 was refused/);
  });

  it('many keys: one line of the cache, with their number', async () => {
    const { source, load, common, each, lines } = world();
    const loadMany = async (keys: readonly string[]): Promise<Map<string, number>> => {
      const value = await load();
      return new Map(keys.map((key) => [key, value]));
    };
    const limits = { schedule: '1m', maxStaleness: '5m' } as const;
    const cache = new RefreshingCache({ ...common, loadMany, ...limits, random: unspread });
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    await cache.getMany(keys);
    source.isDown = true;
    await each(600, () => cache.getMany(keys));
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(lines.at(-1)).toMatch(
      /reads are refused \(\d+ so far, 20 keys\), the value is \d+ min.* old \("k\d+"\), maxStaleness is 5 min.*19 more keys failed/,
    );
    source.isDown = false;
    await each(120, () => cache.getMany(keys));
    expect(lines.at(-1)).toMatch(/recovered .* of up to 20 keys; reads are served again, \d+ were refused$/);
  });

  it('a task: its requests', async () => {
    const { source, load, common, each, lines } = world();
    const task = new PeriodicExecutor(load, { ...common, schedule: '1m', maxStaleness: '5m' });
    await task.requestStart();
    source.isDown = true;
    await each(600, () => task.requestStart());
    expect(lines[0]).toMatch(/requests are served, the last success was 1 min.* ago, maxStaleness is 5 min/);
    expect(lines.at(-1)).toMatch(/requests are refused \(\d+ so far\), the last success was \d+ min.* ago/);
  });

  it('not: absent keys, mistakes, the signal of the reader, reads before the first load has ended, after close', async () => {
    const { common, lines, clock } = world();
    const cache = new RefreshingCache<string, number>({ ...common, load: () => absent() });
    await cache.get('x').catch(() => {});
    const value = new RefreshingValue<number>({ ...common, load: () => new Promise(() => {}) });
    expect(() => value.current).toThrow();
    await value.get({ signal: AbortSignal.abort() }).catch(() => {});
    await value.get({ patience: -1 }).catch(() => {});
    void value.close({ timeout: 0 });
    await value.get().catch(() => {});
    await clock.flush();
    expect(lines.filter((line) => !line.includes('closed after'))).toEqual([]);
  });

  it('outages that come and go: bounded, and each refused read is counted', async () => {
    const { source, load, common, each, lines } = world();
    const times = { schedule: 1000, maxStaleness: 1500, coolDown: 1000 };
    const value = new RefreshingValue({ ...common, load, ...times });
    let refused = 0;
    for (let turn = 0; turn < 60; turn++) {
      source.isDown = turn % 2 === 1;
      refused += await each(7, () => value.get());
    }
    source.isDown = true;
    refused += await each(130, () => value.get());
    source.isDown = false;
    await each(10, () => value.get());
    const counted = lines.flatMap((line) => /(\d+) w\w+ refused$/.exec(line)?.[1] ?? []).map(Number);
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(refused);
    expect(lines.length).toBeLessThanOrEqual(2 * ((60 * 7 + 140) / 60) + 8);
  });

  it('a group that is not ready: one line with the reason of each member, one when it is ready', async () => {
    const { clock, source, load, lines, common } = world();
    const { name: _, ...shared } = common;
    const group = new RefreshGroup(shared);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      group.value({ name, required: true, load, logger: false });
    group.value({ name: 'fine', required: true, load: () => 1 });
    source.isDown = true;
    for (let probe = 0; probe < 5; probe++) {
      const ready = group.ready({ timeout: '5s' });
      await clock.advance('5s');
      expect((await ready).ok).toBe(false);
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /group: not ready within 5 s, 6 of 7 required members: a: is required, .*: connect refused; b: .*; e: .*; and 1 more$/,
    );
    source.isDown = false;
    const ready = group.ready();
    await clock.advance(MINUTE);
    expect((await ready).ok).toBe(true);
    expect(lines[1]).toMatch(/group: ready after/);
  });

  it('a backend: once, under its own name, whatever members and parts meet it', async () => {
    const cluster = new ManualCluster();
    const logger = recordLines();
    const instances = Array.from({ length: 3 }, (_, index) =>
      cluster.instance({ name: `m${index}`, load: async () => 'one', schedule: 1000, logger }),
    );
    for (const { value } of instances) await value.get();
    for (const { link } of instances) link.break('refused', 'acquire', 'read', 'write');
    for (let read = 0; read < 20; read++) {
      await Promise.all(instances.map(({ value }) => value.get()));
      await cluster.clock.advance(1000);
    }
    for (const line of logger.lines)
      expect(line).toMatch(/tickless: \w+: ((lock|store) unavailable, |the snapshot of m\d can't)/);
    for (const line of logger.lines) expect(line).not.toMatch(/ m\d: /);
  });
});
