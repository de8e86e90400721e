// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { Duration } from 'luxon';
import { expectTypeOf, test } from 'vitest';
import { cron, dailyAt, duringHours } from '../../../src/calendar/index.ts';
import {
  type Execution,
  earliest,
  fixedDelay,
  fixedRate,
  httpFreshness,
  PeriodicExecutor,
  probabilisticEarly,
  RefreshingValue,
  type Schedule,
  type ScheduleLike,
  withJitter,
} from '../../../src/index.ts';

const value = new RefreshingValue({ name: 'v', load: async () => 1 });

test('all forms of a schedule are accepted', () => {
  const accepted: ScheduleLike[] = [
    1000,
    { minutes: 10 },
    Duration.fromObject({ hours: 1 }),
    (execution) => execution.endedAt + 1000,
    ({ endedAt, startedAt }) => endedAt + 10 * (endedAt - startedAt),
    { nextExecuteTime: ({ endedAt }) => endedAt + 1000 },
    { nextExecuteTime: () => Number.POSITIVE_INFINITY, maxStaleness: () => undefined },
    fixedDelay({ minutes: 1 }),
    fixedRate(1000, { anchoredAt: new Date(0) }),
    dailyAt('05:00', { zone: 'Europe/Amsterdam' }),
    cron('0 5 * * *'),
    earliest({ hours: 1 }, dailyAt('05:00')),
    withJitter({ minutes: 10 }, { seconds: 30 }),
    withJitter({ minutes: 10 }, { ratio: 0.1 }),
    duringHours({ minutes: 10 }, { from: '08:00', to: '18:00', days: [1, 2, 3] }),
    probabilisticEarly({ minutes: 10 }, { beta: 1.5 }),
    httpFreshness({ shared: true }),
    Infinity,
  ];
  for (const schedule of accepted) {
    new RefreshingValue({ name: 'v', load: async () => 1, schedule });
    new PeriodicExecutor(() => {}, { name: 'e', schedule });
    value.reschedule(schedule);
  }
});

test('other forms are rejected', () => {
  // @ts-expect-error: returns nothing
  value.reschedule(() => {});
  // @ts-expect-error: an instant is a number
  value.reschedule(() => new Date());
  // @ts-expect-error: nor a promise of one
  value.reschedule(async () => Date.now() + 1000);
  // @ts-expect-error: another name
  value.reschedule({ next: () => 1 });
  // @ts-expect-error: the zone goes into the options
  dailyAt('05:00', 'Europe/Amsterdam');
  // @ts-expect-error: misspelt
  dailyAt('05:00', { timezone: 'Europe/Amsterdam' });
});

test('a strategy gets the last execution', () => {
  const schedule: Schedule = {
    nextExecuteTime(execution) {
      expectTypeOf(execution).toEqualTypeOf<Execution>();
      expectTypeOf(execution.outcome).toEqualTypeOf<'loaded' | 'kept' | 'set' | undefined>();
      expectTypeOf(execution.result).toBeUnknown();
      // @ts-expect-error: read-only
      execution.endedAt = 0;
      return execution.endedAt + (execution.outcome === 'kept' ? 2000 : 1000);
    },
  };
  value.reschedule(schedule);
});

test('a subclass overrides nextExecuteTime, and others can’t call it', () => {
  class Hourly extends PeriodicExecutor {
    protected override nextExecuteTime({ endedAt }: Execution): number {
      return endedAt + 3_600_000;
    }
  }
  class HourlyValue extends RefreshingValue<number> {
    protected override nextExecuteTime(execution: Execution): number {
      return super.nextExecuteTime(execution) + 1;
    }
  }
  class Wrong extends PeriodicExecutor {
    // @ts-expect-error: an instant is a number
    protected override nextExecuteTime(): string {
      return 'tomorrow';
    }
  }
  const hourly = new Hourly(() => {}, { name: 'e' });
  // @ts-expect-error: protected
  hourly.nextExecuteTime({ startedAt: 0, endedAt: 0 });
  expectTypeOf(new HourlyValue({ name: 'v', load: () => 1 }).current).toEqualTypeOf<number>();
  new Wrong(() => {}, { name: 'e' });
});
