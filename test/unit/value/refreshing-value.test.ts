import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Reader } from '../../../src/engine/reader.ts';
import {
  type Execution,
  isTicklessError,
  keep,
  type LoadContext,
  type LoadReturn,
  loaded,
  RefreshingValue,
} from '../../../src/index.ts';
import { recordEvents, wordsOf } from '../../support/events.ts';
import { CountingClock } from '../../support/manual-group.ts';
import { fakeValue, loadedManualValue, manualValue } from '../../support/manual-value.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';
import { countListeners } from '../engine/support.ts';

describe('reading', () => {
  it('current throws before the first success, starts the load, and works after it', async () => {
    const { clock, manual, value } = manualValue();
    const error = thrownBy(() => value.current);
    expect(isTicklessError(error, 'NOT_LOADED') && error.member).toBe('v');
    expect(manual.call(0).context).toMatchObject({ trigger: 'first', background: true });
    thrownBy(() => value.current);
    manual.call(0).resolve('one');
    await clock.flush();
    expect(value.current).toBe('one');
    expect(manual.calls).toHaveLength(1);
  });

  it('a synchronous load works on the very first read, by current and by get', async () => {
    const value = new RefreshingValue({ name: 'v', load: () => new Map([['NL', 31]]) });
    expect(value.current.get('NL')).toBe(31);
    const other = new RefreshingValue({ name: 'v', load: () => 5 });
    const promise = other.get();
    expect(other.peek()).toBe(5);
    expect(await promise).toBe(5);
  });

  it('a synchronous load that throws is tried again behind the reader when retry says so', async () => {
    let calls = 0;
    const { clock, value } = fakeValue(
      () => {
        calls += 1;
        if (calls === 1) throw new Error('locked');
        return calls;
      },
      { retry: { retries: 1 } },
    );
    expect(thrownBy(() => value.current)).toMatchObject({ code: 'NOT_LOADED' });
    await clock.advance(1000);
    expect(value.current).toBe(2);
  });

  it('peek never starts a load', async () => {
    const { clock, manual, value } = await loadedManualValue();
    expect(manualValue().value.peek()).toBeUndefined();
    await clock.advance(5000);
    expect(value.peek()).toBe('one');
    expect(value.inspect().state).toBe('stale');
    await clock.flush();
    expect(manual.calls).toHaveLength(1);
  });

  it('a fresh read takes the short way: it reads the clock once, and does not reach the engine', async () => {
    const clock = new CountingClock();
    const { value } = await loadedManualValue({ clock });
    const long = (['read', 'readNow'] as const).map((name) => vi.spyOn(Reader.prototype, name));
    onTestFinished(() => void vi.restoreAllMocks());
    const asked = [() => void value.get(), () => void value.current].map((read) => {
      clock.asked = 0;
      read();
      return clock.asked;
    });
    expect([asked, ...long.map(({ mock }) => mock.calls.length)]).toEqual([[1, 1], 0, 0]);
  });

  it('emits its life as events; a fresh read emits none', async () => {
    const { clock, manual, value } = manualValue();
    const events = recordEvents(value);
    const first = value.get();
    manual.call(0).resolve('one');
    await first;
    await value.get();
    value.current;
    await clock.advance(1000);
    value.current;
    await clock.advance(40);
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    value.current;
    expect(
      events.map(({ at, name, ...rest }) => ({ ...rest, at: at - Date.UTC(2026, 0, 1), name })),
    ).toMatchObject([
      { type: 'load-started', at: 0, name: 'v', trigger: 'first', background: false },
      {
        type: 'load-ended',
        outcome: 'loaded',
        at: 0,
        attempts: 1,
        took: 0,
        nextExecuteTime: Date.UTC(2026, 0, 1, 0, 0, 1),
      },
      { type: 'load-started', at: 1000, trigger: 'due', background: true },
      { type: 'stale-served', at: 1000, age: 1000 },
      {
        type: 'load-ended',
        outcome: 'failed',
        at: 1040,
        attempts: 1,
        took: 40,
        error: { message: 'v: load failed: down' },
        retryAt: expect.any(Number),
      },
      { type: 'stale-served', at: 1040, age: 1040 },
    ]);
  });

  it('the reason of the signal of a superseded load names the call', async () => {
    const { clock, manual, value } = manualValue();
    void value.requestStart({ wait: false });
    value.invalidate({ drop: true });
    manual.call(0).reject(new Error('aborted'));
    await clock.flush();
    void value.refresh();
    value.set('by hand');
    const reasons = manual.calls.map(({ context }) => context.signal.reason as DOMException);
    expect(reasons.map(({ name, message }) => [name, message])).toEqual([
      ['AbortError', expect.stringContaining('invalidate')],
      ['AbortError', expect.stringContaining('set')],
    ]);
  });

  it('invalidated, set and closed at once, it affects no other caller', async () => {
    const { clock, manual, value } = manualValue();
    const read = value.get();
    value.invalidate();
    value.set('by hand');
    await value.close();
    await clock.flush();
    expect([await read, manual.calls.length, clock.timerCount]).toEqual(['by hand', 1, 0]);
  });

  it('invalidated while it closes, it starts no load, and reads that need one reject', async () => {
    const { clock, manual, value } = manualValue();
    const before = value.get();
    const closing = value.close();
    value.invalidate({ drop: true });
    const after = rejectionOf(value.get());
    manual.call(0).resolve('one');
    await clock.flush();
    expect([await before, isTicklessError(await after, 'CLOSED')]).toEqual(['one', true]);
    await closing;
    expect(manual.calls).toHaveLength(1);
  });

  it('invalidated after all waiters have left, it starts no load', async () => {
    const { clock, manual, value } = manualValue();
    const controller = new AbortController();
    const read = rejectionOf(value.get({ signal: controller.signal }));
    controller.abort();
    await read;
    value.invalidate({ drop: true });
    manual.call(0).reject(new Error('aborted'));
    await clock.flush();
    expect([manual.calls.length, clock.timerCount, value.inspect().running]).toEqual([1, 0, false]);
  });

  it('a paused value goes on serving; paused before the first success it has nothing', async () => {
    const { clock, manual, value } = await loadedManualValue();
    value.pause();
    await clock.advance(5000);
    expect(await value.get()).toBe('one');
    expect(manual.calls).toHaveLength(1);
    const cold = manualValue().value;
    cold.pause();
    expect(isTicklessError(await rejectionOf(cold.get()), 'NOT_LOADED')).toBe(true);
  });
});

