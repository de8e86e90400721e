import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { dailyAt, duringHours, type HoursOptions } from '../../../src/calendar/index.ts';
import {
  type DurationLike,
  fixedDelay,
  fixedRate,
  RefreshingValue,
  type Schedule,
  withJitter,
} from '../../../src/index.ts';
import { toMillis } from '../../../src/time/duration.ts';
import { expectReadable, expectUnpolluted, hostileValue } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { optionErrorOf } from './support/option-errors.ts';
import { HUGE, runs } from './support/runs.ts';

// Times, zones, hours and durations from configuration files: rejected with the reason, or valid.

afterEach(expectUnpolluted);

const NOW = Date.UTC(2026, 10, 20, 12);

/** An `OPTION` error of one of these options, or instants that follow each other. */
function expectScheduleOrRefusal(make: () => Schedule, options: readonly string[]): Schedule | undefined {
  let schedule: Schedule;
  try {
    schedule = make();
  } catch (thrown) {
    const error = optionErrorOf(thrown);
    expect(options).toContain(error.option);
    expectReadable(error.message.replace(/received \[object \w+\]/, '')); // what JSON can't show
    return undefined;
  }
  for (let at = NOW, left = 3; left > 0; left--) {
    const next = schedule.nextExecuteTime({ startedAt: at, endedAt: at });
    expect(next).toBeGreaterThan(at);
    if (!Number.isFinite(next)) break;
    at = next;
  }
  return schedule;
}

const time = fc.oneof(
  fc
    .tuple(fc.constantFrom('05:00', '23:59:59', '00:00'), mutation)
    .map(([one, mutate]) => mutate(one, '12:30')),
  fc
    .tuple(fc.nat(30), fc.nat(70))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`),
  fc.constantFrom('24:00', '5:00', '05:00 ', '٠٥:٠٠', '05:00:60', '-1:00', 'T05:00', '05.00', '05:00\n', ''),
  hostileValue,
);

const zone = fc.oneof(
  fc.constantFrom(
    undefined,
    'UTC',
    'Europe/Amsterdam',
    'europe/amsterdam',
    'America/Nuuk',
    'Etc/GMT+12',
    'EST5EDT',
  ),
  fc
    .tuple(fc.constantFrom('Europe/Amsterdam', 'Asia/Kolkata'), mutation)
    .map(([one, mutate]) => mutate(one, 'UTC')),
  fc.constantFrom(
    'Mars/Olympus',
    '+05:00',
    'GMT+5',
    'local',
    'utc+2',
    'system',
    '../../../etc/passwd',
    '__proto__',
    'constructor',
  ),
  fc.constant('Europe/'.repeat(HUGE / 100)),
  hostileValue,
);

/** Half of them are valid, so that a few runs see some. */
const timeAndZone = fc.oneof(
  fc.tuple(time, zone),
  fc.tuple(fc.constantFrom('05:00', '00:00', '23:59:59'), fc.constantFrom(undefined, 'UTC', 'America/Nuuk')),
);

it('dailyAt of any time and zone: rejected, or once a day', () => {
  let sound = 0;
  fc.assert(
    fc.property(timeAndZone, ([at, where]) => {
      const make = () => dailyAt(at as string, { zone: where as string });
      const schedule = expectScheduleOrRefusal(make, ['time', 'zone']);
      if (schedule === undefined) return;
      sound += 1;
      const days = (schedule.nextExecuteTime({ startedAt: NOW, endedAt: NOW }) - NOW) / 86_400_000;
      expect(days).toBeLessThan(1.1);
      expect(at).toMatch(/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/);
    }),
    runs(1500),
  );
  expect(sound).toBeGreaterThan(0);
});

it('duringHours of any hours, days and zone: rejected, or inside of them', () => {
  const soundTime = fc.constantFrom('00:00', '02:30', '08:00', '18:00:30', '23:59:59');
  const days = fc.oneof(
    fc.constant(undefined),
    fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
    fc.array(fc.integer({ min: -1, max: 8 })),
    hostileValue,
  );
  const hours = fc.record({
    from: fc.oneof({ weight: 5, arbitrary: soundTime }, time),
    to: fc.oneof({ weight: 5, arbitrary: soundTime }, time),
    days,
    zone: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/Nuuk') },
      zone,
    ),
  });
  const inner = fc.constantFrom<DurationLike>(
    1,
    60_000,
    86_400_000,
    { days: 400 },
    Number.POSITIVE_INFINITY,
    1e15,
  );
  fc.assert(
    fc.property(hours, inner, (given, every) => {
      const make = () => duringHours(every, given as unknown as HoursOptions);
      const schedule = expectScheduleOrRefusal(make, ['from', 'to', 'days', 'zone']);
      if (schedule === undefined || (given.days ?? undefined) === undefined) return;
      expect((given.days as number[]).filter((day) => ![1, 2, 3, 4, 5, 6, 7].includes(day))).toEqual([]);
      expect(given.days).not.toHaveLength(0);
    }),
    runs(800),
  );
});

describe('a duration', () => {
  const unit = fc.constantFrom('days', 'hours', 'minutes', 'seconds', 'milliseconds');
  const anyUnit = fc.oneof(
    unit,
    fc.constantFrom('weeks', 'minute', '__proto__', 'constructor', 'toMillis', 'valueOf', ''),
  );
  const duration = fc.oneof(
    hostileValue,
    fc.dictionary(unit, fc.double(), { minKeys: 1 }),
    fc.dictionary(anyUnit, hostileValue),
    hostileValue.map((value) => ({ toMillis: () => value })),
    fc.constantFrom<unknown>(
      { toMillis: () => JSON.parse('{') },
      Object.create(null),
      Object.create({ minutes: 5 }),
    ),
  );

  it('is a number of milliseconds, or NaN: never a converted object', () => {
    fc.assert(
      fc.property(duration, (given) => {
        const ms = toMillis(given as DurationLike);
        expect(typeof ms).toBe('number');
        if (typeof given === 'string' || given === null || given === undefined || Array.isArray(given)) {
          expect(ms).toBeNaN();
        }
      }),
      runs(1000),
    );
  });

  it('of a schedule: rejected, or later than now', () => {
    const uses: readonly [(given: DurationLike) => Schedule, string[]][] = [
      [(given) => fixedDelay(given), ['delay']],
      [(given) => fixedRate(given), ['period']],
      [(given) => withJitter(1000, given), ['jitter', 'jitter.ratio']],
    ];
    fc.assert(
      fc.property(duration, fc.constantFrom(...uses), (given, [use, options]) => {
        const ms = toMillis(given as DurationLike);
        const isTooShort = ms > 0 && NOW + ms === NOW; // no number is between the two
        if (!isTooShort) expectScheduleOrRefusal(() => use(given as DurationLike), options);
      }),
      runs(1000),
    );
  });

  it('of any option: rejected with its name, or accepted', () => {
    const option = fc.constantFrom(
      'timeout',
      'maxStaleness',
      'schedule',
      'coolDown',
      'retry',
      'whenTooStale',
    );
    fc.assert(
      fc.property(option, duration, (name, given) => {
        const options = { name: 'v', load: () => 1, [name]: given } as unknown;
        try {
          new RefreshingValue(options as ConstructorParameters<typeof RefreshingValue>[0]);
        } catch (thrown) {
          const error = optionErrorOf(thrown);
          expect(error.option.split('.')[0]).toBe(name);
          expectReadable(error.message.replaceAll(/received \[object \w+\]/g, ''));
        }
      }),
      runs(800),
    );
  });
});
