import { describe, expect, it } from 'vitest';
import { RefreshingCache } from '../../../src/index.ts';
import { onAbort } from '../../../src/time/on-abort.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('onAbort', () => {
  it('calls all callbacks of a signal that are not forgotten, once', () => {
    const controller = new AbortController();
    const called: string[] = [];
    const forget = onAbort(controller.signal, () => called.push('forgotten before'));
    onAbort(controller.signal, () => {
      called.push('a');
      forgetLater();
    });
    const forgetLater = onAbort(controller.signal, () => called.push('forgotten meanwhile'));
    onAbort(controller.signal, () => called.push('b'));
    forget();
    controller.abort();
    forgetLater();
    expect(called).toEqual(['a', 'b']);
  });

  it('has one listener for a signal, and none without callbacks', () => {
    const counts: string[] = [];
    const signal = Object.assign(new AbortController().signal, {
      addEventListener: () => counts.push('add'),
      removeEventListener: () => counts.push('remove'),
    });
    const forget = [1, 2, 3].map(() => onAbort(signal, () => {}));
    expect(counts).toEqual(['add']);
    for (const one of forget) one();
    expect(counts).toEqual(['add', 'remove']);
    onAbort(signal, () => {});
    expect(counts).toEqual(['add', 'remove', 'add']);
  });

  it('lets getMany read a thousand keys with one signal, without a warning of a leak', async () => {
    const warnings: string[] = [];
    const listener = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', listener);
    try {
      const load = () => new Promise<string>(() => {});
      const cache = new RefreshingCache({ name: 'c', load, logger: false });
      const controller = new AbortController();
      const keys = Array.from({ length: 1000 }, (_, index) => `${index}`);
      const read = rejectionOf(cache.getMany(keys, { signal: controller.signal }));
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error('enough'));
      expect(await read).toMatchObject({ message: 'enough' });
      expect(warnings).toEqual([]);
      await cache.close({ timeout: 0 });
    } finally {
      process.off('warning', listener);
    }
  });
});
