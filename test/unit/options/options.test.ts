import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  defaults,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from '../../../src/index.ts';
import { VALUE_SHARED } from '../../../src/options/resolve-options.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { onCoolDown } from '../../support/events.ts';
import { optionsIn, problemsIn } from '../../support/option-errors.ts';
import { thrownBy } from '../../support/settle.ts';

const good = { name: 'v', load: () => 1 };

/** One wrong option each, besides a name and a load; with the option and the value that the error has. */
const mistakes: readonly (readonly [given: object, option: string, received: string])[] = [
  [{ name: undefined }, 'name', 'undefined'],
  [{ name: '' }, 'name', '""'],
  [{ name: 'a\ud800' }, 'name', '"a\\ud800"'],
  [{ name: 'a\0' }, 'name', '"a\\u0000"'],
  [{ load: undefined }, 'load', 'undefined'],
  [{ load: 'fetch' }, 'load', '"fetch"'],
  [{ load: Promise.resolve(1) }, 'load', '{}'],
  [{ schedule: 0 }, 'schedule', '0'],
  [{ schedule: Number.NaN }, 'schedule', 'NaN'],
  [{ schedule: 'daily' }, 'schedule', '"daily"'],
  [{ schedule: {} }, 'schedule', '{}'],
  [{ schedule: { fortnights: 1 } }, 'schedule', '{"fortnights":1}'],
  [{ schedule: null }, 'schedule', 'null'],
  [{ timeout: 0 }, 'timeout', '0'],
  [{ timeout: Number.NaN }, 'timeout', 'NaN'],
  [{ timeout: '30' }, 'timeout', '"30"'],
  [{ coolDown: 0 }, 'coolDown', '0'],
  [{ coolDown: Number.POSITIVE_INFINITY }, 'coolDown', 'Infinity'],
  [{ coolDown: { initial: 0 } }, 'coolDown.initial', '0'],
  [{ coolDown: { factor: 0.5 } }, 'coolDown.factor', '0.5'],
  [{ coolDown: { factor: '2' } }, 'coolDown.factor', '"2"'],
  [{ schedule: Symbol('n') }, 'schedule', 'Symbol(n)'],
  [{ coolDown: { initial: 100, max: 50 } }, 'coolDown.max', '50'],
  [{ coolDown: { max: Number.NaN } }, 'coolDown.max', 'NaN'],
  [{ retry: 3 }, 'retry', '3'],
  [{ retry: null }, 'retry', 'null'],
  [{ retry: { retries: -1 } }, 'retry.retries', '-1'],
  [{ retry: { retries: Number.NaN } }, 'retry.retries', 'NaN'],
  [{ retry: { retries: '3' } }, 'retry.retries', '"3"'],
  [{ retry: { factor: -1 } }, 'retry.factor', '-1'],
  [{ retry: { minTimeout: Number.POSITIVE_INFINITY } }, 'retry.minTimeout', 'Infinity'],
  [{ retry: { minTimeout: 500, maxTimeout: 100 } }, 'retry.maxTimeout', '100'],
  [{ retry: { maxRetryTime: -1 } }, 'retry.maxRetryTime', '-1'],
  [{ retry: { shouldRetry: true } }, 'retry.shouldRetry', 'true'],
  [{ maxStaleness: 0 }, 'maxStaleness', '0'],
  [{ maxStaleness: Number.NaN }, 'maxStaleness', 'NaN'],
  [{ schedule: { minutes: 10 }, maxStaleness: { minutes: 5 } }, 'maxStaleness', '{"minutes":5}'],
  [{ schedule: 1000, maxStaleness: 1000, whenTooStale: 'throw' }, 'maxStaleness', '1000'],
  [{ schedule: 1000, maxStaleness: 1000 }, 'maxStaleness', '1000'],
  [{ maxStaleness: { minutes: 10 } }, 'maxStaleness', '{"minutes":10}'], // the default schedule
  [{ whenTooStale: 'serve' }, 'whenTooStale', '"serve"'],
  [{ waitUntil: {} }, 'waitUntil', '{}'],
  [{ logger: true }, 'logger', 'true'],
  [{ logger: { warn: () => {} } }, 'logger', '{}'],
  [{ clock: Date }, 'clock', 'function Date'],
  [{ random: 0.5 }, 'random', '0.5'],
];

