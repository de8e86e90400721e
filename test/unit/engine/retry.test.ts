import { AbortError } from 'p-retry';
import { describe, expect, it } from 'vitest';
import type { RetryOptions } from '../../../src/engine/retry.ts';
import { isTicklessError, type LoadContext } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { onEnded } from '../../support/events.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

const down = new Error('down');
const always = Array(9999).fill(down);

/** A value whose loads fail with these errors, one after the other, and then succeed; with the times of its calls. */
function failingWith(errors: readonly unknown[], retry: RetryOptions | false | undefined, timeout = 30_000) {
  const calls: number[] = [];
  const { clock, value } = fakeValue(
    async ({ attempt }) => {
      calls.push(clock.monotonic());
      if (calls.length <= errors.length) throw errors[calls.length - 1];
      return `value of attempt ${attempt}`;
    },
    { retry, timeout, random: () => 0.5 },
  );
  return { clock, value, calls };
}

describe('retry', () => {
  it.each<[what: string, retry: RetryOptions | false | undefined, failures: number, calls: number[]]>([
    ['false: one call', false, 9, [0]],
    ['by default two more calls, from 250 ms, doubled and jittered', undefined, 9, [0, 375, 1125]],
    [
      'makes at most retries + 1 calls, with growing pauses',
      { retries: 3, minTimeout: 100, randomize: false },
      9,
      [0, 100, 300, 700],
    ],
    [
      'ends with the first success',
      { retries: 5, minTimeout: 100, factor: 3, randomize: false },
      2,
      [0, 100, 400],
    ],
    [
      'takes a factor of 0 as 1, as p-retry does',
      { retries: 2, minTimeout: 100, factor: 0, randomize: false },
      2,
      [0, 100, 200],
    ],
    [
      "has p-retry's maxTimeout and randomize", // 100 · 1.5, 200 · 1.5 capped, capped, capped
      { retries: 4, minTimeout: 100, maxTimeout: 250, randomize: true },
      4,
      [0, 150, 400, 650, 900],
    ],
    [
      'ends at maxRetryTime, which shortens the last pause',
      { retries: 9, minTimeout: 100, maxRetryTime: 250, randomize: false },
      9,
      [0, 100, 250],
    ],
    ['without options of its own has the defaults', {}, 99, [0, 375, 1125]],
    ['with one option keeps the other defaults', { minTimeout: 1000 }, 99, [0, 1500, 4500]],
    [
      'takes undefined as not given',
      { retries: undefined, factor: undefined } as unknown as RetryOptions,
      99,
      [0, 375, 1125],
    ],
    ['has a maxTimeout below the default minTimeout', { maxTimeout: 100 }, 99, [0, 100, 200]],
  ])('%s', async (_, retry, failures, calls) => {
    const made = failingWith(always.slice(0, failures), retry, 10_000_000);
    await made.clock.advance(5000); // maxRetryTime counts from the first try
    const read = made.value.get();
    await made.clock.advance(9_000_000);
    expect(made.calls.map((at) => at - 5000)).toEqual(calls);
    if (failures >= calls.length) {
      const details = { code: 'LOAD_FAILED', attempts: calls.length, cause: down };
      expect(await rejectionOf(read)).toMatchObject(details);
    } else expect(await read).toBe(`value of attempt ${calls.length}`);
  });

  it('tells each try that another one follows, and its errors are those of the load', async () => {
    const errors = ['ECONNRESET', 'HTTP 502', 'not JSON'].map((text) => new Error(text));
    const { clock, value } = failingWith(errors, undefined);
    const events: unknown[] = [];
    value.on('*', (event) => void events.push(event));
    const rejection = rejectionOf(value.get());
    await clock.advance(2000);
    const about = { name: 'v', trigger: 'first', background: false };
    const tries = [
      { error: errors[0], pause: 375 },
      { error: errors[1], pause: 750 },
    ];
    expect(events).toMatchObject([
      { ...about, type: 'load-started' },
      { ...about, type: 'load-ended', outcome: 'failed', attempts: 3, tries },
    ]);
    const error = await rejection;
    expect(error).toMatchObject({ attempts: 3, cause: errors[2] });
  });

  it('the message has what the tries before said, of more than ten the last ten', async () => {
    const errors = Array.from({ length: 20 }, (_, index) => new Error(`try ${index}`));
    const { clock, value } = failingWith(errors, { retries: 19, minTimeout: 1, factor: 1 });
    const rejection = rejectionOf(value.get());
    await clock.advance(2000);
    const before = Array.from({ length: 9 }, (_, index) => `try ${index + 10}`).join('; ');
    const message = `v: load failed: try 19; earlier tries: ${before}`;
    expect(await rejection).toMatchObject({ attempts: 20, message });
  });

  it('calls shouldRetry, shouldConsumeRetry and onFailedAttempt', async () => {
    const failed: number[] = [];
    const { clock, value, calls } = failingWith([down, new Error('busy'), new Error('gone'), down], {
      retries: 2,
      minTimeout: 100,
      randomize: false,
      onFailedAttempt: ({ attemptNumber }) => void failed.push(attemptNumber),
      shouldConsumeRetry: ({ error }) => error.message !== 'busy',
      shouldRetry: async ({ error }) => error.message !== 'gone',
    });
    const rejection = rejectionOf(value.get());
    await clock.advance(10_000);
    expect(await rejection).toMatchObject({ attempts: 3, cause: { message: 'gone' } });
    expect([calls, failed]).toEqual([
      [0, 100, 101],
      [1, 2, 3],
    ]);
  });

  it.each([
    ['an AbortError of p-retry', new AbortError('not there'), {}, 'not there'],
    ['a TypeError that is not a network error', new TypeError('not a function'), {}, 'not a function'],
    [
      'an error for which a callback throws',
      down,
      {
        shouldRetry: () => {
          throw new Error('my mistake');
        },
      },
      'my mistake',
    ],
  ])('does not retry %s', async (_, error, options, message) => {
    const { value, calls } = failingWith([error], { retries: 5, ...options });
    expect(await rejectionOf(value.get())).toMatchObject({ code: 'LOAD_FAILED', cause: { message } });
    expect([calls.length, value.inspect().running]).toEqual([1, false]);
  });

  it('tries that consume no retry end at the deadline, and do not block the process', async () => {
    const { clock, value, calls } = failingWith(always, { shouldConsumeRetry: () => false }, 20);
    const rejection = rejectionOf(value.get());
    await clock.advance(20);
    expect(await rejection).toMatchObject({ code: 'LOAD_FAILED' });
    expect(calls).toHaveLength(20);
  });
});