describe('patience', () => {
  it('waits that long for a fresh value, then serves the old one; the load goes on', async () => {
    const { clock, manual, value } = await loadedManualValue();
    await clock.advance(1000);
    const patient = value.get({ patience: { milliseconds: 200 } });
    const morePatient = value.get({ patience: 1000 });
    await clock.advance(199);
    expect(await settled(patient)).toBe('pending');
    await clock.advance(1);
    expect(await settled(patient)).toEqual({ value: 'one' });
    manual.call(1).resolve('two');
    expect(await morePatient).toBe('two');
    expect(clock.timerCount).toBe(0);
    expect(manual.calls).toHaveLength(2);
  });

  it('serves the old value when the load fails, and when it cools down', async () => {
    const { clock, manual, value } = await loadedManualValue();
    await clock.advance(1000);
    const patient = value.get({ patience: Number.POSITIVE_INFINITY });
    await clock.flush();
    manual.call(1).reject(new Error('down'));
    expect(await patient).toBe('one');
    expect(await settled(value.get({ patience: 500 }))).toEqual({ value: 'one' });
  });

  it('does not delay the read of a fresh value, nor any read when it is 0', async () => {
    const { clock, value } = await loadedManualValue();
    expect(value.get({ patience: 500 })).toBe(value.get());
    await clock.advance(1000);
    expect(await settled(value.get({ patience: 0 }))).toEqual({ value: 'one' });
  });
});

