import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { executionRecord } from '../../../src/data/execution-record.ts';
import { type ExecutionRecord, keep, RefreshGroup } from '../../../src/index.ts';
import { ExecutionLog } from '../../../src/observe/execution-log.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const START = { trigger: 'due', background: true } as const;
const ENDED = { startedAt: -5, took: 5, attempts: 1 };

/** A group, and the last executions of its members. */
function made(options: ConstructorParameters<typeof RefreshGroup>[0] = {}) {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, logger: false, retry: false, schedule: 1000, ...options });
  const executions = (name: string): readonly ExecutionRecord[] =>
    group
      .members()
      .find((one) => one.name === name)
      ?.inspect().executions ?? expect.unreachable();
  return { clock, group, executions };
}

describe('the executions of a member', () => {
  it('have the age 0 of a value that was loaded here, however long its outcome took', async () => {
    let now = 0;
    const timers = new FakeClock();
    const ticking = {
      now: () => now,
      monotonic: () => ++now,
      setTimeout: (callback: () => void, delayMs: number) => timers.setTimeout(callback, delayMs),
    };
    const { group, executions } = made({ clock: ticking });
    await group.value({ name: 'rates', load: () => 1 }).get();
    expect(executions('rates')[0]).toMatchObject({ outcome: 'loaded', age: 0 });
  });

  it('are told with begin, length, trigger, end and error, the last one first', async () => {
    const { clock, group, executions } = made({ timeout: 500 });
    const results = [
      () => 1,
      () => keep(),
      () => Promise.reject(new Error('HTTP 502')),
      () => new Promise<never>(() => {}),
    ];
    const value = group.value({
      name: 'rates',
      load: async () => {
        await clock.advance(30);
        return (results.shift() as () => number)();
      },
    });
    const begun = clock.now();
    await value.get();
    await clock.advance(1000);
    await value.get({ patience: 1000 });
    value.invalidate();
    await value.get({ patience: 1000 }).catch(() => {});
    const last = value.refresh().catch(() => {});
    await clock.advance(600);
    await last;
    const own = { error: undefined, token: undefined, attempts: 1, tries: [], version: undefined };
    expect(executions('rates')).toMatchObject([
      {
        ...own,
        startedAt: begun + 1090,
        retryAt: expect.any(Number),
        took: 500,
        trigger: 'forced',
        outcome: 'timed-out',
        error: expect.stringContaining('timed out'),
      },
      {
        ...own,
        startedAt: begun + 1060,
        took: 30,
        trigger: 'invalidated',
        outcome: 'failed',
        error: 'HTTP 502',
      },
      { ...own, startedAt: begun + 1030, took: 30, trigger: 'due', outcome: 'kept' },
      { ...own, startedAt: begun, took: 30, trigger: 'first', outcome: 'loaded' },
    ]);
  });

  it('have one that set() has ended, and its error', async () => {
    const { clock, group, executions } = made();
    const value = group.value<number>({ name: 'rates', load: () => new Promise(() => {}) });
    void value.refresh().catch(() => {});
    value.set(1);
    await clock.flush();
    expect(executions('rates')).toMatchObject([{ outcome: 'cancelled', error: 'superseded by set()' }]);
  });

  it('of an instance have the results of others, and no turn that was left to another one', async () => {
    const clock = new FakeClock();
    const backend = memoryBackend({ clock });
    const on = () => {
      const { group, executions } = made({ clock, backend });
      return { value: group.value({ name: 'rates', load: async () => 1 }), executions };
    };
    const [a, b] = [on(), on()];
    await a.value.get();
    await b.value.get();
    expect(a.executions('rates')).toMatchObject([
      { outcome: 'loaded', attempts: 1, token: expect.any(Number) },
    ]);
    expect(b.executions('rates')).toMatchObject([{ outcome: 'adopted', attempts: 0 }]);
    await clock.advance(1500);
    for (const { value } of [a, b]) {
      await value.get(); // due: the load runs behind
      await clock.flush();
    }
    expect(b.executions('rates').map(({ outcome }) => outcome)).toEqual(['adopted', 'adopted']);
  });

  it('do not have the one under way, whose begin inspect() tells', async () => {
    const { clock, group, executions } = made();
    const value = group.value({ name: 'rates', load: () => new Promise(() => {}) });
    expect(value.inspect()).not.toHaveProperty('runningSince');
    const begun = clock.now();
    void value.get().catch(() => {});
    await clock.advance(700);
    expect(value.inspect().runningSince).toBe(begun);
    expect(executions('rates')).toEqual([]);
  });
});

