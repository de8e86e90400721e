import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { publishDiagnostics } from '../../../src/diagnostics/index.ts';
import { type Clock, type GroupOptions, RefreshGroup, RefreshingValue } from '../../../src/index.ts';
import type { ExecutionTrace } from '../../../src/observe/instrument.ts';
import { openTelemetry } from '../../../src/otel/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { instrumented } from '../../../src/value/instrumented.ts';
import { recordLines } from '../../support/events.ts';
import { fakeValue } from '../../support/manual-value.ts';

const boom = (): never => {
  throw new Error('boom');
};

/** What reads, loads, tasks and probes of a group do: all of it must go on, whatever observes it. */
async function story(options: GroupOptions, observe: (group: RefreshGroup) => unknown) {
  const clock = new FakeClock();
  const group = new RefreshGroup({
    ...{ clock, logger: false, schedule: 1000, retry: false, piggyback: false },
    ...options,
  });
  observe(group);
  let [loads, runs] = [0, 0];
  let isDown = false;
  const load = async (): Promise<number> => {
    loads += 1;
    if (isDown) throw new Error('down');
    return loads;
  };
  const value = group.value({ name: 'v', load });
  const sync = group.value({ name: 's', load: () => 5 });
  const cache = group.cache({ name: 'c', load: async (key: string) => key });
  const task = group.executor(() => ++runs, { name: 't' });
  const first = await value.get();
  await clock.advance(1000);
  const due = await value.get();
  await clock.flush();
  const refreshed = await value.refresh();
  const many = await cache.getMany(['a', 'b']);
  await task.execute();
  const health = group.health({ start: false }).ok;
  isDown = true;
  const failed = await value.refresh().catch((error: Error) => error.message);
  const kept = await value.get();
  const { running } = value.inspect();
  group.health();
  const closed = await group.close();
  return {
    reads: [first, due, refreshed, kept, sync.current, [...many.keys()]],
    counts: [loads, runs],
    ends: [health, failed, running, closed.drained],
  };
}

const EXPECTED = {
  reads: [1, 1, 3, 3, 5, ['a', 'b']],
  counts: [4, 1],
  ends: [true, 'v: load failed: down', false, true],
};

describe('rule 30: whatever observes changes nothing', () => {
  const processor = (part: Partial<SpanProcessor>): SpanProcessor => ({
    onStart() {},
    onEnd() {},
    forceFlush: async () => {},
    shutdown: async () => {},
    ...part,
  });
  const sampler = { shouldSample: boom, toString: () => 'sampler' };
  it.each([
    ['onStart of a span processor', { spanProcessors: [processor({ onStart: boom })] }],
    ['onEnd of a span processor', { spanProcessors: [processor({ onEnd: boom })] }],
    ['the sampler', { sampler }],
  ])('%s throws', async (_, config) => {
    const tracerProvider = new BasicTracerProvider(config);
    expect(await story({}, (group) => openTelemetry(group, { tracerProvider }))).toEqual(EXPECTED);
  });

  const traces: Readonly<Record<string, () => ExecutionTrace | undefined>> = {
    'begin throws': boom,
    'begin returns what is no trace': () => 7 as never,
    'call throws before the load': () => ({ call: boom, end: boom }),
    'call throws after the load': () => ({
      call: (_, load) => {
        load();
        throw new Error('boom');
      },
    }),
    'call never calls the load': () => ({ call: () => undefined as never }),
    'call calls it twice, and returns another result': () => ({
      call: (_, load) => {
        load();
        load();
        return Promise.resolve('other') as never;
      },
    }),
    'call returns a promise that rejects': () => ({
      call: (_, load) => {
        load();
        return Promise.reject(new Error('boom')) as never;
      },
      end: async () => boom(),
    }),
  };
  it.each(Object.keys(traces))('an instrument: %s', async (which) => {
    const begin = traces[which] as () => ExecutionTrace | undefined;
    const observe = (group: RefreshGroup) => {
      instrumented(group, { isWanted: true, begin, event: boom });
      instrumented(group, { isWanted: true, event: async () => boom() });
      instrumented(group, {
        get isWanted() {
          return boom();
        },
      });
    };
    expect(await story({}, observe)).toEqual(EXPECTED);
  });

  it('listeners, loggers and random throw or reject', async () => {
    const logger = { warn: boom, error: async () => boom() };
    const observe = (group: RefreshGroup) => {
      group.on('*', boom);
      group.on('*', async () => boom());
    };
    expect(await story({ logger, random: boom }, observe)).toEqual(EXPECTED);
  });

  it('a store that is bound to a channel: its transform returns nothing, the load has its own result', async () => {
    const start = channel('tracing:tickless:load:start');
    const storage = new AsyncLocalStorage<unknown>();
    start.bindStore(storage, () => undefined);
    expect(await story({}, publishDiagnostics)).toEqual(EXPECTED);
    start.unbindStore(storage);
  });

  it('errors of an instrument or a listener are one line a minute', async () => {
    const logger = recordLines();
    const clock = new FakeClock();
    const value = new RefreshingValue({ name: 'v', load: () => 1, schedule: 1000, clock, logger });
    instrumented(value, { isWanted: true, event: boom });
    value.on('stale-served', boom);
    for (let read = 0; read < 50; read++) {
      await value.get();
      await clock.advance(1000);
    }
    expect(logger.lines).toEqual([
      'error tickless: v: an instrument threw: boom',
      'error tickless: v: listener of stale-served threw: boom',
    ]);
  });

  it.each<[string, (clock: FakeClock) => Partial<Clock>]>([
    ['monotonic throws', () => ({ monotonic: boom })],
    ['monotonic returns NaN', () => ({ monotonic: () => NaN })],
    ['monotonic goes back', () => ({ monotonic: () => -1e9 })],
    ['now throws', () => ({ now: boom })],
    ['now returns NaN', () => ({ now: () => NaN })],
    ['timers throw', () => ({ setTimeout: boom })],
    [
      'methods of timers throw',
      (clock) => ({
        setTimeout: (callback, ms) => {
          clock.setTimeout(callback, ms);
          return { cancel: boom, ref: boom, unref: boom };
        },
      }),
    ],
  ])('the clock of the user: %s after a while', async (_, faultOf) => {
    const fake = new FakeClock();
    const clock: { -readonly [name in keyof Clock]: Clock[name] } = {
      now: () => fake.now(),
      monotonic: () => fake.monotonic(),
      setTimeout: (callback, ms) => fake.setTimeout(callback, ms),
    };
    let loads = 0;
    const value = new RefreshingValue({ name: 'v', load: async () => ++loads, clock, logger: false });
    const cold = new RefreshingValue({ name: 'cold', load: async () => ++loads, clock, logger: false });
    expect(await value.get()).toBe(1);
    await fake.advance(5000);
    Object.assign(clock, faultOf(fake));
    expect([await value.get(), value.current, await cold.get(), await value.refresh()]).toEqual([1, 1, 2, 3]);
    expect([value.inspect().running, value.inspect().failures]).toEqual([false, 0]);
  });

  it('a clock that went back goes on: values fall due', async () => {
    const fake = new FakeClock();
    let back = 0;
    const clock: Clock = {
      now: () => fake.now(),
      monotonic: () => fake.monotonic() - back,
      setTimeout: (callback, ms) => fake.setTimeout(callback, ms),
    };
    let loads = 0;
    const { value } = fakeValue(() => ++loads, { schedule: 1000, clock });
    await value.get();
    back = 3_600_000;
    await value.get();
    await fake.advance(1000);
    await value.get();
    await fake.flush();
    expect(loads).toBe(2);
  });
});
