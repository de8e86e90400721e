import { describe, expect, it } from 'vitest';
import {
  type Execution,
  isTicklessError,
  PeriodicExecutor,
  RefreshGroup,
  type TaskContext,
  type TaskOptions,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordEvents, wordsOf } from '../../support/events.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

function make(options: Partial<TaskOptions> = {}) {
  const clock = new FakeClock();
  const manual = new ManualLoad<unknown>();
  const task = manual.load as unknown as (context: TaskContext) => Promise<unknown>;
  const quiet = { name: 'e', schedule: 1000, clock, retry: false, logger: false } as const;
  return { clock, manual, executor: new PeriodicExecutor(task, { ...quiet, ...options }) };
}

/** The same after its first execution. */
async function executed(options: Parameters<typeof make>[0] = {}): Promise<ReturnType<typeof make>> {
  const made = make(options);
  const first = made.executor.requestStart();
  made.manual.call(0).resolve(0);
  await first;
  return made;
}

describe('requestStart', () => {
  it('waits before the first success, and rethrows', async () => {
    const { clock, manual, executor } = make();
    const failed = executor.requestStart();
    expect(await settled(failed)).toBe('pending');
    const cause = new Error('no disk');
    manual.call(0).reject(cause);
    const error = await rejectionOf(failed);
    expect(isTicklessError(error, 'LOAD_FAILED') && error.cause).toBe(cause);
    expect(String(error)).toContain('no disk');
    expect(isTicklessError(await rejectionOf(executor.requestStart()), 'COOLING_DOWN')).toBe(true);
    await clock.advance(1000);
    const succeeded = executor.requestStart();
    manual.call(1).resolve('a result');
    expect(await succeeded).toBeUndefined();
  });

  it('returns at once after it, and the task runs behind', async () => {
    const { clock, manual, executor } = await executed();
    expect(await settled(executor.requestStart())).toEqual({ value: undefined });
    await clock.advance(999);
    await executor.requestStart();
    await clock.flush();
    expect(manual.calls).toHaveLength(1);
    await clock.advance(1);
    expect(await settled(executor.requestStart())).toEqual({ value: undefined });
    expect(manual.calls).toHaveLength(2);
    expect(manual.call(1).context).toMatchObject({ trigger: 'due', background: true, attempt: 1 });
    expect('previous' in manual.call(1).context).toBe(false);
    expect('token' in manual.call(1).context).toBe(false);
  });

  it('wait: false does not wait for the first either; its failure reaches the logger', async () => {
    const lines: string[] = [];
    const logger = { warn: (line: string) => void lines.push(line), error: () => {} };
    const { clock, manual, executor } = make({ logger });
    expect(await settled(executor.requestStart({ wait: false }))).toEqual({ value: undefined });
    expect(manual.call(0).context).toMatchObject({ trigger: 'first', background: true });
    manual.call(0).reject(new Error('no disk'));
    await clock.flush();
    expect(lines).toHaveLength(1);
    expect(await settled(executor.requestStart({ wait: false }))).toEqual({ value: undefined });
    expect(manual.calls).toHaveLength(1);
  });

  it('wait: true waits for a later execution too, and rethrows', async () => {
    const { clock, manual, executor } = await executed();
    expect(await settled(executor.requestStart({ wait: true }))).toEqual({ value: undefined });
    await clock.advance(1000);
    const waited = executor.requestStart({ wait: true });
    expect(manual.call(1).context.background).toBe(false);
    const joined = executor.requestStart({ wait: true });
    expect(await settled(waited)).toBe('pending');
    manual.call(1).reject(new Error('no disk'));
    expect(await rejectionOf(joined)).toBe(await rejectionOf(waited));
  });

  it('throws where the first run of a synchronous task fails: a getter that awaits nothing has no empty result', async () => {
    const clock = new FakeClock();
    const cause = new Error('no disk');
    let text: string | undefined;
    let isDown = true;
    const executor = new PeriodicExecutor(
      () => {
        if (isDown) throw cause;
        text = 'read';
      },
      { name: 'e', schedule: 1000, clock, retry: false, logger: false },
    );
    const get = (): string => {
      void executor.requestStart();
      return text as string;
    };
    const error = thrownBy(get);
    expect(isTicklessError(error, 'LOAD_FAILED') && error.cause).toBe(cause);
    const cooling = thrownBy(get);
    expect(isTicklessError(cooling, 'COOLING_DOWN') && cooling.cause).toBe(error);
    expect(await settled(executor.requestStart({ wait: false }))).toEqual({ value: undefined });
    executor.pause();
    expect(await rejectionOf(executor.requestStart())).toMatchObject({ code: 'NOT_LOADED' });
    executor.resume();
    await clock.advance(1000);
    isDown = false;
    expect(get()).toBe('read');
    isDown = true;
    await clock.advance(1000);
    expect(get()).toBe('read'); // the run that fails is behind it
    await clock.flush();
    expect([executor.inspect().failures, get()]).toEqual([1, 'read']);
  });
});

