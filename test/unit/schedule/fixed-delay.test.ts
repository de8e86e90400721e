import { describe, expect, it } from 'vitest';
import { fixedDelay } from '../../../src/schedule/fixed-delay.ts';

describe('fixedDelay', () => {
  it('counts from the end of the execution', () => {
    const schedule = fixedDelay({ minutes: 10 });
    expect(schedule.nextExecuteTime({ startedAt: 0, endedAt: 5000, dueAt: -7, now: 9000, since: 1 })).toBe(
      605_000,
    );
  });

  it('may be longer than a timer, and endless', () => {
    expect(fixedDelay({ days: 400 }).nextExecuteTime({ startedAt: 0, endedAt: 0 })).toBe(400 * 86_400_000);
    expect(fixedDelay(Number.POSITIVE_INFINITY).nextExecuteTime({ startedAt: 0, endedAt: 0 })).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});
