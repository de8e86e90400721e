import { describe, expect, it } from 'vitest';
import { localClock } from '../../../src/calendar/local-time.ts';
import { optionErrorOf } from '../schedule/support.ts';
import { at, iso } from '../schedule/wall-clock.ts';

const instantOf = (zone: string, wallTime: string): string =>
  iso(localClock('test', zone).instantOf(at(`${wallTime}Z`)));

describe('the instant of a wall time', () => {
  it.each([
    ['an ordinary one', 'Europe/Amsterdam', '2026-07-01T05:00:00', '2026-07-01T03:00:00.000Z'],
    ['with seconds', 'Asia/Kathmandu', '2026-07-01T05:00:07', '2026-06-30T23:15:07.000Z'],
    ['the last before a gap', 'Europe/Amsterdam', '2026-03-29T01:59:59', '2026-03-29T00:59:59.000Z'],
    ['the first of a gap', 'Europe/Amsterdam', '2026-03-29T02:00:00', '2026-03-29T01:00:00.000Z'],
    ['the last of a gap', 'Europe/Amsterdam', '2026-03-29T02:59:59', '2026-03-29T01:00:00.000Z'],
    ['the first after a gap', 'Europe/Amsterdam', '2026-03-29T03:00:00', '2026-03-29T01:00:00.000Z'],
    ['twice, so the first', 'Europe/Amsterdam', '2026-10-25T02:30:00', '2026-10-25T00:30:00.000Z'],
    ['the first after a fold', 'Europe/Amsterdam', '2026-10-25T03:00:00', '2026-10-25T02:00:00.000Z'],
    ['in a gap, New York', 'America/New_York', '2026-03-08T02:30:00', '2026-03-08T07:00:00.000Z'],
    ['in a fold, New York', 'America/New_York', '2026-11-01T01:30:00', '2026-11-01T05:30:00.000Z'],
    ['in a gap of 30 minutes', 'Australia/Lord_Howe', '2026-10-04T02:15:00', '2026-10-03T15:30:00.000Z'],
    ['after a gap of 30 minutes', 'Australia/Lord_Howe', '2026-10-04T02:30:00', '2026-10-03T15:30:00.000Z'],
    ['in a fold of 30 minutes', 'Australia/Lord_Howe', '2026-04-05T01:45:00', '2026-04-04T14:45:00.000Z'],
    ['a midnight in a gap', 'Asia/Beirut', '2026-03-29T00:00:00', '2026-03-28T22:00:00.000Z'],
    ['in a gap that ends at midnight', 'America/Nuuk', '2026-03-28T23:30:00', '2026-03-29T01:00:00.000Z'],
    ['in a fold back over midnight', 'Africa/Cairo', '2026-10-29T23:30:00', '2026-10-29T20:30:00.000Z'],
    ['a midnight after such a fold', 'Africa/Cairo', '2026-10-30T00:00:00', '2026-10-29T22:00:00.000Z'],
    ['on a day left out', 'Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T10:00:00.000Z'],
    ['the day after', 'Pacific/Apia', '2011-12-31T05:00:00', '2011-12-30T15:00:00.000Z'],
    ['in an offset with seconds', 'Africa/Monrovia', '1972-01-05T12:00:00', '1972-01-05T12:44:30.000Z'],
    ['in a gap of 44:30', 'Africa/Monrovia', '1972-01-07T00:30:00', '1972-01-07T00:44:30.000Z'],
    ['in a country that stopped changing', 'Asia/Tehran', '2026-03-22T00:30:00', '2026-03-21T21:00:00.000Z'],
  ])('%s: %s %s', (_, zone, wallTime, instant) => {
    expect(instantOf(zone, wallTime)).toBe(instant);
  });

  it('is that of the machine without a zone', () => {
    const { TZ } = process.env;
    try {
      process.env.TZ = 'America/New_York';
      const clock = localClock('test', undefined);
      expect(iso(clock.instantOf(at('2026-03-08T02:30:00Z')))).toBe('2026-03-08T07:00:00.000Z');
      expect(iso(clock.wallTimeAt(at('2026-07-01T12:00:00Z')))).toBe('2026-07-01T08:00:00.000Z');
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it('is NaN for NaN, without a hang', () => {
    expect(localClock('test', 'Europe/Amsterdam').instantOf(Number.NaN)).toBeNaN();
    expect(localClock('test', 'Europe/Amsterdam').firstAfter(Number.NaN, (wall) => wall + 1)).toBeNaN();
  });
});

describe('a series of wall times', () => {
  it('does not come back to those that were shown before the clock was put back', () => {
    const clock = localClock('test', 'Europe/Amsterdam');
    let asked = 0;
    const everySecond = (wallTime: number): number => {
      asked++;
      return (Math.floor(wallTime / 1000) + 1) * 1000;
    };
    expect(iso(clock.firstAfter(at('2026-10-25T01:10:00Z'), everySecond))).toBe('2026-10-25T02:00:00.000Z');
    expect(asked).toBe(1);
  });

  it('may end', () => {
    expect(localClock('test', 'UTC').firstAfter(0, () => Number.POSITIVE_INFINITY)).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});

it.each(['Fantasia/Castle', '', 'local', 3, null, [['UTC']]])('rejects the zone %o', (zone) => {
  const error = optionErrorOf(() => localClock('dailyAt', zone as string));
  expect(error.message).toContain('dailyAt: zone must be an IANA time zone');
  expect(error.message).toContain(`, received ${JSON.stringify(zone)}`);
});
