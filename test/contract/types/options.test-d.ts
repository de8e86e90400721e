// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { Duration } from 'luxon';
import type { Options as PRetryOptions } from 'p-retry';
import { expectTypeOf, test } from 'vitest';
import {
  type DurationLike,
  PeriodicExecutor,
  type ReadOptions,
  RefreshingValue,
  type TaskOptions,
  type ValueOptions,
} from '../../../src/index.ts';

const name = 'v';
const load = async (): Promise<string> => 'value';
const value = new RefreshingValue({ name, load });

test('name and load are required, nothing else is', () => {
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

test('every other option may be undefined', () => {
  type Given = Omit<Required<ValueOptions<string>>, 'name' | 'load'>;
  type All = { readonly [option in keyof Given]: undefined };
  expectTypeOf<All & { name: string; load: typeof load }>().toExtend<ValueOptions<string>>();
});

test('options of a wrong type are errors', () => {
  // @ts-expect-error: a name is a string
  new RefreshingValue({ name: 5, load });
  // @ts-expect-error: a load is a function
  new RefreshingValue({ name, load: 'value' });
  // @ts-expect-error: misspelt
  new RefreshingValue({ name, load, shedule: 1000 });
  // @ts-expect-error: an unknown policy
  new RefreshingValue({ name, load, whenTooStale: 'serve' });
  // @ts-expect-error: false or a logger
  new RefreshingValue({ name, load, logger: true });
  // @ts-expect-error: a logger has error, too
  new RefreshingValue({ name, load, logger: { warn: () => {} } });
  // @ts-expect-error: a number, not a string
  new RefreshingValue({ name, load, coolDown: { initial: 1000, factor: '2' } });
  // @ts-expect-error: waitUntil takes a promise
  new RefreshingValue({ name, load, waitUntil: (count: number) => count });
  // @ts-expect-error: random returns a number
  new RefreshingValue({ name, load, random: () => 'a' });
  new PeriodicExecutor(load, { name, maxStaleness: 1000, whenTooStale: 'throw', whenFailing: 'throw' });
});

test('a duration is a number, an object of units, or has toMillis()', () => {
  const days = { days: 1, hours: 2, minutes: 3, seconds: 4, milliseconds: 5 };
  for (const duration of [
    1000,
    Number.POSITIVE_INFINITY,
    days,
    Duration.fromISO('PT10M'),
    { toMillis: () => 6 },
    '1h30m',
  ]) {
    expectTypeOf(duration).toExtend<DurationLike>();
  }
  const options = { name, load, schedule: days, timeout: days, maxStaleness: days, coolDown: days };
  new RefreshingValue(options);
  new RefreshingValue({ ...options, coolDown: { initial: Duration.fromMillis(5), factor: 1, max: days } });
  // @ts-expect-error: an unknown form
  new RefreshingValue({ name, load, timeout: true });
  // @ts-expect-error: an unknown unit
  new RefreshingValue({ name, load, timeout: { weeks: 1 } });
  // @ts-expect-error: a Date is an instant
  new RefreshingValue({ name, load, timeout: new Date() });
});

test('retry takes the options of p-retry', () => {
  const retry = {} as Omit<PRetryOptions, 'signal' | 'unref'>;
  new PeriodicExecutor(load, { name, retry });
  const onFailedAttempt: typeof retry.onFailedAttempt = ({ error }) => console.log(error.message);
  new RefreshingValue({ name, load, retry: { retries: 2, onFailedAttempt } });
  // @ts-expect-error: its own type
  new RefreshingValue({ name, load, retry: { retries: 'two' } });
  // @ts-expect-error: not an option of p-retry
  new RefreshingValue({ name, load, retry: { attempts: 2 } });
  // @ts-expect-error: tickless has its own deadline
  new RefreshingValue({ name, load, retry: { signal: AbortSignal.abort() } });
  // @ts-expect-error: tickless keeps the process alive by itself
  new RefreshingValue({ name, load, retry: { unref: true } });
});

test('the options of a read', () => {
  expectTypeOf<keyof ReadOptions>().toEqualTypeOf<'maxStaleness' | 'patience' | 'signal' | 'waitUntil'>();
  const waitUntil = (end: Promise<unknown>): void => void end.then();
  value.get({ patience: { milliseconds: 50 }, signal: AbortSignal.timeout(1), waitUntil });
  // @ts-expect-error: a signal, not its controller
  value.get({ signal: new AbortController() });
  value.get({ maxStaleness: { seconds: 5 } });
  // @ts-expect-error: an unknown option
  value.get({ maxage: 5 });
  value.requestStart({ wait: true });
  // @ts-expect-error: true or false
  value.requestStart({ wait: 'yes' });
  value.invalidate({ drop: true });
  value.close({ timeout: { seconds: 5 } });
});

test('a change that can reach all instances returns a promise', () => {
  const executor = new PeriodicExecutor(() => {}, { name, propagateWithin: '5s' });
  for (const member of [value, executor]) {
    expectTypeOf(member.pause()).toEqualTypeOf<Promise<void>>();
    expectTypeOf(member.resume({ here: true })).toEqualTypeOf<Promise<void>>();
    expectTypeOf(member.reschedule('5m')).toEqualTypeOf<void>();
  }
  // @ts-expect-error: an unknown option
  value.pause({ heer: true });
});

test('a task may return anything, and gets no previous value', () => {
  const executor = new PeriodicExecutor(({ signal, attempt }) => [signal.aborted, attempt], { name });
  expectTypeOf(executor.requestStart()).toEqualTypeOf<Promise<void>>();
  expectTypeOf(executor.execute()).toEqualTypeOf<Promise<void>>();
  // @ts-expect-error: a task has no value
  new PeriodicExecutor(({ previous }) => previous, { name });
  expectTypeOf<TaskOptions>().toHaveProperty('schedule');
});

test('both can be disposed of', () => {
  expectTypeOf<RefreshingValue<string> | PeriodicExecutor>().toExtend<AsyncDisposable>();
});
