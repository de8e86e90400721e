import { AbortError } from 'p-retry';
import { describe, expect, it } from 'vitest';
import { isLoadError, isLoadTimeoutError, RefreshingValue, type RetryOptions } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

/** Loads that fail with these errors, one after the other, and then succeed; notes when each was called. */
function failingWith(
  errors: readonly unknown[],
  retry: RetryOptions | undefined,
  timeout = 30_000,
): { clock: FakeClock; value: RefreshingValue<string>; calls: number[]; attempts: number[] } {
  const clock = new FakeClock();
  const calls: number[] = [];
  const attempts: number[] = [];
  const value = new RefreshingValue({
    name: 'v',
    load: async ({ attempt }) => {
      calls.push(clock.monotonic());
      attempts.push(attempt);
      if (calls.length <= errors.length) throw errors[calls.length - 1];
      return 'value';
    },
    retry,
    timeout,
    clock,
    logger: false,
    random: () => 0.5,
  });
  return { clock, value, calls, attempts };
}

const down = new Error('down');

describe('retry', () => {
  it('is off by default: one call', async () => {
    const { value, calls } = failingWith([down], undefined);
    await rejectionOf(value.get());
    expect(calls).toEqual([0]);
  });

  it('makes at most retries + 1 calls, with growing pauses on the clock of the value', async () => {
    const { clock, value, calls, attempts } = failingWith(Array(9).fill(down), {
      retries: 3,
      minTimeout: 100,
    });
    const rejection = rejectionOf(value.get());
    await clock.advance(10_000);
    expect(calls).toEqual([0, 100, 300, 700]);
    expect(attempts).toEqual([1, 2, 3, 4]);
    const error = await rejection;
    expect(isLoadError(error) && [error.attempts, error.cause]).toEqual([4, down]);
  });

  it('succeeds with the first try that does', async () => {
    const { clock, value, calls } = failingWith([down, down], { retries: 5, minTimeout: 100, factor: 3 });
    const read = value.get();
    await clock.advance(10_000);
    expect(await read).toBe('value');
    expect(calls).toEqual([0, 100, 400]);
  });

  it('takes a factor of 0 for one of 1, as p-retry does', async () => {
    const { clock, value, calls } = failingWith([down, down], { retries: 2, minTimeout: 100, factor: 0 });
    const read = value.get();
    await clock.advance(1000);
    expect(await read).toBe('value');
    expect(calls).toEqual([0, 100, 200]);
  });

  it("takes p-retry's maxTimeout and randomize", async () => {
    const { clock, value, calls } = failingWith(Array(4).fill(down), {
      retries: 4,
      minTimeout: 100,
      maxTimeout: 250,
      randomize: true,
    });
    const read = value.get();
    await clock.advance(10_000);
    await read;
    // 100 · 1.5, 200 · 1.5 capped, capped, capped
    expect(calls).toEqual([0, 150, 400, 650, 900]);
  });

  it("has p-retry's own defaults for what is left out: 10 retries from 1 s by factor 2", async () => {
    const { clock, value, calls } = failingWith(Array(99).fill(down), {}, 10_000_000);
    const rejection = rejectionOf(value.get());
    await clock.advance(9_000_000);
    await rejection;
    expect(calls).toEqual(Array.from({ length: 11 }, (_, n) => 1000 * (2 ** n - 1)));
  });

  it('asks shouldRetry, shouldConsumeRetry and onFailedAttempt', async () => {
    const failed: number[] = [];
    const { clock, value, calls } = failingWith([down, new Error('busy'), new Error('gone'), down], {
      retries: 2,
      minTimeout: 100,
      onFailedAttempt: ({ attemptNumber }) => void failed.push(attemptNumber),
      shouldConsumeRetry: ({ error }) => error.message !== 'busy',
      shouldRetry: async ({ error }) => error.message !== 'gone',
    });
    const rejection = rejectionOf(value.get());
    await clock.advance(10_000);
    expect(await rejection).toMatchObject({ attempts: 3, cause: { message: 'gone' } });
    expect(calls).toEqual([0, 100, 101]);
    expect(failed).toEqual([1, 2, 3]);
  });

  it('does not retry an AbortError of p-retry, nor a TypeError that is no network error', async () => {
    for (const [error, cause] of [
      [new AbortError('not there'), { message: 'not there' }],
      [new TypeError('x is not a function'), { message: 'x is not a function' }],
    ] as const) {
      const { value, calls } = failingWith([error], { retries: 5 });
      expect(await rejectionOf(value.get())).toMatchObject({ code: 'ERR_TICKLESS_LOAD', cause });
      expect(calls).toHaveLength(1);
    }
  });

  it('a callback of p-retry that throws fails the load', async () => {
    const { value } = failingWith([down], {
      retries: 5,
      shouldRetry: () => {
        throw new Error('my mistake');
      },
    });
    expect(await rejectionOf(value.get())).toMatchObject({ cause: { message: 'my mistake' } });
    expect(value.inspect().running).toBe(false);
  });
});