it('patience of a value that is dropped meanwhile: the read waits for the rest of it, as a first read does', async () => {
  const { clock, manual, value } = await loadedManualValue();
  await clock.advance(1000);
  const read = rejectionOf(value.get({ patience: 100 }));
  await clock.flush();
  value.invalidate({ drop: true });
  expect(manual.call(1).context.signal.aborted).toBe(false);
  await clock.advance(100);
  expect(manual.call(1).context.signal.aborted).toBe(true); // no caller can use it any more
  manual.call(1).reject(new Error('aborted'));
  expect(await read).toMatchObject({ code: 'NOT_LOADED' });
});

describe('signal', () => {
  it('that is aborted before, keeps a cold read from starting a load', async () => {
    const { manual, value } = manualValue();
    const reason = new Error('client gone');
    expect(await rejectionOf(value.get({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(manual.calls).toHaveLength(0);
  });

  it('does not affect a read that does not wait', async () => {
    const { value } = await loadedManualValue();
    expect(await value.get({ signal: AbortSignal.abort() })).toBe('one');
  });

  it('leaves nothing behind on a signal that outlives the read', async () => {
    const { manual, value } = manualValue();
    const { signal } = new AbortController();
    const listeners = countListeners(signal);
    const read = value.get({ signal });
    expect(listeners()).toBe(1);
    manual.call(0).resolve('one');
    await read;
    expect(listeners()).toBe(0);
  });
});

describe('a wrong argument', () => {
  it('is an OPTION error, also while the value is fresh', async () => {
    const { value } = await loadedManualValue();
    for (const options of [
      { patience: -5 },
      { patience: '5' },
      { signal: 'x' },
      { signal: { aborted: true } },
      { signal: null },
    ]) {
      expect(isTicklessError(await rejectionOf(value.get(options as never)), 'OPTION')).toBe(true);
    }
    expect(thrownBy(() => value.on('closed', 5 as never))).toMatchObject({ code: 'OPTION' });
  });

  it('null for all options counts as not given', async () => {
    const { value } = await loadedManualValue();
    expect(await value.get(null as never)).toBe('one');
    await value.requestStart(null as never);
    value.invalidate(null as never);
    await value.close(null as never);
  });
});

describe('waitUntil', () => {
  it('of the value is given each background load, that of a read what is under way; neither rejects', async () => {
    const global: Promise<unknown>[] = [];
    const local: Promise<unknown>[] = [];
    const { clock, manual, value } = await loadedManualValue({
      waitUntil: (promise) => void global.push(promise),
    });
    expect(global).toHaveLength(0);
    await value.get({ waitUntil: (promise) => void local.push(promise) });
    expect(local).toHaveLength(0);
    await clock.advance(1000);
    await value.get({ waitUntil: (promise) => void local.push(promise) });
    await value.get({ waitUntil: (promise) => void local.push(promise) });
    await clock.flush();
    expect([global.length, local.length]).toEqual([1, 2]);
    manual.call(1).reject(new Error('down'));
    expect(await Promise.all([...global, ...local])).toEqual([undefined, undefined, undefined]);
  });

  it('of a read that waits is given a promise too, that of a request as well', async () => {
    for (const ask of ['get', 'requestStart'] as const) {
      const { manual, value } = manualValue();
      const promises: Promise<unknown>[] = [];
      const asked = value[ask]({ waitUntil: (promise) => void promises.push(promise) });
      expect(promises).toHaveLength(1);
      expect(await settled(promises[0] as Promise<unknown>)).toBe('pending');
      manual.call(0).resolve('one');
      await Promise.all([asked, ...promises]);
    }
  });

  it('is settled when the load was superseded and no read follows', async () => {
    const promises: Promise<unknown>[] = [];
    const { clock, manual, value } = await loadedManualValue({
      waitUntil: (promise) => void promises.push(promise),
    });
    await clock.advance(1000);
    value.current;
    await clock.flush();
    value.invalidate({ drop: true });
    await Promise.all(promises);
    manual.call(1).reject(new Error('aborted'));
    await clock.flush();
    expect(manual.calls).toHaveLength(2);
    expect(value.inspect().running).toBe(false);
  });

  it('that throws is logged, and does not affect reads', async () => {
    const lines: string[] = [];
    const { clock, manual, value } = await loadedManualValue({
      logger: { warn: () => {}, error: (line) => void lines.push(line) },
      waitUntil: () => {
        throw new Error('no context');
      },
    });
    await clock.advance(1000);
    expect(await value.get()).toBe('one');
    await clock.flush();
    manual.call(1).resolve('two');
    await clock.flush();
    expect(value.current).toBe('two');
    expect(lines).toEqual(['tickless: v: waitUntil threw: no context']);
  });
});

describe('the result of a load', () => {
  it('keep() leaves the value and gives it a new age; previous is what a conditional request needs', async () => {
    let contexts = 0;
    const { clock, value } = fakeValue(
      async ({ previous }: LoadContext<{ etag: string }>) => {
        contexts += 1;
        if (previous === undefined) return { etag: 'a' };
        expect(previous).toEqual({ value: { etag: 'a' }, loadedAt: clock.now() - 1000 });
        return keep();
      },
      { schedule: 1000 },
    );
    const first = await value.get();
    const promise = value.get();
    const events = recordEvents(value);
    for (let i = 0; i < 3; i++) {
      await clock.advance(1000);
      value.current;
      await clock.flush();
      expect(value.inspect()).toMatchObject({ age: 0, state: 'fresh', loadedAt: clock.now(), failures: 0 });
    }
    expect(contexts).toBe(4);
    expect(value.current).toBe(first);
    expect(value.get()).toBe(promise);
    expect(wordsOf(events).filter((type) => type !== 'stale-served')).toEqual(
      Array(3).fill(['load-started', 'kept']).flat(),
    );
  });

  it('loaded() sets the next execute time and the greatest age of this value only', async () => {
    let loads = 0;
    const { clock, value } = fakeValue(
      async (): Promise<LoadReturn<number>> => {
        loads += 1;
        return loads === 1 ? loaded(loads, { dueAfter: 50, maxStaleness: 200 }) : loaded(loads);
      },
      { schedule: 1000 },
    );
    expect(await value.get()).toBe(1);
    expect(value.inspect()).toMatchObject({ nextExecuteTime: clock.now() + 50, maxStaleness: 200 });
    await clock.advance(50);
    await value.refresh();
    expect(value.inspect()).toMatchObject({
      value: 2,
      nextExecuteTime: clock.now() + 1000,
      maxStaleness: Number.POSITIVE_INFINITY,
    });
  });

  it('rejects a promise as value: await it first', async () => {
    const { value } = manualValue({ load: () => loaded(Promise.reject(new Error('down')) as never) });
    const error = await rejectionOf(value.get());
    expect(isTicklessError(error, 'LOAD_FAILED') && error.message).toContain('await the promise first');
    expect(thrownBy(() => value.set(Promise.resolve('x') as never))).toMatchObject({ code: 'OPTION' });
    expect(value.inspect().state).toBe('empty');
  });

  it('undefined is a failed load; the old value stays', async () => {
    let answer: string | undefined = 'one';
    const { value } = fakeValue(async () => answer, { schedule: 1000 });
    expect(await value.get()).toBe('one');
    answer = undefined;
    const error = await rejectionOf(value.refresh());
    expect(isTicklessError(error, 'LOAD_FAILED') && error.message).toContain('the load returned undefined');
    expect(value.current).toBe('one');
    expect(thrownBy(() => value.set(undefined))).toMatchObject({ code: 'OPTION' });
  });
});

it('age counts from the end of the load, as does the schedule', async () => {
  const { clock, manual, value } = manualValue();
  const first = value.get();
  await clock.advance(700);
  manual.call(0).resolve('one');
  await first;
  expect(value.inspect()).toMatchObject({
    age: 0,
    loadedAt: clock.now(),
    lastStartedAt: clock.now() - 700,
    nextExecuteTime: clock.now() + 1000,
  });
  await clock.advance(400);
  expect(value.inspect()).toMatchObject({ age: 400, isStale: false, state: 'fresh' });
  await clock.advance(600);
  expect(value.inspect()).toMatchObject({ age: 1000, isStale: true, state: 'stale', isDue: true });
});

describe('inspect', () => {
  it('reports the last error, the failures and the time of the next try', async () => {
    const { clock, manual, value } = await loadedManualValue({ random: () => 0 });
    await clock.advance(1000);
    value.current;
    await clock.flush();
    expect(value.inspect()).toMatchObject({ running: true, state: 'stale' });
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    expect(value.inspect()).toMatchObject({
      value: 'one',
      running: false,
      failures: 1,
      lastError: { code: 'LOAD_FAILED', cause: { message: 'down' } },
      nextExecuteTime: clock.now() + 500,
    });
    const failingSince = clock.now();
    const again = value.refresh().catch(() => {});
    await clock.advance(700);
    manual.call(2).reject(new Error('still down'));
    await again;
    expect(value.inspect()).toMatchObject({ failures: 2, failingSince });
    const refresh = value.refresh();
    manual.call(3).resolve('two');
    await refresh;
    expect(value.inspect()).toMatchObject({ failures: 0, lastError: undefined, value: 'two' });
    expect(value.inspect()).not.toHaveProperty('failingSince');
  });

  it('is empty before the first success, and due at once', () => {
    const { clock, value } = manualValue();
    expect(value.inspect()).toEqual({
      name: 'v',
      state: 'empty',
      isStale: false,
      refusesReads: false,
      isDue: true,
      loadedAt: undefined,
      age: undefined,
      maxStaleness: Number.POSITIVE_INFINITY,
      nextExecuteTime: clock.now(),
      running: false,
      paused: false,
      closed: false,
      lastStartedAt: undefined,
      lastEndedAt: undefined,
      failures: 0,
      lastError: undefined,
      counts: value.inspect().counts,
      executions: [],
    });
  });

  it('is due at once after invalidate, and starts nothing itself', async () => {
    const { clock, manual, value } = await loadedManualValue();
    await clock.advance(10);
    value.invalidate();
    expect(value.inspect()).toMatchObject({ state: 'stale', isStale: true, nextExecuteTime: clock.now() });
    await clock.flush();
    expect(manual.calls).toHaveLength(1);
    value.current;
    await clock.flush();
    expect(manual.call(1).context).toMatchObject({ trigger: 'invalidated', previous: { value: 'one' } });
  });
});

it('inspect after a step of the wall clock uses the new time at once', async () => {
  const { clock, value } = await loadedManualValue({ schedule: { hours: 1 } });
  await clock.advance(1000);
  clock.stepWall({ hours: 5 });
  expect(value.inspect()).toMatchObject({
    age: 1000,
    loadedAt: clock.now() - 1000,
    nextExecuteTime: clock.now() + 3_599_000,
    isDue: false,
  });
});

describe('set, refresh, requestStart, reschedule', () => {
  it('set gives a value that was never loaded, and calls the schedule', async () => {
    const executions: Execution[] = [];
    const { clock, manual, value } = manualValue({
      schedule: (execution) => {
        executions.push(execution);
        return execution.endedAt + 1000;
      },
    });
    value.set('by hand');
    expect(value.current).toBe('by hand');
    expect(await value.get()).toBe('by hand');
    expect(executions).toMatchObject([{ outcome: 'set', result: 'by hand', endedAt: clock.now() }]);
    await clock.advance(1000);
    value.current;
    await clock.flush();
    expect(manual.call(0).context).toMatchObject({ trigger: 'due', previous: { value: 'by hand' } });
  });

  it('reschedule changes a live schedule, a subclass may override it', async () => {
    const { clock, value } = await loadedManualValue();
    value.reschedule(Infinity);
    expect(value.inspect().nextExecuteTime).toBe(Number.POSITIVE_INFINITY);
    class Odd extends RefreshingValue<number> {
      protected override nextExecuteTime({ endedAt }: Execution): number {
        return endedAt + 77;
      }
    }
    const odd = new Odd({ name: 'odd', load: () => 1, clock });
    odd.current;
    expect(odd.inspect().nextExecuteTime).toBe(clock.now() + 77);
  });
});
