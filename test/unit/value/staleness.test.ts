import { describe, expect, it, vi } from 'vitest';
import type { WhenTooStale } from '../../../src/engine/decide.ts';
import { isTicklessError, loaded, type RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { onEnded, recordEvents, wordsOf } from '../../support/events.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { fakeValue, type ManualValue, manualValue } from '../../support/manual-value.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

/** A value of 5001 ms, due since 1000, allowed 5000; its source can be taken down. */
async function makeTooStale(whenTooStale?: WhenTooStale): Promise<ManualValue> {
  const made = manualValue({ maxStaleness: { seconds: 5 }, ...(whenTooStale && { whenTooStale }) });
  await made.clock.advance(70);
  const first = made.value.get();
  made.manual.call(0).resolve('old');
  await first;
  await made.clock.advance(5001);
  return made;
}

describe('maxStaleness', () => {
  it('is an age: at the limit the value is served, beyond it not', async () => {
    const { clock, manual, value } = await makeTooStale('throw');
    value.set('newer');
    await clock.advance(5000);
    const events = recordEvents(value);
    expect(value.current).toBe('newer');
    expect(wordsOf(events)).not.toContain('too-stale');
    expect(value.inspect().state).toBe('stale');
    await clock.advance(1);
    expect(value.inspect()).toMatchObject({ state: 'too-stale', isStale: true, value: 'newer', age: 5001 });
    const error = thrownBy(() => value.current);
    expect(error).toMatchObject({ code: 'TOO_STALE', age: 5001, message: expect.stringMatching(/is 5 s$/) });
    expect(manual.calls).toHaveLength(2);
  });

  it('a read that waits ends with the error of the load when its value is dropped meanwhile', async () => {
    const { clock, manual, value } = await makeTooStale();
    const waiting = rejectionOf(value.get());
    expect(manual.calls).toHaveLength(2);
    value.invalidate({ drop: true });
    await clock.advance(30_000);
    expect(await waiting).toMatchObject({ code: 'TIMED_OUT' });
  });

  it("'wait' (the default): reads wait for the reload, in one load", async () => {
    const { clock, manual, value } = await makeTooStale();
    const reads = [value.get(), value.get(), value.get({ patience: 1 })];
    expect(await settled(reads[0] as Promise<string>)).toBe('pending');
    expect(thrownBy(() => value.current)).toMatchObject({ code: 'TOO_STALE' });
    manual.call(1).resolve('new');
    expect(await Promise.all(reads)).toEqual(['new', 'new', 'new']);
    await clock.flush();
    expect(value.current).toBe('new');
    expect(manual.calls).toHaveLength(2);
  });

  it("'wait': when the reload fails the error has the age of the value and the cause", async () => {
    const { clock, manual, value } = await makeTooStale();
    const rejection = rejectionOf(value.get());
    await clock.advance(40);
    const cause = new Error('down');
    manual.call(1).reject(cause);
    const error = await rejection;
    expect(isTicklessError(error, 'TOO_STALE') && error.age).toBe(5041);
    expect(error).toMatchObject({ cause: { code: 'LOAD_FAILED', cause } });
    // During the cool-down no read waits.
    expect(isTicklessError(await rejectionOf(value.get()), 'TOO_STALE')).toBe(true);
    expect(value.peek()).toBe('old');
    expect(manual.calls).toHaveLength(2);
  });

  it("'throw': reads fail at once, and the reload runs behind", async () => {
    const { clock, manual, value } = await makeTooStale('throw');
    for (let i = 0; i < 10; i++) {
      expect(isTicklessError(await rejectionOf(value.get()), 'TOO_STALE')).toBe(true);
      expect(thrownBy(() => value.current)).toMatchObject({ code: 'TOO_STALE' });
    }
    await clock.flush();
    expect(manual.calls).toHaveLength(2);
    expect(manual.call(1).context.background).toBe(true);
    manual.call(1).resolve('new');
    await clock.flush();
    expect(value.current).toBe('new');
  });

  it("'throw': a value that is due and younger is served, whichever way it is read, while it is loaded anew", async () => {
    const { clock, manual, value } = await makeTooStale('throw');
    value.set('newer');
    for (const age of [1000, 3000, 5000]) {
      await clock.advance(age - (value.inspect().age as number));
      expect(value.inspect()).toMatchObject({ state: 'stale', age });
      expect(value.current).toBe('newer');
      expect(await value.get()).toBe('newer');
      expect(await value.get({})).toBe('newer');
      expect(manual.calls).toHaveLength(2);
    }
    const patient = value.get({ patience: 1 });
    await clock.advance(0);
    manual.call(1).resolve('new');
    expect(await patient).toBe('new');
  });

  it("'throw': served likewise while it cools down, and by a cache", async () => {
    let isDown = false;
    const load = async (key: string): Promise<string> => {
      if (isDown) throw new Error('down');
      return `of ${key}`;
    };
    const limits = { maxStaleness: 5000, whenTooStale: 'throw', coolDown: 60_000 } as const;
    const { clock, cache } = fakeCache({ load, ...limits });
    await cache.get('a');
    isDown = true;
    await clock.advance(1001);
    for (let read = 0; read < 2; read++) {
      expect(await cache.get('a')).toBe('of a');
      expect(cache.current('a')).toBe('of a');
      expect(await cache.getMany(['a'])).toEqual(new Map([['a', 'of a']]));
      await clock.advance(1000);
    }
    expect(cache.inspect('a')?.failures).toBe(1);
    await clock.advance(5000);
    expect(thrownBy(() => cache.current('a'))).toMatchObject({ code: 'TOO_STALE' });
  });

  it('emits too-stale for each read beyond the limit', async () => {
    const { value } = await makeTooStale();
    const events = recordEvents(value);
    for (const read of [() => value.get(), async () => value.current]) void read().catch(() => {});
    expect(value.inspect().state).toBe('too-stale');
    expect(wordsOf(events)).toEqual(['too-stale', 'load-started', 'too-stale']);
    expect(events[0]).toMatchObject({ age: 5001, maxStaleness: 5000 });
  });

  it('a synchronous load answers current at once, also beyond the limit', async () => {
    let loads = 0;
    const { clock, value } = fakeValue(() => ++loads, { schedule: 1000, maxStaleness: 5000 });
    value.current;
    await clock.advance(6000);
    expect(value.current).toBe(2);
  });

  it('the value of a synchronous load is refused by current when listeners take longer than its age limit', () => {
    let elapsed = 0;
    const clock = new FakeClock();
    vi.spyOn(clock, 'monotonic').mockImplementation(() => elapsed);
    const { value } = fakeValue(() => 1, { schedule: 1000, maxStaleness: 5000, clock });
    onEnded(value, 'loaded', () => {
      elapsed += 5001;
    });
    expect(thrownBy(() => value.current)).toMatchObject({ code: 'TOO_STALE' });
    expect(value.inspect().state).toBe('too-stale');
  });

  it('makes a value due by itself where the schedule would not', async () => {
    let loads = 0;
    const { clock, value } = fakeValue(
      async () => loaded(++loads, loads === 1 ? { maxStaleness: 5000 } : {}),
      { schedule: { hours: 1 } },
    );
    await value.get();
    expect(value.inspect().nextExecuteTime).toBe(clock.now() + 5000);
    await clock.advance(5000);
    expect(await value.get()).toBe(1);
    await clock.flush();
    expect(value.inspect()).toMatchObject({ value: 2, nextExecuteTime: clock.now() + 3_600_000 });
  });

  it('paused or closed, a value beyond the limit is refused without a wait', async () => {
    const { value } = await makeTooStale();
    value.pause();
    expect(isTicklessError(await rejectionOf(value.get()), 'TOO_STALE')).toBe(true);
    await value.close();
    expect(isTicklessError(await rejectionOf(value.get()), 'TOO_STALE')).toBe(true);
    expect(thrownBy(() => value.current)).toMatchObject({ code: 'TOO_STALE' });
  });
});

it('a reload that a guard refuses is a failure: a read beyond maxStaleness rejects with TOO_STALE, and that as its cause', async () => {
  for (const read of [
    (value: RefreshingValue<string>) => value.get(),
    (value: RefreshingValue<string>) => value.get({ maxStaleness: 10 }),
  ]) {
    const { value, clock } = fakeValue<string>(() => 'one', {
      schedule: 1000,
      maxStaleness: 2000,
      whenTooStale: 'wait',
      accept: (_, { previous }) => previous === undefined || 'not today',
    });
    await value.get();
    await clock.advance(3000);
    const error = await rejectionOf(read(value));
    expect(error).toMatchObject({ code: 'TOO_STALE', cause: { code: 'REFUSED' } });
    expect(String(error)).toContain('not today');
  }
});