/** Unknown names, each with the known one that is most like it. */
const typos: readonly (readonly [given: object, option: string, similar: string | undefined])[] = [
  [{ shedule: 5 }, 'shedule', 'schedule'], // missing
  [{ timeoutt: 5 }, 'timeoutt', 'timeout'], // added
  [{ timeoud: 5 }, 'timeoud', 'timeout'], // changed
  [{ tiemout: 5 }, 'tiemout', 'timeout'], // swapped
  [{ Timeout: 5 }, 'Timeout', 'timeout'],
  [{ maxstaleness: 5 }, 'maxstaleness', 'maxStaleness'],
  [{ retry: { retrie: 3 } }, 'retry.retrie', 'retry.retries'],
  [{ coolDown: { initial: 5, mac: 7 } }, 'coolDown.mac', 'coolDown.max'],
  [{ coolDown: { initial: 5, maximum: 7 } }, 'coolDown.maximum', undefined],
  [{ retry: { signal: 'x' } }, 'retry.signal', undefined],
  [{ tiemouts: 5 }, 'tiemouts', undefined],
];

/** The error for the options of a value. */
function errorOf(given: object): unknown {
  return thrownBy(() => new RefreshingValue({ ...good, ...given } as never));
}

describe('a wrong option', () => {
  it.each(mistakes)('%j is rejected: the error has its name, rule and value', (given, option, received) => {
    const rule = expect.stringMatching(/^must /);
    expect(problemsIn(errorOf(given))).toEqual([{ option, rule, received }]);
  });

  it.each(typos)(
    '%j is unknown: the error names a similar option, or all where there is none',
    (given, option, similar) => {
      const rule =
        similar === undefined
          ? expect.stringMatching(/^is unknown \(expected one of: .*\)$/)
          : `is unknown (did you mean ${similar}?)`;
      expect(problemsIn(errorOf(given))).toMatchObject([{ option, rule }]);
    },
  );

  it.each([
    [{ ttl: 5 }, 'ttl is schedule here, received 5'],
    [{ fetchMethod: 1 }, 'fetchMethod is load here, received 1'],
    [{ allowStale: true }, 'allowStale is whenTooStale here, received true'],
    [{ maxEntries: 5 }, 'maxEntries is unknown (expected one of: name, '], // a value has no max
    [{ schedule: '*/5 * * * *' }, "a duration over 0 (cron('*/5 * * * *') of 'tickless/calendar'), received"],
    [{ schedule: ' @hourly' }, "(cron('@hourly') of 'tickless/calendar')"],
    [{ schedule: '05:00' }, "(dailyAt('05:00') of 'tickless/calendar')"],
    [{ schedule: '600' }, "('600s', or 600 for milliseconds)"],
    [{ timeout: '1.5' }, "timeout must be a duration over 0 ('1.5s', or 1.5 for milliseconds)"],
    [
      { timeout: '5 parsecs' },
      "timeout must be a duration over 0 (such as '10m' or { minutes: 10 }), received",
    ],
    [{ schedule: { minute: 10 } }, "a duration over 0 (such as '10m' or { minutes: 10 }), received"],
    [{ retry: 3 }, "retry must be an object of p-retry's options, such as { retries: 3 }, or false"],
    [
      { backend: 'redis://db' },
      "backend must be a backend, such as redisBackend({ client }) of 'tickless/redis'",
    ],
    [{ load: Promise.resolve(1) }, 'load must be a function that returns the promise, received'],
  ])('%j: the error says what to write', (given, text) => {
    expect(errorOf(given)).toMatchObject({ code: 'OPTION', message: expect.stringContaining(text) });
  });

  it('among several that are unknown the known ones are named once', () => {
    const { message } = errorOf({ one: 1, two: 2, three: 3 }) as Error;
    expect(message.split('expected one of')).toHaveLength(2);
    expect(message).toMatch(
      /one is unknown \(expected .*; two is unknown, received 2; three is unknown, received 3$/,
    );
  });

  it('of a group names its own options too', () => {
    const group = (given: object) => () => new RefreshGroup(given);
    expect(group({ pigyback: true })).toThrow('pigyback is unknown (did you mean piggyback?)');
    expect(group({ required: true })).toThrow(/expected one of: .*piggyback, concurrency/);
  });

  it('in the place of a task is told', () => {
    for (const make of [
      () => new PeriodicExecutor({ name: 'e' } as never, undefined as never),
      () => new RefreshGroup().executor({ name: 'e' } as never, undefined as never),
    ])
      expect(make).toThrow('task must come first, before the options: new PeriodicExecutor(task, { name })');
  });

  it('of a rollback whose store keeps one version names the option', async () => {
    const value = new RefreshingValue({ ...good, load: () => 1, backend: memoryBackend(), logger: false });
    await value.get();
    await expect(value.rollback({ by: 'ann' })).rejects.toThrow('the backend needs keepVersions');
  });

  it('a method without its object is told', () => {
    const { get, peek, refresh } = new RefreshingValue({ ...good, logger: false });
    const cache = new RefreshingCache({ ...good, logger: false });
    const { get: getKey, current, getMany, peek: peekKey } = cache;
    for (const call of [get, peek, refresh, getKey, current, getMany, peekKey])
      expect(() => (call as (key: string) => unknown)('k')).toThrow('write rates.get(), not get()');
    const { value, cache: ofGroup, executor } = new RefreshGroup();
    for (const make of [() => value(good), () => ofGroup(good), () => executor(() => {}, { name: 'e' })])
      expect(make).toThrow('a method was called without its object');
  });

  it('of an executor is rejected too, and a missing task', () => {
    for (const [args, option] of [
      [[undefined, { name: 'e' }], 'task'],
      [[() => {}, {}], 'name'],
      [[() => {}, undefined], 'name'],
      [[() => {}, { name: 'e', timeout: -1 }], 'timeout'],
    ] as const) {
      const error = thrownBy(() => new PeriodicExecutor(...(args as unknown as [never, never])));
      expect(optionsIn(error)).toEqual([option]);
    }
  });

  it('is reported together with all the others', () => {
    const error = thrownBy(() => new RefreshingValue({ timeout: -1, coolDown: 0, random: 1 } as never));
    expect(optionsIn(error)).toEqual(['name', 'load', 'coolDown', 'timeout', 'random']);
  });

  it('no options at all are reported as a missing name', () => {
    const error = thrownBy(() => new RefreshingValue(undefined as never));
    expect(optionsIn(error)[0]).toBe('name');
  });
});

describe('a right option', () => {
  it('may be given as undefined, which means its default', () => {
    const names = [...VALUE_SHARED, 'required'];
    const options = { ...Object.fromEntries(names.map((name) => [name, undefined])), ...good };
    const value = new RefreshingValue(options);
    value.current;
    const { nextExecuteTime, loadedAt } = value.inspect();
    expect(nextExecuteTime - (loadedAt as number)).toBe(600_000);
  });

  it.each([
    [undefined, Infinity],
    [5000, 5000],
  ])('schedule: Infinity means never by itself, up to an age limit of %s', (maxStaleness, dueIn) => {
    const clock = new FakeClock();
    const value = new RefreshingValue({ ...good, schedule: Number.POSITIVE_INFINITY, maxStaleness, clock });
    value.current;
    expect(value.inspect().nextExecuteTime).toBe(clock.now() + dueIn);
  });

  it('that is left out has a default that can not be changed', () => {
    expect(() => {
      (defaults as { timeout: number }).timeout = 1;
    }).toThrow(TypeError);
    expect(() => {
      (defaults.coolDown as { initial: number }).initial = 1;
    }).toThrow(TypeError);
  });

  it.each([
    [{ seconds: 10 }, [7500, 7500, 7500]], // a constant span is jittered too
    [{ initial: { minutes: 5 } }, [225_000, 225_000, 225_000]], // raises the cap
    [{ factor: 3, max: { seconds: 5 } }, [750, 2250, 3750]],
  ])('coolDown %j makes cool-downs of %j ms', async (coolDown, delays) => {
    const load = async (): Promise<number> => Promise.reject(new Error('down'));
    const clock = new FakeClock();
    const value = new RefreshingValue({ name: 'v', load, coolDown, retry: false, clock, random: () => 0.5 });
    const seen: number[] = [];
    onCoolDown(value, (delay) => void seen.push(delay));
    for (const _ of delays) await value.refresh().catch(() => {});
    expect(seen).toEqual(delays);
  });
});