describe('the default', () => {
  it('makes one call per execution while the last one failed, and bridges blips again after a success', async () => {
    const { clock, value, calls } = failingWith(always.slice(0, 5), undefined);
    void value.get();
    await clock.advance(2000);
    expect(calls).toEqual([0, 375, 1125]);
    const attempts: number[] = [];
    onEnded(value, 'failed', (event) => void attempts.push(event.attempts));
    for (let i = 0; i < 3; i++) {
      await clock.advance(10_000);
      void value.get().catch(() => {});
    }
    await clock.flush();
    expect([attempts, calls.length, value.inspect().failures]).toEqual([[1, 1], 6, 0]);
    calls.length = 0; // five more failures
    void value.refresh();
    await clock.advance(2000);
    expect(calls).toHaveLength(3);
  });

  it('a synchronous load that throws on the stack of its reader is not tried again: the reader gets the error', async () => {
    let loads = 0;
    const { clock, value } = fakeValue(
      () => {
        loads += 1;
        if (loads !== 2) throw down;
        return loads;
      },
      { retry: undefined, schedule: 1000, coolDown: 1000 },
    );
    expect(thrownBy(() => value.current)).toMatchObject({
      code: 'NOT_LOADED',
      cause: { cause: down },
    });
    await clock.advance(1000);
    expect([loads, value.current]).toEqual([1, 2]);
    await clock.advance(1000);
    expect(value.current).toBe(2); // a reload behind the read is tried again
    await clock.advance(2000);
    expect(loads).toBe(5);
  });
});