describe('too long since the last success', () => {
  const rules = { maxStaleness: 3000, retry: false, logger: false } as const;

  it('requestStart waits for the run, and rejects when it fails or may not start', async () => {
    const { clock, manual, executor } = await executed(rules);
    const events = recordEvents(executor);
    await clock.advance(3000);
    expect(await settled(executor.requestStart())).toEqual({ value: undefined }); // not over the limit yet
    manual.call(1).reject(new Error('no disk'));
    await clock.advance(1);
    const cooling = await rejectionOf(executor.requestStart());
    expect(isTicklessError(cooling, 'TOO_STALE') && cooling.message).toContain(
      'the last success was 3 s ago, maxStaleness is 3 s',
    );
    await clock.advance(2000);
    const waits = executor.requestStart();
    expect(await settled(waits)).toBe('pending');
    manual.call(2).reject(new Error('no disk'));
    expect(isTicklessError(await rejectionOf(waits), 'TOO_STALE')).toBe(true);
    expect(await settled(executor.requestStart({ wait: false }))).toEqual({ value: undefined });
    expect(await rejectionOf(executor.requestStart({ wait: true }))).toMatchObject({ code: 'COOLING_DOWN' });
    await clock.advance(5000);
    const succeeds = executor.requestStart();
    manual.call(3).resolve('done');
    expect(await settled(succeeds)).toEqual({ value: undefined });
    expect(wordsOf(events).filter((type) => type === 'too-stale')).toHaveLength(3);
    expect(await rejectionOf(executor.requestStart({ wat: true } as never))).toMatchObject(ofOption('wat'));
  });

  it('whenTooStale: throw', async () => {
    const { clock, manual, executor } = await executed({ ...rules, whenTooStale: 'throw' });
    await clock.advance(3001);
    expect(isTicklessError(await rejectionOf(executor.requestStart()), 'TOO_STALE')).toBe(true);
    await clock.flush();
    expect(manual.calls).toHaveLength(2); // behind it
  });

  it('is a problem of its group, in words of a task', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, logger: false });
    const { manual, executor } = await executed({ ...rules, clock, group });
    await clock.advance(3001);
    const failed = executor.requestStart();
    manual.call(1).reject(new Error('no disk'));
    await rejectionOf(failed);
    const [problem] = group.health({ start: false }).problems;
    expect(problem).toMatchObject({ kind: 'too-stale', isFatal: true });
    expect(problem?.message).toContain('had its last success 3 s ago, maxStaleness is 3 s');
    await executor.close();
    expect(isTicklessError(await rejectionOf(executor.requestStart()), 'CLOSED')).toBe(true);
  });
});

