import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RetryOptions } from '../../../src/engine/retry.ts';
import { PeriodicExecutor, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const request = new AsyncLocalStorage<string>();

/** A value whose load records the request in which it runs: at its start and, if it is asynchronous, also later. */
function watched(kind: 'sync' | 'async', options: { retry?: RetryOptions; failures?: number } = {}) {
  const clock = new FakeClock();
  const seen: (string | undefined)[] = [];
  let failures = options.failures ?? 0;
  const note = (): number => {
    if (failures-- > 0) {
      seen.push(request.getStore());
      throw new Error('down');
    }
    return seen.push(request.getStore());
  };
  const load =
    kind === 'sync'
      ? note
      : async () => {
          note();
          await sleep(1); // real time: a timer and a microtask of the load itself
          return seen.push(request.getStore());
        };
  const { retry } = options;
  const value = new RefreshingValue({
    name: 'v',
    load,
    schedule: { minutes: 10 },
    clock,
    retry,
    logger: false,
  });
  return { clock, seen, value };
}

describe('the AsyncLocalStorage of a caller does not reach the load', () => {
  describe.each(['sync', 'async'] as const)('%s', (kind) => {
    const perLoad = kind === 'sync' ? 1 : 2;

    it('a background reload', async () => {
      const { clock, seen, value } = watched(kind);
      await value.get();
      await clock.advance({ minutes: 11 });
      await request.run('b', () => value.get());
      await request.run('c', () => value.requestStart({ wait: true }));
      await clock.flush();
      expect(seen).toEqual(Array(2 * perLoad).fill(undefined));
    });

    it('refresh, requestStart, and the successor of an invalidated load', async () => {
      const { seen, value } = watched(kind);
      await request.run('a', () => value.requestStart());
      await request.run('b', () => value.refresh());
      const refreshing = request.run('c', () => value.refresh());
      request.run('d', () => value.invalidate());
      await refreshing;
      await request.run('e', () => value.requestStart({ wait: true }));
      expect(seen.length).toBeGreaterThanOrEqual(3 * perLoad);
      expect(new Set(seen)).toEqual(new Set([undefined]));
    });

    it('the tries after the first', async () => {
      const { clock, seen, value } = watched(kind, { retry: { retries: 2 }, failures: 2 });
      const got = request.run('a', () => value.get());
      await clock.flush();
      await clock.advance({ seconds: 4 });
      await got;
      expect(seen).toEqual(Array(2 + perLoad).fill(undefined));
    });
  });

  it('nor the task of an executor', async () => {
    const seen: unknown[] = [];
    const executor = new PeriodicExecutor(() => seen.push(request.getStore()), {
      name: 'e',
      clock: new FakeClock(),
    });
    await request.run('a', () => executor.requestStart());
    await request.run('b', () => executor.execute());
    expect(seen).toEqual([undefined, undefined]);
  });
});

describe('after an await the caller is still in its own context', () => {
  it('also callers that share one load', async () => {
    const { value } = watched('async');
    const inRequest = (name: string) =>
      request.run(name, async () => {
        await value.get();
        return request.getStore();
      });
    expect(await Promise.all(['a', 'b', 'c'].map(inRequest))).toEqual(['a', 'b', 'c']);
    expect(await inRequest('d')).toBe('d'); // a fresh read
  });

  it('listeners and the schedule are called without it', async () => {
    const seen: unknown[] = [];
    const note = () => void seen.push(request.getStore());
    const value = new RefreshingValue({
      name: 'v',
      load: async () => 1,
      schedule: ({ endedAt }) => {
        note();
        return endedAt + 1000;
      },
      clock: new FakeClock(),
    });
    value.on('load-succeeded', note);
    await request.run('a', () => value.get());
    expect(seen).toEqual([undefined, undefined]);
  });
});
