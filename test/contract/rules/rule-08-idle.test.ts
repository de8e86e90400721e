import { describe, expect, it } from 'vitest';
import { HoldingClock } from '../../support/holding-clock.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { fakeValue, manualValue } from '../../support/manual-value.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('rule 8: idle means idle', () => {
  it('there is no timer before, between and after executions, however they end', async () => {
    const manual = new ManualLoad<number>();
    const { clock, value } = fakeValue(manual.load, { schedule: { days: 30 }, retry: { retries: 1 } });
    expect(clock.timerCount).toBe(0);
    const first = value.get();
    expect(clock.timerCount).toBe(1); // the deadline
    manual.call(0).resolve(1);
    await first;
    expect(clock.timerCount).toBe(0);

    const failed = rejectionOf(value.refresh());
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    expect(clock.timerCount).toBe(2); // the deadline, and the pause before the second try
    await clock.advance(1000);
    manual.call(2).reject(new Error('down'));
    await failed;
    expect(clock.timerCount).toBe(0);

    void value.refresh();
    value.invalidate();
    await clock.flush();
    value.set(2);
    expect(clock.timerCount).toBe(1); // the aborted load has not settled
    manual.call(3).reject(new Error('aborted'));
    await clock.flush();
    expect(clock.timerCount).toBe(0);
    void value.refresh();
    const closed = value.close({ timeout: { minutes: 5 } });
    expect(clock.timerCount).toBe(2); // the deadline, and that of close
    await clock.advance(30_000);
    await closed;
    expect(clock.timerCount).toBe(0);
  });

  it('timers keep the process alive only while a caller waits', async () => {
    const clock = new HoldingClock();
    const { manual, value } = manualValue({ schedule: 100, clock });
    const controller = new AbortController();
    const impatient = rejectionOf(value.get({ signal: controller.signal }));
    expect(clock.held).toBe(1);
    controller.abort(new Error('client gone'));
    expect(await impatient).toMatchObject({ message: 'client gone' });
    expect(clock.held).toBe(0);
    const patient = value.get();
    expect(clock.held).toBe(1);
    manual.call(0).resolve('one');
    await patient;
    expect(clock.held).toBe(0);

    await clock.advance(100);
    value.current;
    await clock.flush();
    expect([clock.timerCount, clock.held]).toEqual([1, 0]);
    const refresh = value.refresh();
    expect(clock.held).toBe(1);
    manual.call(1).resolve('two');
    await refresh;
    expect([clock.timerCount, clock.held]).toEqual([0, 0]);
  });
});