it('whenFailing of a task: throw: requestStart rejects with the error of the last run until one succeeds', async () => {
  const { clock, manual, executor } = await executed({ whenFailing: 'throw', retry: false, logger: false });
  await clock.advance(1000);
  await executor.requestStart();
  const cause = new Error('no disk');
  await clock.flush();
  manual.call(1).reject(cause);
  await clock.flush();
  expect(await rejectionOf(executor.requestStart())).toMatchObject({ cause });
  await clock.advance(1000);
  expect(await rejectionOf(executor.requestStart())).toMatchObject({ cause }); // starts the next one behind it
  await clock.flush();
  manual.call(2).resolve('done');
  await clock.flush();
  expect(await settled(executor.requestStart())).toEqual({ value: undefined });
});

describe('nextExecuteTime', () => {
  it('may be overridden', async () => {
    const clock = new FakeClock({ now: 0 });
    const executions: Execution[] = [];
    class EveryOtherMinute extends PeriodicExecutor {
      protected override nextExecuteTime(execution: Execution): number {
        executions.push(execution);
        return execution.endedAt + 120_000;
      }
    }
    let runs = 0;
    const executor = new EveryOtherMinute(() => `run ${++runs}`, { name: 'e', clock });
    await executor.requestStart();
    expect(executor.inspect().nextExecuteTime).toBe(120_000);
    await clock.advance(119_999);
    await executor.requestStart();
    await clock.flush();
    expect(runs).toBe(1);
    await clock.advance(1);
    await executor.requestStart();
    await clock.flush();
    expect(runs).toBe(2);
    expect(executions).toMatchObject([
      { startedAt: 0, endedAt: 0, dueAt: undefined, outcome: 'loaded', result: 'run 1' },
      { startedAt: 120_000, endedAt: 120_000, dueAt: 120_000, result: 'run 2' },
    ]);
  });

  it('may call the option with super', async () => {
    class Later extends PeriodicExecutor {
      protected override nextExecuteTime(execution: Execution): number {
        return super.nextExecuteTime(execution) + 5;
      }
    }
    const clock = new FakeClock({ now: 0 });
    const executor = new Later(() => {}, { name: 'e', clock, schedule: 10 });
    await executor.requestStart();
    expect(executor.inspect().nextExecuteTime).toBe(15);
    executor.reschedule(20);
    expect(executor.inspect().nextExecuteTime).toBe(25);
  });
});

describe('reschedule', () => {
  it('computes the next execute time anew from the last execution', async () => {
    const { clock, manual, executor } = make({ schedule: Infinity });
    executor.reschedule({ seconds: 5 });
    const first = executor.requestStart();
    manual.call(0).resolve(0);
    await first;
    const endedAt = clock.now();
    expect(executor.inspect().nextExecuteTime).toBe(endedAt + 5000);
    await clock.advance(10_000);
    executor.reschedule({ minutes: 1 });
    expect(executor.inspect()).toMatchObject({ nextExecuteTime: endedAt + 60_000, isDue: false });
    executor.reschedule({ seconds: 1 });
    expect(executor.inspect()).toMatchObject({ nextExecuteTime: endedAt + 1000, isDue: true });
    await executor.requestStart();
    await clock.flush();
    expect(manual.calls).toHaveLength(2);
    executor.reschedule(Infinity);
    manual.call(1).resolve(0);
    await clock.flush();
    expect(executor.inspect().nextExecuteTime).toBe(Number.POSITIVE_INFINITY);
  });

  it('rejects a value that is not a schedule, and keeps the old one', async () => {
    const { manual, executor } = make();
    for (const bad of [-1, 'soon' as never]) {
      expect(thrownBy(() => executor.reschedule(bad))).toMatchObject({ code: 'OPTION' });
    }
    const first = executor.requestStart();
    manual.call(0).resolve(0);
    await first;
    expect(executor.inspect()).toMatchObject({ failures: 0 });
  });

  it('replaces a schedule that is broken', async () => {
    const { clock, executor } = await executed({ schedule: () => Number.NaN });
    expect(executor.inspect()).toMatchObject({ failures: 1, lastError: { code: 'OPTION' } });
    executor.reschedule(5000);
    expect(executor.inspect()).toMatchObject({
      failures: 0,
      lastError: undefined,
      nextExecuteTime: clock.now() + 5000,
    });
  });

  it('leaves failures and the cool-down as they are', async () => {
    const { clock, executor, manual } = await executed();
    const second = rejectionOf(executor.execute());
    manual.call(1).reject(new Error('no disk'));
    await second;
    executor.reschedule(1);
    await clock.advance(100);
    await executor.requestStart();
    await clock.flush();
    expect(executor.inspect()).toMatchObject({ failures: 1, running: false });
  });
});

