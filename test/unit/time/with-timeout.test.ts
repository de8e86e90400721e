import { describe, expect, it, vi } from 'vitest';
import { withTimeout } from '../../../src/time/with-timeout.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

const never = () => new Promise<never>(() => {});

describe('withTimeout', () => {
  it('answers as the work does', async () => {
    expect(await withTimeout(() => 1, 1000)).toBe(1);
    expect(await withTimeout(async () => 2, 1000)).toBe(2);
  });

  it('rejects as the work does, also where that throws', async () => {
    const down = new Error('down');
    await expect(withTimeout(() => Promise.reject(down), 1000)).rejects.toBe(down);
    const throwing = () => {
      throw down;
    };
    await expect(withTimeout(throwing, 1000)).rejects.toBe(down);
  });

  it('counts from when the work has begun: a deadline within it is not after this one', async () => {
    const steps: string[] = [];
    const timer = { cancel: () => {}, ref: () => {}, unref: () => {} };
    const setTimeout = () => {
      steps.push('timer');
      return timer;
    };
    await withTimeout(() => steps.push('work'), 1000, { setTimeout });
    expect(steps).toEqual(['work', 'timer']);
  });

  it('rejects when there is no answer in time', async () => {
    const error = await withTimeout(never, 20).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'ETIMEDOUT', message: 'no answer within 20 ms' });
  });

  it('waits for the longest time of a timer where the limit is longer, not for 1 ms', async () => {
    const soon = () => new Promise((resolve) => setTimeout(resolve, 20, 'answer'));
    expect(await withTimeout(soon, 2 ** 40)).toBe('answer');
  });

  it('survives a then that throws, or calls back twice', async () => {
    const throwing = () => ({
      then: () => {
        throw new Error('then');
      },
    });
    await expect(withTimeout(throwing as never, 1000)).rejects.toThrow('then');
    const twice = () => ({
      then: (resolve: (value: number) => void, reject: (error: Error) => void) => {
        resolve(1);
        reject(new Error('second'));
      },
    });
    expect(await withTimeout(twice as never, 1000)).toBe(1);
  });

  it('drops what comes too late, without an unhandled rejection', async () => {
    const unhandled = unhandledRejections();
    const late = () => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 30));
    await expect(withTimeout(late, 5)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(unhandled).toEqual([]);
  });

  it('leaves no timer behind, and none that keeps the process alive', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    try {
      await withTimeout(() => 1, 60_000);
      const timer = set.mock.results[0]?.value as NodeJS.Timeout;
      expect(timer.hasRef()).toBe(false);
      expect(clear).toHaveBeenCalledWith(timer);
    } finally {
      vi.restoreAllMocks();
    }
  });
});
