import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { RefreshGroup, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { MachineClock } from '../../support/cluster.ts';

const HOUR = 3_600_000;

/** More timers than a wait needs: one that begins anew at once would hang the test. */
class CountedClock extends MachineClock {
  timers = 0;
  override setTimeout(callback: () => void, delayMs: number): ReturnType<FakeClock['setTimeout']> {
    this.timers += 1;
    if (this.timers > 500) throw new Error('it waits again and again');
    return super.setTimeout(callback, delayMs);
  }
}

describe.each([-HOUR, 0, HOUR])(
  'the wall clock of the machine is %d ms ahead of that of the lock',
  (wrongBy) => {
    it('ready() tries again after each cool-down, no sooner and no later', async () => {
      const base = new FakeClock();
      const clock = new CountedClock(base, wrongBy);
      const quiet = { clock, logger: false, retry: false } as const;
      const group = new RefreshGroup({ ...quiet, coolDown: '10s', random: () => 0.999 });
      let loads = 0;
      const load = (): number => {
        loads += 1;
        if (loads < 4) throw new Error('down');
        return loads;
      };
      group.value({ name: 'v', load, backend: memoryBackend({ clock: base }), required: true });
      const ready = group.ready({ timeout: Infinity });
      await base.advance(100);
      const seen = [loads];
      for (let i = 0; i < 3; i += 1) {
        await base.advance(11_000);
        seen.push(loads);
      }
      expect(seen).toEqual([1, 2, 3, 4]);
      expect((await ready).ok).toBe(true);
      await group.close();
    });

    it('a load that reads a value which cools down waits for the end of that cool-down', async () => {
      const base = new FakeClock();
      const clock = new CountedClock(base, wrongBy);
      const common = { clock, logger: false, retry: false, random: () => 0.999 } as const;
      let isUp = false;
      let loads = 0;
      const source = new RefreshingValue({
        ...common,
        name: 'source',
        load: () => {
          loads += 1;
          if (!isUp) throw new Error('down');
          return 1;
        },
        coolDown: '60s',
      });
      const outer = new RefreshingValue({
        ...common,
        name: 'outer',
        load: () => source.get(),
        coolDown: '1s',
        backend: memoryBackend({ clock: base }),
      });
      await source.get().catch(() => {});
      await outer.get().catch(() => {});
      isUp = true;
      const get = async (): Promise<unknown> => {
        const answer = outer.get().catch(() => 'refused');
        await base.advance(100);
        return answer;
      };
      await base.advance(50_000);
      expect([await get(), loads]).toEqual(['refused', 1]);
      await base.advance(11_000);
      expect([await get(), loads]).toEqual([1, 2]);
    });
  },
);