describe('pause and resume', () => {
  it('start nothing in between, but for execute', async () => {
    const { clock, manual, executor } = await executed();
    const events = recordEvents(executor);
    executor.pause();
    executor.pause();
    await clock.advance(5000);
    await executor.requestStart();
    await executor.requestStart({ wait: true });
    await clock.flush();
    expect(manual.calls).toHaveLength(1);
    expect(executor.inspect()).toMatchObject({ paused: true, isDue: true, running: false });
    const forced = executor.execute();
    manual.call(1).resolve(0);
    await forced;
    await clock.advance(5000);
    executor.resume();
    executor.resume();
    await executor.requestStart();
    await clock.flush();
    expect(manual.calls).toHaveLength(3);
    expect(wordsOf(events)).toEqual(['paused', 'load-started', 'loaded', 'resumed', 'load-started']);
  });
});

it('inspect reports the state of the executions', async () => {
  const { clock, manual, executor } = make();
  expect(executor.inspect()).toEqual({
    name: 'e',
    running: false,
    paused: false,
    closed: false,
    isDue: true,
    nextExecuteTime: clock.now(),
    lastStartedAt: undefined,
    lastEndedAt: undefined,
    failures: 0,
    lastError: undefined,
    counts: executor.inspect().counts,
    executions: [],
  });
  const startedAt = clock.now();
  const first = executor.requestStart();
  await clock.advance(300);
  expect(executor.inspect().running).toBe(true);
  manual.call(0).resolve(0);
  await first;
  expect(executor.inspect()).toMatchObject({
    running: false,
    isDue: false,
    lastStartedAt: startedAt,
    lastEndedAt: startedAt + 300,
    nextExecuteTime: startedAt + 1300,
  });
});

describe('close', () => {
  it('a forced execution joins the last one while that runs', async () => {
    const { manual, executor } = make();
    const running = executor.requestStart();
    const closing = executor.close();
    const joined = executor.execute();
    manual.call(0).resolve(0);
    expect(await Promise.all([running, joined])).toEqual([undefined, undefined]);
    expect(await closing).toEqual({ drained: true, aborted: [], leases: [] });
    expect(isTicklessError(await rejectionOf(executor.execute()), 'CLOSED')).toBe(true);
  });

  it('is what Symbol.asyncDispose does; 0 aborts at once; a bad timeout is an OPTION error', async () => {
    const { executor } = make();
    await executor[Symbol.asyncDispose]();
    expect(isTicklessError(await rejectionOf(executor.execute()), 'CLOSED')).toBe(true);
    const other = make();
    const running = rejectionOf(other.executor.requestStart());
    const error = thrownBy(() => other.executor.close({ timeout: -1 }));
    expect(isTicklessError(error, 'OPTION') && error.message).toContain('timeout');
    await other.executor.close({ timeout: 0 });
    expect(isTicklessError(await running, 'CLOSED')).toBe(true);
  });
});

describe('on', () => {
  it('returns the function that unsubscribes that listener only', async () => {
    const { executor } = make();
    let count = 0;
    const listener = (): void => {
      count += 1;
    };
    const off = executor.on('paused', listener);
    executor.on('paused', listener);
    executor.pause();
    expect(count).toBe(2);
    off();
    off();
    executor.resume();
    executor.pause();
    expect(count).toBe(3);
  });

  it('rejects an unknown type', () => {
    const error = thrownBy(() => make().executor.on('load-exploded' as never, () => {}));
    expect(isTicklessError(error, 'OPTION') && error.message).toContain('load-exploded');
  });
});
