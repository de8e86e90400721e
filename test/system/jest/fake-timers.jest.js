import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { isTicklessError, RefreshingValue } from 'tickless';

const MINUTE = 60_000;
const hang = () => new Promise(() => {});

describe('the fake timers of Jest move a value without a clock of its own', () => {
  beforeEach(() => void jest.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') }));
  afterEach(() => void jest.useRealTimers());

  it('a reload is due when the time has passed, and not before', async () => {
    const load = jest.fn(async () => load.mock.calls.length);
    const value = new RefreshingValue({ name: 'v', load, schedule: { minutes: 10 } });
    expect(await value.get()).toBe(1);
    expect(value.inspect().nextExecuteTime).toBe(Date.UTC(2026, 10, 20, 12, 10));

    await jest.advanceTimersByTimeAsync(10 * MINUTE - 1);
    expect(await value.get()).toBe(1);
    expect(load).toHaveBeenCalledTimes(1);
    expect(value.inspect()).toMatchObject({ age: 10 * MINUTE - 1, state: 'fresh' });

    await jest.advanceTimersByTimeAsync(1);
    expect(await value.get()).toBe(1); // served at once, reloads behind
    await jest.advanceTimersByTimeAsync(0);
    expect(await value.get()).toBe(2);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('the pauses between tries pass', async () => {
    const startedAt = [];
    const begin = Date.now();
    const load = jest.fn(async () => {
      startedAt.push(Date.now() - begin);
      if (startedAt.length < 3) throw new Error('down');
      return 'up';
    });
    const value = new RefreshingValue({ name: 'v', load, retry: { minTimeout: 1000, randomize: false } });
    const got = value.get();
    await jest.advanceTimersByTimeAsync(999);
    expect(load).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(2001);
    expect(await got).toBe('up');
    expect(startedAt).toEqual([0, 1000, 3000]); // two retries, the pause twice as long each time
  });

  it('a load that hangs is aborted at its deadline', async () => {
    const load = jest.fn(() => hang());
    const value = new RefreshingValue({ name: 'v', load, timeout: { seconds: 5 } });
    const got = value.get().catch((error) => error);
    await jest.advanceTimersByTimeAsync(4999);
    expect(load.mock.calls[0]?.[0].signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(load.mock.calls[0]?.[0].signal.aborted).toBe(true);
    expect(isTicklessError(await got, 'TIMED_OUT')).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('setSystemTime steps the wall clock only: a delay is not moved by it', async () => {
    const load = jest.fn(async () => load.mock.calls.length);
    const value = new RefreshingValue({ name: 'v', load, schedule: { minutes: 10 } });
    await value.get();
    jest.setSystemTime(Date.now() + 3 * 60 * MINUTE);
    await jest.advanceTimersByTimeAsync(9 * MINUTE);
    await value.get();
    await jest.advanceTimersByTimeAsync(0);
    expect(load).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(MINUTE);
    await value.get();
    await jest.advanceTimersByTimeAsync(0);
    expect(load).toHaveBeenCalledTimes(2);
  });
});
