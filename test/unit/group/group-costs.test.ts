import { describe, expect, it } from 'vitest';
import { type Execution, RefreshingCache, withJitter } from '../../../src/index.ts';
import { CountingClock, manualGroup as make } from '../../support/manual-group.ts';

const HOUR = 3_600_000;

describe('costs', () => {
  /** A group of that many members, of which 10 are due again 10 ms after each load. */
  async function ofMembers(count: number) {
    const { clock, group, started, value } = make({ timeout: Infinity });
    const reader = value('reader', 24 * HOUR);
    for (let at = 1; at < count; at++) value(`${at}`, at <= 10 ? 10 : 24 * HOUR);
    await clock.advance(10);
    return { clock, group, started, reader };
  }

  it('a request touches the 10 that are due, of 10,000 as of 100', async () => {
    const asked: number[] = [];
    for (const count of [100, 10_000]) {
      const { clock, group, started } = await ofMembers(count);
      const before = clock.asked;
      group.requestStart();
      for (let i = 0; i < 5; i++) await clock.flush();
      expect(started.sort()).toEqual(Array.from({ length: 10 }, (_, at) => `${at + 1}`).sort());
      asked.push(clock.asked - before);
    }
    expect(asked[1]).toBe(asked[0]);
    expect(asked[0]).toBeLessThan(200);
  });

  it('a request of a cache touches the 10 keys that are due, and costs the same with 10,000 keys as with 100', async () => {
    const caches = [100, 10_000].map((count) => {
      const clock = new CountingClock();
      const started = new Set<number>();
      const load = async (key: number) => {
        started.add(key);
        return key;
      };
      const due = ({ endedAt, result }: Execution) => endedAt + ((result as number) < 10 ? 10 : HOUR);
      const cache = new RefreshingCache({ name: 'c', load, schedule: withJitter(due, 0), clock });
      for (let key = 0; key < count; key++) cache.set(key, key);
      return { clock, cache, started, times: [] as number[], asked: [] as number[] };
    });
    for (let round = 0; round < 60; round++) {
      for (const { clock, cache, started, times, asked } of caches) {
        await clock.advance(10);
        started.clear();
        const before = clock.asked;
        const start = performance.now();
        const end = cache.requestStart({ wait: true });
        times.push(performance.now() - start);
        await end;
        asked.push(clock.asked - before);
        expect([...started].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      }
    }
    expect(caches[1]?.asked.slice(1)).toEqual(caches[0]?.asked.slice(1)); // the first scanned all keys
    const [small = 0, large = 0] = caches.map(({ times }) => times.sort((a, b) => a - b)[30] as number);
    expect(large / small).toBeLessThan(10); // a scan of all keys each time takes 20 times as long and more
  });

  it('a read compares the clock once while no member is due, and otherwise as often with 10,000 members as with 10', async () => {
    const asked: number[] = [];
    for (const count of [11, 10_000]) {
      const { clock, started, reader } = await ofMembers(count);
      let before = clock.asked;
      reader.current;
      asked.push(clock.asked - before);
      for (let i = 0; i < 5; i++) await clock.flush();
      expect(started).toHaveLength(10);
      before = clock.asked;
      reader.current;
      void reader.get();
      expect(clock.asked - before).toBe(2);
    }
    expect(asked[1]).toBe(asked[0]);
  });

  it('a read takes as long with 10,000 members as with 10, fresh or piggybacking', async () => {
    const groups = [await ofMembers(11), await ofMembers(10_000)];
    /** The longer of both medians by the shorter, for reads that are measured in turns. */
    async function ratio(reads: number, pause: number): Promise<number> {
      const times: number[][] = [[], []];
      for (let round = 0; round < 300; round++) {
        for (const [which, { clock, reader }] of groups.entries()) {
          await clock.advance(pause);
          const start = performance.now();
          for (let read = 0; read < reads; read++) reader.current;
          times[which]?.push(performance.now() - start);
          await clock.flush();
        }
      }
      const [small = 0, large = 0] = times.map((list) => list.sort((a, b) => a - b)[150] as number);
      return large / small;
    }
    for (const [reads, pause] of [
      [2000, 0],
      [1, 10],
    ] as const) {
      await ratio(reads, pause); // warm
      const loadsBefore = groups.map(({ started }) => started.length);
      const ratios = [await ratio(reads, pause), await ratio(reads, pause), await ratio(reads, pause)];
      const loads = groups.map(({ started }, which) => started.length - (loadsBefore[which] as number));
      expect(loads.every((count) => (pause === 0 ? count === 0 : count > 900))).toBe(true);
      expect(Math.min(...ratios)).toBeLessThan(4); // a scan of all members takes 1000 times as long
    }
  });
});
