import { afterEach, expect, it, vi } from 'vitest';
import type { LoadContext } from '../../../src/index.ts';
import { keep, PeriodicExecutor, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { manualValue } from '../../support/manual-value.ts';

afterEach(() => void vi.unstubAllGlobals());

it('is made once for each load; on Node 20, where that is slow, only for those that look at it', async () => {
  let made = 0;
  class Counting extends AbortController {
    constructor() {
      super();
      made += 1;
    }
  }
  vi.stubGlobal('AbortController', Counting);
  const clock = new FakeClock();
  const options = { name: 'signals', clock };
  const value = new RefreshingValue({ ...options, load: async () => 1, retry: { retries: 1 } });
  const cache = new RefreshingCache({ ...options, load: async (key: string) => key });
  const batched = new RefreshingCache({
    ...options,
    loadMany: async (keys: readonly string[]) => new Map(keys.map((key) => [key, key])),
  });
  const task = new PeriodicExecutor(async () => {}, { ...options, schedule: 1000 });
  await Promise.all([value.get(), cache.get('a'), batched.getMany(['a', 'b']), task.execute()]);
  const unlooked = process.version.startsWith('v20.') ? 0 : 5;
  expect(made).toBe(unlooked);
  const looking = new RefreshingCache({ ...options, load: async (_: string, { signal }) => signal.aborted });
  expect([await looking.get('a'), made]).toEqual([false, unlooked + 1]);
});

it('is aborted when it is first looked at after the load was superseded', async () => {
  let context: LoadContext | undefined;
  const value = new RefreshingValue({
    name: 'late',
    clock: new FakeClock(),
    load: (given: LoadContext) => {
      context = given;
      return new Promise<number>(() => {});
    },
  });
  const read = value.get();
  value.set(1);
  expect([await read, context?.signal.aborted]).toEqual([1, true]);
  expect(context?.signal.reason).toMatchObject({ name: 'AbortError' });
});

it('is in a copy of the context', async () => {
  const copied: object[] = [];
  const options = { name: 'copies', clock: new FakeClock() };
  const cache = new RefreshingCache({
    ...options,
    load: (_: string, context) => copied.push({ ...context }),
  });
  await cache.get('a');
  await new PeriodicExecutor((context) => copied.push({ ...context }), {
    ...options,
    schedule: 1000,
  }).execute();
  const signal = expect.any(AbortSignal);
  const first = { signal, trigger: 'first', background: false, attempt: 1, previous: undefined, key: 'a' };
  expect(copied).toStrictEqual([first, { signal, trigger: 'forced', background: false, attempt: 1 }]);
});

it('of the load that follows one with nothing to keep is not aborted when the reader of that one gives up', async () => {
  const { value, manual, clock } = manualValue();
  const first = value.get();
  await clock.flush();
  manual.call(0).resolve('one');
  await first;
  await clock.advance(1000);
  value.invalidate();
  const reader = new AbortController();
  const read = value.get({ maxStaleness: 0, signal: reader.signal }).catch(() => {});
  await clock.flush();
  value.invalidate({ drop: true });
  manual.call(1).resolve(keep() as never);
  await clock.advance(1);
  reader.abort();
  await read;
  const next = value.get();
  manual.call(2).resolve('two');
  expect([await next, manual.calls.length, manual.call(2).context.signal.aborted]).toEqual(['two', 3, false]);
});

it('a forced refresh with nothing to keep loads once more, also while paused, and whoever reads meanwhile', async () => {
  const { value, manual, clock } = manualValue();
  value.set('set');
  const refreshed = value.refresh();
  await clock.flush();
  value.pause();
  value.invalidate({ drop: true });
  const read = value.get();
  manual.call(0).resolve(keep() as never);
  await clock.advance(1);
  manual.call(1).resolve('two');
  expect(await Promise.all([refreshed, read])).toEqual(['two', 'two']);
});