describe('the log', () => {
  /** The numbers of the executions that are kept, of so many of which some failed. */
  function keptOf(count: number, hasFailed: (number: number) => boolean): readonly number[] {
    const log = new ExecutionLog(() => 0, { monotonic: () => 0 });
    for (let number = 0; number < count; number++) {
      const error = hasFailed(number) ? { error: new Error('down') } : {};
      const outcome = hasFailed(number) ? 'failed' : 'loaded';
      log.add(executionRecord(START, { ...ENDED, token: number }, { outcome, ...error }));
    }
    return log.newest.map(({ token }) => token ?? Number.NaN);
  }
  const downTo = (from: number, to: number): number[] =>
    Array.from({ length: from - to + 1 }, (_, at) => from - at);

  it.each([
    ['all have succeeded', 100, () => false, downTo(99, 80)],
    ['all have failed', 100, () => true, downTo(99, 70)],
    ['one failed long ago', 1000, (at: number) => at === 7, [...downTo(999, 980), 7]],
    ['many failed long ago', 1000, (at: number) => at < 50, [...downTo(999, 980), ...downTo(49, 40)]],
    ['there are few', 3, (at: number) => at === 1, [2, 1, 0]],
  ] as const)('keeps the last 20, and the last 10 that failed before: %s', (_, count, hasFailed, kept) => {
    expect(keptOf(count, hasFailed)).toEqual(kept);
  });

  it('bounds the text of an error, and knows how long ago the last one failed', () => {
    let now = 0;
    // The wall clock goes back meanwhile.
    const log = new ExecutionLog(() => 1e12 - 3 * now, { monotonic: () => now });
    expect(log.failedAgo).toBe(Number.POSITIVE_INFINITY);
    const error = new Error('x'.repeat(10_000));
    log.add(executionRecord(START, ENDED, { outcome: 'timed-out', error }));
    now = 70;
    log.add(executionRecord(START, ENDED, { outcome: 'kept' }));
    expect(log.failedAgo).toBe(70);
    expect(log.newest.at(-1)?.error).toHaveLength(500);
  });

  it('cuts the text of an error between words: half of a credential would not be hidden', () => {
    const log = new ExecutionLog(() => 0, { monotonic: () => 0 });
    for (const filler of [478, 500, 1000]) {
      const error = new Error(`${'x '.repeat(filler / 2)}shop:hunter2hunter2hunter2@db is away`);
      log.add(executionRecord(START, ENDED, { outcome: 'failed', error }));
      expect(log.newest[0]?.error).toMatch(/^(x ){238,}x…$/);
      expect(log.newest[0]?.error?.length).toBeLessThanOrEqual(500);
    }
  });

  it('holds on to no more than that text of an error', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const usedMb = (): number => {
      gc();
      return getHeapStatistics().used_heap_size / 1e6;
    };
    const log = new ExecutionLog(() => 0, { monotonic: () => 0 });
    const before = usedMb();
    for (let i = 0; i < 30; i++) {
      const body = Array.from({ length: 10_000 }, (_, line) => `line ${line} of ${i} ${' '.repeat(80)}`).join(
        ' ',
      );
      for (const message of [body, body.slice(0, 200)]) {
        log.add(executionRecord(START, ENDED, { outcome: 'failed', error: new Error(message) }));
      }
    }
    expect(usedMb() - before).toBeLessThan(5);
    expect(log.newest).toHaveLength(30);
  });
});
