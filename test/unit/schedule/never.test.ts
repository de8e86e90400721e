import { describe, expect, it } from 'vitest';
import { never } from '../../../src/schedule/never.ts';
import type { Schedule } from '../../../src/schedule/schedule.ts';
import { toSchedule } from '../../../src/schedule/to-schedule.ts';
import { endedAt } from './support.ts';

describe('never', () => {
  it('is never due, written as a constant or as a call', () => {
    const schedules: Schedule[] = [never, never(), { ...never }, toSchedule(never)!];
    for (const schedule of schedules) {
      expect(schedule.nextExecuteTime(endedAt(1000))).toBe(Number.POSITIVE_INFINITY);
    }
    expect(never()).toBe(never);
  });
});