describe('timeout', () => {
  it('is over all tries and pauses together', async () => {
    const clock = new FakeClock();
    const signals: AbortSignal[] = [];
    const value = new RefreshingValue({
      name: 'v',
      load: ({ signal, attempt }) => {
        signals.push(signal);
        return attempt === 1 ? Promise.reject(down) : new Promise<string>(() => {});
      },
      retry: { retries: 3, minTimeout: 400 },
      timeout: 1000,
      clock,
    });
    const rejection = rejectionOf(value.get());
    await clock.advance(1000);
    const error = await rejection;
    expect(isLoadTimeoutError(error) && [error.timeout, error.attempts, error.cause]).toEqual([
      1000,
      2,
      down,
    ]);
    expect((error as Error).message).toMatch(/timed out after 1 s$/);
    expect(new Set(signals).size).toBe(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toBe(error);
    expect(clock.timerCount).toBe(0);
  });

  it('a pause that would outlast it is not made: the load fails at once', async () => {
    const { clock, value, calls } = failingWith(Array(9).fill(down), { retries: 9, minTimeout: 700 }, 1000);
    const rejection = rejectionOf(value.get());
    await clock.advance(700);
    expect(await settled(rejection)).toMatchObject({ value: { code: 'ERR_TICKLESS_LOAD', attempts: 2 } });
    expect(calls).toEqual([0, 700]);
  });

  it('is 30 s by default, and none with Infinity', async () => {
    for (const [timeout, isOver] of [
      [undefined, true],
      [Number.POSITIVE_INFINITY, false],
    ] as const) {
      const clock = new FakeClock();
      const value = new RefreshingValue({
        name: 'v',
        load: () => new Promise<number>(() => {}),
        timeout,
        clock,
      });
      const rejection = rejectionOf(value.get());
      await clock.advance(29_999);
      expect(await settled(rejection)).toBe('pending');
      await clock.advance(1);
      expect((await settled(rejection)) !== 'pending').toBe(isOver);
      expect(clock.timerCount).toBe(0);
    }
  });
});

describe('Retry-After', () => {
  const busy = (headers: Record<string, string>): Error =>
    Object.assign(new Error('429'), { response: { headers: new Headers(headers) } });

  it('makes the pause at least that long', async () => {
    const { clock, value, calls } = failingWith([busy({ 'retry-after': '7' })], {
      retries: 1,
      minTimeout: 100,
    });
    const read = value.get();
    await clock.advance(7000);
    expect(await read).toBe('value');
    expect(calls).toEqual([0, 7000]);
  });

  it('ends the execution when it asks for more than the deadline leaves; the cool-down then honours it', async () => {
    const { clock, value, calls } = failingWith([busy({ 'retry-after': '120' })], { retries: 5 });
    expect(await rejectionOf(value.get())).toMatchObject({ attempts: 1 });
    await clock.advance(119_999);
    await rejectionOf(value.get());
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(await value.get()).toBe('value');
  });
});

describe('a superseded execution', () => {
  it('leaves no timer, asks no callback, and tells that its result came late', async () => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const value = new RefreshingValue({
      name: 'v',
      load: ({ signal, attempt }) =>
        new Promise<string>((resolve, reject) => {
          if (attempt === 1) signal.addEventListener('abort', () => reject(signal.reason));
          else setTimeout(() => resolve('late'), 5);
        }),
      retry: {
        retries: 2,
        minTimeout: 4000,
        onFailedAttempt: ({ error }) => void asked.push(error.message),
        shouldRetry: () => asked.push('shouldRetry') > 0,
      },
      clock,
    });
    const read = value.get();
    value.set('by hand');
    expect(await read).toBe('by hand');
    await clock.flush();
    expect(clock.timerCount).toBe(0);
    expect(asked).toEqual([]);
  });

  it('in its second try tells that its result came late', async () => {
    const clock = new FakeClock();
    let late = 0;
    let resolve = (_: string): void => {};
    const value = new RefreshingValue({
      name: 'v',
      load: ({ attempt }) =>
        attempt === 1
          ? Promise.reject(down)
          : new Promise<string>((settle) => {
              resolve = settle;
            }),
      retry: { retries: 2, minTimeout: 10 },
      clock,
    });
    value.on('late-result-dropped', () => {
      late += 1;
    });
    const read = value.get();
    await clock.advance(10);
    value.set('by hand');
    await read;
    resolve('late');
    await clock.flush();
    expect([value.current, late]).toEqual(['by hand', 1]);
  });
});

describe("p-retry's limits, on the clock of the value", () => {
  it('maxRetryTime ends the tries, and cuts the pause before the last', async () => {
    const { clock, value, calls } = failingWith(Array(9).fill(down), {
      retries: 9,
      minTimeout: 100,
      maxRetryTime: 250,
    });
    await clock.advance(5000);
    const rejection = rejectionOf(value.get());
    await clock.advance(10_000);
    expect(await rejection).toMatchObject({ attempts: 3 });
    expect(calls).toEqual([5000, 5100, 5250]);
  });

  it('tries that consume nothing end at the deadline, and freeze nothing', async () => {
    const { clock, value, calls } = failingWith(
      Array(9999).fill(new TypeError('a mistake')),
      { shouldConsumeRetry: () => false },
      20,
    );
    const rejection = rejectionOf(value.get());
    await clock.advance(20);
    expect(await rejection).toMatchObject({ code: 'ERR_TICKLESS_LOAD' });
    expect(calls).toHaveLength(20);
  });
});
