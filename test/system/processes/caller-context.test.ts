import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PeriodicExecutor, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const request = new AsyncLocalStorage<string>();

// What rule 10 does not say of reads, reloads, tries and events.
describe('the AsyncLocalStorage of a caller', () => {
  it.each([
    ['synchronous', (note: () => number): number | Promise<number> => note()],
    ['asynchronous', (note: () => number) => sleep(1).then(note)],
  ])('does not reach the successor of a load, nor a timer in it: %s', async (_, work) => {
    const seen: (string | undefined)[] = [];
    const note = (): number => seen.push(request.getStore());
    const load = (): number | Promise<number> => {
      note();
      return work(note);
    };
    const value = new RefreshingValue({ name: 'v', load, logger: false });
    await request.run('a', () => value.requestStart());
    const refreshing = request.run('b', () => value.refresh());
    request.run('c', () => value.invalidate());
    await refreshing;
    await request.run('d', () => value.requestStart({ wait: true }));
    expect(seen.length).toBeGreaterThanOrEqual(6);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  it('nor the task of an executor, nor the schedule', async () => {
    const seen: unknown[] = [];
    const note = (): number => seen.push(request.getStore());
    const schedule = ({ endedAt }: { readonly endedAt: number }): number => endedAt + 1000 + 0 * note();
    const executor = new PeriodicExecutor(note, { name: 'e', schedule, clock: new FakeClock() });
    await request.run('a', () => executor.requestStart());
    await request.run('b', () => executor.execute());
    expect(seen).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is there after an await, also for callers that share one load', async () => {
    const value = new RefreshingValue({ name: 'v', load: () => sleep(1, 1) });
    const inRequest = (name: string) =>
      request.run(name, async () => {
        await value.get();
        return request.getStore();
      });
    expect(await Promise.all(['a', 'b', 'c'].map(inRequest))).toEqual(['a', 'b', 'c']);
    expect(await inRequest('d')).toBe('d'); // a fresh read
  });
});
