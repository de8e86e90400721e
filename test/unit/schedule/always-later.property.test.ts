import fc from 'fast-check';
import { expect, it } from 'vitest';
import { afterStep } from '../../../src/engine/next-execution.ts';
import { requireSchedule } from '../../../src/schedule/to-schedule.ts';
import { anyExecution, anySchedule } from './schedules.ts';
import { DAY } from './wall-clock.ts';

it('every schedule, alone and nested, returns an instant after the end of the execution', {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(anySchedule, anyExecution, ({ text, schedule }, execution) => {
      const next = requireSchedule('test', 'schedule', schedule).nextExecuteTime(execution);
      expect(next, text).toBeGreaterThan(execution.endedAt);
    }),
    { numRuns: 2000 },
  );
});

it('after a step of the wall clock it returns an instant after `since`', () => {
  fc.assert(
    fc.property(
      anySchedule,
      anyExecution,
      fc.integer({ min: -30 * DAY, max: 30 * DAY }),
      fc.nat(10 * DAY),
      ({ text, schedule }, execution, step, elapsed) => {
        const stepped = afterStep(execution, step, execution.endedAt + step + elapsed);
        const next = requireSchedule('test', 'schedule', schedule).nextExecuteTime(stepped);
        expect(next, text).toBeGreaterThan(stepped.since as number);
      },
    ),
    { numRuns: 1000 },
  );
});

it('the age limit of a schedule is positive, if it has one', () => {
  fc.assert(
    fc.property(anySchedule, anyExecution, ({ text, schedule }, execution) => {
      const limit = requireSchedule('test', 'schedule', schedule).maxStaleness?.(execution);
      if (limit !== undefined) expect(limit, text).toBeGreaterThan(0);
    }),
    { numRuns: 1000 },
  );
});
