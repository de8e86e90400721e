// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { Duration } from 'luxon';
import type { Options as PRetryOptions } from 'p-retry';
import { expectTypeOf, test } from 'vitest';
import {
  type DurationLike,
  PeriodicExecutor,
  type PeriodicExecutorOptions,
  RefreshingValue,
  type RefreshingValueOptions,
} from '../../../src/index.ts';

const name = 'v';
const load = async (): Promise<string> => 'value';
const maybe = async (): Promise<string | undefined> => undefined;

test('name and load are required, all else is not', () => {
  new RefreshingValue({ name, load });
  // @ts-expect-error: no options at all
  new RefreshingValue();
  // @ts-expect-error: no name
  new RefreshingValue({ load });
  // @ts-expect-error: no load
  new RefreshingValue({ name });
  new PeriodicExecutor(load, { name });
  // @ts-expect-error: no options
  new PeriodicExecutor(load);
  // @ts-expect-error: no task
  new PeriodicExecutor({ name });
});

test('every option may also be undefined', () => {
  const options: RefreshingValueOptions<string> = {
    name,
    load,
    schedule: undefined,
    retry: undefined,
    coolDown: undefined,
    timeout: undefined,
    maxStaleness: undefined,
    whenTooStale: undefined,
    allowUndefined: undefined,
    waitUntil: undefined,
    logger: undefined,
    clock: undefined,
    random: undefined,
  };
  new RefreshingValue(options);
});

test('options of a wrong type are errors', () => {
  // @ts-expect-error: a name is a string
  new RefreshingValue({ name: 5, load });
  // @ts-expect-error: a load is a function
  new RefreshingValue({ name, load: 'value' });
  // @ts-expect-error: misspelt
  new RefreshingValue({ name, load, shedule: 1000 });
  // @ts-expect-error: no such policy
  new RefreshingValue({ name, load, whenTooStale: 'refuse' });
  // @ts-expect-error: false or a logger
  new RefreshingValue({ name, load, logger: true });
  // @ts-expect-error: a logger has error, too
  new RefreshingValue({ name, load, logger: { warn: () => {} } });
  // @ts-expect-error: a number, not a string
  new RefreshingValue({ name, load, coolDown: { initial: 1000, factor: '2' } });
  // @ts-expect-error: waitUntil takes a promise
  new RefreshingValue({ name, load, waitUntil: (count: number) => count });
  // @ts-expect-error: random answers a number
  new RefreshingValue({ name, load, random: () => 'a' });
  // @ts-expect-error: a task has no age
  new PeriodicExecutor(load, { name, maxStaleness: 1000 });
  // @ts-expect-error: a task has no value, and returns what it likes
  new PeriodicExecutor(load, { name, allowUndefined: true });
});

test('allowUndefined is for loads whose type has undefined in it', () => {
  const value = new RefreshingValue({ name, load: maybe, allowUndefined: true });
  expectTypeOf(value.get()).toEqualTypeOf<Promise<string | undefined>>();
  expectTypeOf(value.current).toEqualTypeOf<string | undefined>();
  value.set(undefined);
  new RefreshingValue({ name, load: maybe });
  new RefreshingValue({ name, load: maybe, allowUndefined: false });
  new RefreshingValue({ name, load: async () => {}, allowUndefined: true });
  new RefreshingValue({ name, load, allowUndefined: false });
  // @ts-expect-error: this load never brings undefined
  new RefreshingValue({ name, load, allowUndefined: true });
});

test('a duration is a number, an object of units, or has toMillis()', () => {
  const durations: DurationLike[] = [
    1000,
    Number.POSITIVE_INFINITY,
    { minutes: 10 },
    { days: 1, hours: 2, minutes: 3, seconds: 4, milliseconds: 5 },
    Duration.fromObject({ minutes: 10 }),
    Duration.fromISO('PT10M'),
    { toMillis: () => 600_000 },
  ];
  for (const duration of durations) {
    new RefreshingValue({
      name,
      load,
      schedule: duration,
      timeout: duration,
      maxStaleness: duration,
      coolDown: duration,
    });
  }
  new RefreshingValue({
    name,
    load,
    coolDown: { initial: Duration.fromMillis(5), factor: 1, max: { minutes: 1 } },
  });
  // @ts-expect-error: no such form
  new RefreshingValue({ name, load, timeout: '10m' });
  // @ts-expect-error: no such unit
  new RefreshingValue({ name, load, timeout: { weeks: 1 } });
  // @ts-expect-error: a Date is an instant
  new RefreshingValue({ name, load, timeout: new Date() });
});

test('retry takes the options of p-retry', () => {
  const retry: Omit<PRetryOptions, 'signal' | 'unref'> = {
    retries: 3,
    factor: 2,
    minTimeout: 100,
    maxTimeout: 1000,
    randomize: true,
    maxRetryTime: 10_000,
    onFailedAttempt: ({ error, attemptNumber, retriesLeft }) =>
      void [error.message, attemptNumber, retriesLeft],
    shouldRetry: ({ error }) => error.name !== 'TypeError',
    shouldConsumeRetry: async ({ retriesConsumed }) => retriesConsumed < 2,
  };
  new RefreshingValue({ name, load, retry });
  new PeriodicExecutor(load, { name, retry });
  new RefreshingValue({
    name,
    load,
    retry: { retries: 2, onFailedAttempt: ({ error }) => console.log(error.message) },
  });
  // @ts-expect-error: its own type
  new RefreshingValue({ name, load, retry: { retries: 'two' } });
  // @ts-expect-error: not an option of p-retry
  new RefreshingValue({ name, load, retry: { attempts: 2 } });
  // @ts-expect-error: the deadline is the business of tickless
  new RefreshingValue({ name, load, retry: { signal: AbortSignal.abort() } });
  // @ts-expect-error: so is what keeps the process alive
  new RefreshingValue({ name, load, retry: { unref: true } });
});

test('what a read takes', () => {
  const value = new RefreshingValue({ name, load });
  value.get({
    patience: { milliseconds: 50 },
    signal: AbortSignal.timeout(1),
    waitUntil: (end) => void end.then(),
  });
  // @ts-expect-error: a signal, not its controller
  value.get({ signal: new AbortController() });
  // @ts-expect-error: no such option
  value.get({ maxAge: 5 });
  value.requestStart({ wait: true });
  // @ts-expect-error: true or false
  value.requestStart({ wait: 'yes' });
  value.invalidate({ drop: true });
  value.close({ timeout: { seconds: 5 } });
});

test('a task may return anything, and gets no previous value', () => {
  const executor = new PeriodicExecutor(({ signal, attempt }) => [signal.aborted, attempt], { name });
  expectTypeOf(executor.requestStart()).toEqualTypeOf<Promise<void>>();
  expectTypeOf(executor.execute()).toEqualTypeOf<Promise<void>>();
  // @ts-expect-error: a task has no value
  new PeriodicExecutor(({ previous }) => previous, { name });
  expectTypeOf<PeriodicExecutorOptions>().toHaveProperty('schedule');
});

test('both can be disposed of', () => {
  expectTypeOf<RefreshingValue<string>>().toExtend<AsyncDisposable>();
  expectTypeOf<PeriodicExecutor>().toExtend<AsyncDisposable>();
});
