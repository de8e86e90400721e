import { describe, expect, it, vi } from 'vitest';
import { RefreshGroup, RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { reportOf, runFixture } from './child.ts';
import type { KeyedBytesCandidate, KeyedBytesReport } from './fixtures/keyed-bytes.ts';
import type { Report } from './fixtures/live-timers.ts';

vi.setConfig({ testTimeout: 120_000 }); // processes that fill caches, and measure them again on a busy machine

/** The bytes of an idle key beside lru-cache with a ttl. The target is 1.4, which `npm run bench` measures. */
const MOST = 2;

describe('100,000 keys beside lru-cache with a ttl', () => {
  it('an idle key takes less than twice the bytes', async () => {
    const candidates: KeyedBytesCandidate[] = ['lru-cache with a ttl', 'load', 'async load', 'loadMany'];
    const reports = await Promise.all(
      candidates.map(async (name) =>
        reportOf<KeyedBytesReport>(await runFixture('keyed-bytes', { args: [name], timeoutMs: 110_000 })),
      ),
    );
    expect(reports.map(({ held }) => held)).toEqual(candidates.map(() => 100_000));
    const [lruCache, ...tickless] = reports.map(({ bytesPerKey }) => bytesPerKey) as [number, ...number[]];
    expect(lruCache).toBeGreaterThan(50); // what was measured is a cache
    expect(Math.max(...tickless) / lruCache).toBeLessThanOrEqual(MOST);
  });
});

describe('after bursts of reads', () => {
  it('no timer is left, and the process ends by itself', async () => {
    const ended = await runFixture('keyed-bursts', { args: ['a cache in a group'] });
    const { resources, liveTimers } = reportOf<Report>(ended);
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(ended.lingered).toBeLessThan(30_000);
    expect(liveTimers).toBe(0);
    expect(resources).not.toContain('Timeout');
    expect(resources).not.toContain('Immediate');
  });

  it('control: the timer that lru-cache keeps for its ttl is seen', async () => {
    const ended = await runFixture('keyed-bursts', { args: ['control: lru-cache with a ttl'] });
    expect(reportOf<Report>(ended).liveTimers).toBe(1);
  });
});

describe('counted', () => {
  it('10,000 first reads at once with a batch size of 500 make 20 calls', async () => {
    const sizes: number[] = [];
    const loadMany = async (keys: readonly number[]) => {
      sizes.push(keys.length);
      return new Map(keys.map((key) => [key, -key]));
    };
    const cache = new RefreshingCache({ name: 'c', loadMany, batchSize: 500 });
    const keys = Array.from({ length: 10_000 }, (_, key) => key);
    expect(await Promise.all(keys.map((key) => cache.get(key)))).toEqual(keys.map((key) => -key));
    expect(sizes).toEqual(Array(20).fill(500));
  });

  it('of 100,000 keys loaded together no tenth of a period sees more than 15 % reloaded', async () => {
    const keys = 100_000;
    const clock = new FakeClock();
    let loads = 0;
    const load = (): number => ++loads;
    const cache = new RefreshingCache({ name: 'c', max: keys, load, schedule: { minutes: 10 }, clock });
    /** How many are loaded behind one read each. */
    async function readAll(): Promise<number> {
      const before = loads;
      for (let key = 0; key < keys; key++) cache.current(key);
      await clock.flush();
      return loads - before;
    }
    expect(await readAll()).toBe(keys);
    await clock.advance({ minutes: 10 });
    expect(await readAll()).toBeLessThan(10); // at most those that chance has put at the very first instant
    const tenths: number[] = [];
    for (let tenth = 0; tenth < 10; tenth++) {
      await clock.advance({ minutes: 1 });
      tenths.push(await readAll());
    }
    expect(tenths.reduce((a, b) => a + b)).toBeGreaterThan(keys - 10);
    expect(Math.max(...tenths) / keys).toBeLessThanOrEqual(0.15);
  });

  it('requestStart of a group of 10,000 members touches the 10 that are due', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, schedule: { days: 1 } });
    const touched: string[] = [];
    const due = Array.from({ length: 10 }, (_, i) => `v${i * 997}`);
    for (let i = 0; i < 10_000; i++) {
      const name = `v${i}`;
      const load = async () => touched.push(name);
      group
        .value({ name, load, ...(due.includes(name) ? { schedule: { minutes: 10 + i / 1000 } } : {}) })
        .set(0);
    }
    group.requestStart();
    await clock.flush();
    expect(touched).toEqual([]);
    await clock.advance({ minutes: 20 });
    group.requestStart();
    await clock.flush();
    expect(touched).toEqual(due); // soonest first
  });
});
