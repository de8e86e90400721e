import { describe, expect, it, vi } from 'vitest';
import { Timing } from '../../../src/engine/timing.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { fakeValue, manualValue } from '../../support/manual-value.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

/** Throws at `instanceof`, at each property, at each conversion. */
const hostile = (): unknown => {
  const trap = (): never => {
    throw new Error('hands off');
  };
  return new Proxy({}, { getPrototypeOf: trap, get: trap, has: trap, ownKeys: trap });
};

/** A wall clock that a test kit has replaced by a function without a result. */
class MockedClock extends FakeClock {
  isMocked = false;

  override now(): number {
    return this.isMocked ? (undefined as never) : super.now();
  }
}

describe('whatever throws while an outcome is applied', () => {
  it('a hostile object that the load throws: readers get a LOAD_FAILED error, and there is a cool-down', async () => {
    const { clock, manual, value } = manualValue();
    const reads = [value.get(), value.refresh(), value.get({ signal: new AbortController().signal })];
    manual.call(0).reject(hostile());
    for (const read of reads) expect(await rejectionOf(read)).toMatchObject({ code: 'LOAD_FAILED' });
    expect(await rejectionOf(value.get())).toMatchObject({ code: 'COOLING_DOWN' });
    expect(clock.timerCount).toBe(0);
  });

  it('a hostile object that a schedule throws or returns: the value is served, and due after a cool-down', async () => {
    for (const schedule of [
      () => {
        throw hostile();
      },
      () => hostile() as never,
    ]) {
      let loads = 0;
      const { clock, value } = fakeValue<number>(async () => ++loads, { schedule });
      expect(await value.get()).toBe(1);
      await clock.advance(1000);
      expect(await value.get()).toBe(1);
      await clock.flush();
      expect(loads).toBe(2);
    }
  });

  it.each([true, false])('a wall clock without a result, a load that succeeds: %s', async (succeeds) => {
    const clock = new MockedClock();
    let loads = 0;
    const { value } = fakeValue<number>(
      async () => {
        loads += 1;
        if (!succeeds) throw new Error('down');
        return loads;
      },
      { clock, schedule: 1000, logger: recordLines() },
    );
    clock.isMocked = true;
    const read = value.get();
    await clock.flush();
    expect(await settled(read)).toMatchObject(succeeds ? { value: 1 } : { error: { code: 'LOAD_FAILED' } });
    await value.get().catch(() => {});
    await clock.flush();
    expect(loads).toBe(1);
    await clock.advance(2000);
    await value.get().catch(() => {});
    await clock.flush();
    expect(loads).toBe(2);
  });

  it('anything else: readers get a LOAD_FAILED error, there is a cool-down, and then a load', async () => {
    const succeeded = vi.spyOn(Timing.prototype, 'succeeded').mockImplementationOnce(() => {
      throw new Error('a bug');
    });
    const logger = recordLines();
    let loads = 0;
    const { clock, value } = fakeValue<number>(async () => ++loads, { schedule: 60_000, logger });
    const reads = [value.get(), value.refresh()];
    await clock.flush();
    for (const read of reads) {
      expect(await settled(read)).toMatchObject({
        error: { code: 'LOAD_FAILED', message: 'v: load failed: a bug' },
      });
    }
    expect(logger.lines[0]).toBe('error tickless: v: the result of a load could not be applied: a bug');
    expect(value.inspect()).toMatchObject({ running: false, failures: 1 });
    await value.get();
    await clock.flush();
    expect(loads).toBe(1);
    await clock.advance(1000);
    await value.get();
    await clock.flush();
    expect([loads, value.inspect().state]).toEqual([2, 'fresh']);
    succeeded.mockRestore();
  });
});
