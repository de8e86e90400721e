import fc from 'fast-check';
import { cron } from '../../../src/calendar/cron.ts';
import { dailyAt } from '../../../src/calendar/daily-at.ts';
import { duringHours } from '../../../src/calendar/during-hours.ts';
import { earliest } from '../../../src/schedule/earliest.ts';
import { fixedDelay } from '../../../src/schedule/fixed-delay.ts';
import { fixedRate } from '../../../src/schedule/fixed-rate.ts';
import { httpFreshness } from '../../../src/schedule/http-freshness.ts';
import { probabilisticEarly } from '../../../src/schedule/probabilistic-early.ts';
import type { Execution, ScheduleLike } from '../../../src/schedule/schedule.ts';
import { withJitter } from '../../../src/schedule/with-jitter.ts';
import { clockChanges, TEN_YEARS } from '../../property/zone-timeline.ts';
import { awkwardZones, DAY, everyZone } from './wall-clock.ts';

/** A schedule, written out as the call that makes it. */
export interface Described {
  readonly text: string;
  readonly schedule: ScheduleLike;
}

const zone = fc.constantFrom(...awkwardZones, ...awkwardZones, ...everyZone);
const time = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => `${part}`.padStart(2, '0')).join(':'));
/** From a millisecond to a year. Far less is lost in the precision of epoch milliseconds. */
const duration = fc.oneof(
  fc.integer({ min: 1, max: 365 * DAY }),
  fc.integer({ min: 1, max: 100_000 }),
  fc.double({ min: 1, max: 365 * DAY, noNaN: true }),
);
const instant = fc.integer({ min: TEN_YEARS.from, max: TEN_YEARS.to });
const line = fc.constantFrom(
  '* * * * *',
  '*/7 * * * *',
  '0 */3 * * *',
  '5,35 1-3 * * *',
  '30 2 * * 0',
  '0 0 29 2 *',
  '0 0 30 2 *',
  '15 30 5 * * *',
  '@hourly',
  '@daily',
);

/** A call, with its arguments as JSON. */
function called(name: string, make: (...args: never[]) => ScheduleLike, ...args: unknown[]): Described {
  const text = args.map((argument) => JSON.stringify(argument)).join(', ');
  return { text: `${name}(${text})`, schedule: make(...(args as never[])) };
}

/** A call around another schedule. */
function around(
  name: string,
  make: (schedule: ScheduleLike, options: never) => ScheduleLike,
  { text, schedule }: Described,
  options: unknown,
): Described {
  return { text: `${name}(${text}, ${JSON.stringify(options)})`, schedule: make(schedule, options as never) };
}

/** Every schedule there is, and what the combinators make of them, nested a few levels deep. */
export const anySchedule: fc.Arbitrary<Described> = fc.letrec<{ any: Described }>((tie) => {
  const inner = tie('any');
  return {
    any: fc.oneof(
      { depthSize: 'small', maxDepth: 4, withCrossShrink: true },
      duration.map((ms) => called('fixedDelay', fixedDelay, ms)),
      duration.map((ms) => ({ text: `${ms}`, schedule: ms })),
      duration.map((ms) => called('fixedRate', fixedRate, ms)),
      fc
        .tuple(duration, instant)
        .map(([ms, anchoredAt]) => called('fixedRate', fixedRate, ms, { anchoredAt })),
      fc.tuple(time, zone).map(([at, where]) => called('dailyAt', dailyAt, at, { zone: where })),
      fc.tuple(line, zone).map(([what, where]) => called('cron', cron, what, { zone: where })),
      fc.constant({ text: 'Infinity', schedule: Infinity }),
      fc.boolean().map((shared) => called('httpFreshness', httpFreshness, { shared })),
      fc.array(inner, { minLength: 1, maxLength: 3 }).map((all) => ({
        text: `earliest(${all.map(({ text }) => text).join(', ')})`,
        schedule: earliest(...all.map(({ schedule }) => schedule)),
      })),
      fc.tuple(inner, duration).map(([what, ms]) => around('withJitter', withJitter, what, ms)),
      fc
        .tuple(inner, fc.double({ min: 0, max: 10, noNaN: true }))
        .map(([what, ratio]) => around('withJitter', withJitter, what, { ratio })),
      fc
        .tuple(inner, fc.double({ min: 0.001, max: 100, noNaN: true }))
        .map(([what, beta]) => around('probabilisticEarly', probabilisticEarly, what, { beta })),
      fc
        .record({
          from: time,
          to: time,
          zone,
          days: fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
        })
        .filter(({ from, to }) => from !== to)
        .chain((hours) => inner.map((what) => around('duringHours', duringHours, what, hours))),
    ),
  };
}).any;

const headers = fc.option(
  fc.dictionary(
    fc.constantFrom('cache-control', 'expires', 'date', 'age', 'last-modified'),
    fc.oneof(
      fc.constantFrom('max-age=60', 'max-age=0', 'no-cache', 's-maxage=5', 'max-age=-1', '99999999999', '0'),
      instant.map((each) => new Date(each).toUTCString()),
      fc.string(),
    ),
  ),
  { nil: undefined },
);

/** In the ten years, as often as not within three days of a change of the clocks somewhere. */
const endedAt = fc.oneof(
  instant,
  fc
    .tuple(fc.constantFrom(...awkwardZones), fc.nat(100), fc.integer({ min: -3 * DAY, max: 3 * DAY }))
    .map(([where, which, away]) => {
      const changes = clockChanges(where);
      return (changes[which % changes.length] as number) + away;
    }),
);

/** An execution that has just ended. */
export const anyExecution: fc.Arbitrary<Execution> = fc
  .record({
    endedAt,
    took: fc.oneof(fc.nat(1000), fc.nat(DAY)),
    due: fc.option(fc.integer({ min: -400 * DAY, max: 400 * DAY }), { nil: undefined }),
    drawn: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    outcome: fc.constantFrom('loaded', 'kept', 'set'),
    headers,
  })
  .map(({ took, due, drawn, ...rest }) => ({
    ...rest,
    startedAt: rest.endedAt - took,
    since: rest.endedAt,
    now: rest.endedAt,
    dueAt: due === undefined ? undefined : rest.endedAt + due,
    random: () => drawn,
  }));
