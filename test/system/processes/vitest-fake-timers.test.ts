import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isTicklessError, RefreshingValue } from '../../../src/index.ts';

const MINUTE = 60_000;
const hang = (): Promise<never> => new Promise(() => {});

// test/system/jest/fake-timers.jest.js has more scenarios, under the fake timers of Jest.
describe('the fake timers of Vitest move a value without a clock of its own', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') }));
  afterEach(() => void vi.useRealTimers());

  it('a reload is due when the time has passed, and not before', async () => {
    const load = vi.fn(async () => load.mock.calls.length);
    const value = new RefreshingValue({ name: 'v', load, schedule: { minutes: 10 } });
    expect(await value.get()).toBe(1);
    expect(value.inspect().nextExecuteTime).toBe(Date.UTC(2026, 10, 20, 12, 10));

    await vi.advanceTimersByTimeAsync(10 * MINUTE - 1);
    expect(await value.get()).toBe(1);
    expect(load).toHaveBeenCalledTimes(1);
    expect(value.inspect()).toMatchObject({ age: 10 * MINUTE - 1, state: 'fresh' });

    await vi.advanceTimersByTimeAsync(1);
    expect(await value.get()).toBe(1); // served at once, reloads behind
    await vi.advanceTimersByTimeAsync(0);
    expect(await value.get()).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a load that hangs is aborted at its deadline', async () => {
    const load = vi.fn((_: { signal: AbortSignal }) => hang());
    const value = new RefreshingValue({ name: 'v', load, timeout: { seconds: 5 } });
    const got = value.get().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(4999);
    expect(load.mock.calls[0]?.[0].signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(load.mock.calls[0]?.[0].signal.aborted).toBe(true);
    expect(isTicklessError(await got, 'TIMED_OUT')).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
