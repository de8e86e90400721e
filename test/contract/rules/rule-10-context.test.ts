import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { rejectionOf } from '../../support/settle.ts';

describe("rule 10: the caller's context stays out of the shared load", () => {
  const storage = new AsyncLocalStorage<string>();

  for (const isSync of [true, false]) {
    it(`its AsyncLocalStorage, with a load that is ${isSync ? 'synchronous' : 'asynchronous'}`, async () => {
      const clock = new FakeClock();
      const seen: (string | undefined)[] = [];
      const note = (): number => seen.push(storage.getStore());
      const value = storage.run('constructor', () => {
        return new RefreshingValue({
          name: 'v',
          load: ({ attempt }) => {
            note();
            if (attempt === 1 && seen.length >= 3) throw new Error('try again');
            return isSync ? 1 : Promise.resolve().then(note);
          },
          schedule: 100,
          retry: { retries: 1, minTimeout: 10, randomize: false },
          clock,
        });
      });
      await storage.run('first reader', () => value.get());
      await clock.advance(100);
      storage.run('due reader', () => value.current);
      await clock.flush();
      await storage.run('engine', async () => {
        const refresh = value.refresh();
        await clock.advance(10);
        await refresh;
        expect(storage.getStore()).toBe('engine');
      });
      expect(seen.length).toBeGreaterThanOrEqual(4);
      expect(new Set(seen)).toEqual(new Set([undefined]));
    });
  }

  it('its AsyncLocalStorage does not reach the events of the load either', async () => {
    const seen: (string | undefined)[] = [];
    const value = new RefreshingValue({ name: 'v', load: async () => 1 });
    for (const type of ['load-started', 'load-ended'] as const) {
      value.on(type, () => void seen.push(storage.getStore()));
    }
    await storage.run('reader', () => value.get());
    expect(seen).toEqual([undefined, undefined]);
  });

  it('nor does that of a listener which reads, and so hurries the load that is about to begin', async () => {
    const seen: (string | undefined)[] = [];
    const value = new RefreshingValue({ name: 'v', load: () => seen.push(storage.getStore() ?? 'none') });
    value.on('load-started', () => {
      storage.run('listener', () => value.get().catch(() => {}));
    });
    await storage.run('reader', () => value.get());
    expect(seen).toEqual(['none']);
  });

  it('its AbortSignal ends its own wait, and the load goes on for the others', async () => {
    const manual = new ManualLoad<number>();
    const value = new RefreshingValue({ name: 'v', load: manual.load });
    const before = value.get();
    const controller = new AbortController();
    const impatient = rejectionOf(value.get({ signal: controller.signal }));
    const patient = value.get();
    const reason = new Error('client gone');
    controller.abort(reason);
    expect(await impatient).toBe(reason);
    expect(manual.call(0).context.signal.aborted).toBe(false);
    manual.call(0).resolve(1);
    expect(await Promise.all([before, patient])).toEqual([1, 1]);
  });
});
