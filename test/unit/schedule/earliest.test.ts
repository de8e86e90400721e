import { describe, expect, it } from 'vitest';
import { dailyAt } from '../../../src/calendar/daily-at.ts';
import { earliest } from '../../../src/schedule/earliest.ts';
import type { ScheduleLike } from '../../../src/schedule/schedule.ts';
import { endedAt } from './support.ts';
import { at, iso } from './wall-clock.ts';

describe('earliest', () => {
  it('is due when the first of its schedules is', () => {
    const schedule = earliest({ hours: 1 }, dailyAt('05:00', { zone: 'UTC' }), Infinity);
    const next = (text: string): string => iso(schedule.nextExecuteTime(endedAt(at(text))));
    expect(next('2026-01-01T02:30:00Z')).toBe('2026-01-01T03:30:00.000Z');
    expect(next('2026-01-01T04:30:00Z')).toBe('2026-01-01T05:00:00.000Z');
  });

  it('takes the smallest of the ages that its schedules know', () => {
    const knowing = (age: number | undefined): ScheduleLike => ({
      nextExecuteTime: () => 5,
      maxStaleness: () => age,
    });
    expect(earliest(1000, knowing(undefined), knowing(70), knowing(50)).maxStaleness?.(endedAt(0))).toBe(50);
    expect(earliest(1000, knowing(undefined)).maxStaleness?.(endedAt(0))).toBeUndefined();
  });

  it('does not hide a broken schedule', () => {
    expect(earliest(1000, () => Number.NaN).nextExecuteTime(endedAt(0))).toBeNaN();
  });

  it('calls the schedules as methods', () => {
    const own = {
      delay: 7,
      nextExecuteTime() {
        return this.delay;
      },
      maxStaleness() {
        return this.delay * 2;
      },
    };
    expect(earliest(own).nextExecuteTime(endedAt(0))).toBe(7);
    expect(earliest(own).maxStaleness?.(endedAt(0))).toBe(14);
  });
});