describe('timeout', () => {
  it('is over all tries and pauses together', async () => {
    const signals = new Set<AbortSignal>();
    const { clock, value } = fakeValue(
      ({ signal, attempt }) => {
        signals.add(signal);
        return attempt === 1 ? Promise.reject(down) : new Promise<string>(() => {});
      },
      { retry: { retries: 3, minTimeout: 400 }, timeout: 1000 },
    );
    const rejection = rejectionOf(value.get());
    await clock.advance(1000);
    const error = await rejection;
    if (!isTicklessError(error, 'TIMED_OUT')) throw error;
    expect([error.attempts, error.cause]).toEqual([2, down]);
    expect(error.message).toBe('v: load timed out after 1 s');
    expect([...signals].map(({ reason }) => reason)).toEqual([error]);
    expect(clock.timerCount).toBe(0);
  });

  it.each([
    [undefined, true],
    [Number.POSITIVE_INFINITY, false],
  ])('is 30 s by default, and none with Infinity (%s)', async (timeout, isOver) => {
    const { clock, value } = fakeValue(() => new Promise<number>(() => {}), { timeout });
    const rejection = rejectionOf(value.get());
    await clock.advance(29_999);
    expect(await settled(rejection)).toBe('pending');
    await clock.advance(1);
    expect((await settled(rejection)) !== 'pending').toBe(isOver);
    expect(clock.timerCount).toBe(0);
  });
});

describe('Retry-After', () => {
  const busy = (seconds: string): Error =>
    Object.assign(new Error('429'), { response: { headers: new Headers({ 'retry-after': seconds }) } });

  it('makes the pause at least that long', async () => {
    const { clock, value, calls } = failingWith([busy('7')], { retries: 1, minTimeout: 100 });
    void value.get();
    await clock.advance(7000);
    expect(calls).toEqual([0, 7000]);
  });

  it('ends the execution when it exceeds the deadline, and makes the cool-down that long', async () => {
    const { clock, value, calls } = failingWith([busy('120')], { retries: 5 });
    expect(await rejectionOf(value.get())).toMatchObject({ attempts: 1 });
    await clock.advance(119_999);
    await rejectionOf(value.get());
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(await value.get()).toBe('value of attempt 1');
  });
});

describe('a superseded execution', () => {
  it('leaves no timer, and calls no callback', async () => {
    const called: string[] = [];
    const load = ({ signal }: LoadContext<string>): Promise<string> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { clock, value } = fakeValue(load, {
      retry: {
        retries: 2,
        minTimeout: 4000,
        onFailedAttempt: ({ error }) => void called.push(error.message),
        shouldRetry: () => called.push('shouldRetry') > 0,
      },
    });
    const read = value.get();
    value.set('by hand');
    expect(await read).toBe('by hand');
    await clock.flush();
    expect([clock.timerCount, called]).toEqual([0, []]);
  });

  it('whose second try has a late result is told as late', async () => {
    const second = new Deferred<string>();
    let late = 0;
    const { clock, value } = fakeValue(
      ({ attempt }) => (attempt === 1 ? Promise.reject(down) : second.promise),
      { retry: { retries: 2, minTimeout: 10, randomize: false } },
    );
    onEnded(value, 'late', () => void late++);
    const read = value.get();
    await clock.advance(10);
    value.set('by hand');
    await read;
    second.resolve('late');
    await clock.flush();
    expect([value.current, late]).toEqual(['by hand', 1]);
  });
});
