import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duringHours } from '../../../src/calendar/during-hours.ts';
import { endedAt } from '../schedule/support.ts';
import { at, DAY, everyZone, HOUR, iso, MINUTE, offsetAt, shown } from '../schedule/wall-clock.ts';

type Hours = Parameters<typeof duringHours>[1];

/** Where the hours put an instant. */
const put = (hours: Hours, instant: string): string =>
  iso(duringHours(() => at(instant), hours).nextExecuteTime(endedAt(0)));

describe('duringHours', () => {
  const office = { from: '09:00', to: '17:00', zone: 'UTC', days: [1, 2, 3, 4, 5] };

  it('leaves an instant inside the hours as it is: `from` included, `to` excluded', () => {
    expect(put(office, '2026-01-05T09:00:00.000Z')).toBe('2026-01-05T09:00:00.000Z');
    expect(put(office, '2026-01-05T16:59:59.999Z')).toBe('2026-01-05T16:59:59.999Z');
  });

  it('puts an instant outside off to the next opening', () => {
    expect(put(office, '2026-01-05T08:59:59.999Z')).toBe('2026-01-05T09:00:00.000Z');
    expect(put(office, '2026-01-05T17:00:00.000Z')).toBe('2026-01-06T09:00:00.000Z');
    expect(put(office, '2026-01-09T17:00:00.000Z')).toBe('2026-01-12T09:00:00.000Z'); // over the weekend
    expect(put(office, '2026-01-11T12:00:00.000Z')).toBe('2026-01-12T09:00:00.000Z');
  });

  it('spans midnight when `to` is earlier than `from`, on the weekday of the opening', () => {
    const fridayNight = { from: '22:00', to: '06:00', zone: 'UTC', days: [5] };
    expect(put(fridayNight, '2026-01-09T23:00:00Z')).toBe('2026-01-09T23:00:00.000Z');
    expect(put(fridayNight, '2026-01-10T05:59:59Z')).toBe('2026-01-10T05:59:59.000Z');
    expect(put(fridayNight, '2026-01-10T06:00:00Z')).toBe('2026-01-16T22:00:00.000Z');
    expect(put(fridayNight, '2026-01-09T05:00:00Z')).toBe('2026-01-09T22:00:00.000Z');
    expect(put({ from: '18:00', to: '00:00', zone: 'UTC' }, '2026-01-09T23:59:59Z')).toBe(
      '2026-01-09T23:59:59.000Z',
    );
    expect(put({ from: '18:00', to: '00:00', zone: 'UTC' }, '2026-01-10T00:00:00Z')).toBe(
      '2026-01-10T18:00:00.000Z',
    );
  });

  it('opens once and closes once on the days the clocks change', () => {
    const early = { from: '01:00', to: '02:30', zone: 'Europe/Amsterdam' };
    // closes at the first 02:30 of two
    expect(put(early, '2026-10-25T00:29:59Z')).toBe('2026-10-25T00:29:59.000Z');
    expect(put(early, '2026-10-25T00:30:00Z')).toBe('2026-10-26T00:00:00.000Z');
    expect(put(early, '2026-10-25T01:10:00Z')).toBe('2026-10-26T00:00:00.000Z');
    // 02:30 does not exist: closes at the first instant after the gap
    expect(put(early, '2026-03-29T00:59:59Z')).toBe('2026-03-29T00:59:59.000Z');
    expect(put(early, '2026-03-29T01:00:00Z')).toBe('2026-03-29T23:00:00.000Z');
    // opens in a gap: at the first instant after it
    const late = { from: '02:30', to: '04:00', zone: 'Europe/Amsterdam' };
    expect(put(late, '2026-03-29T00:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
    // opens at the first 02:30 of two, and stays open
    expect(put(late, '2026-10-25T00:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(put(late, '2026-10-25T01:10:00Z')).toBe('2026-10-25T01:10:00.000Z');
  });

  it('leaves out hours that lie in a gap whole, a week of them too', () => {
    const hours = { from: '02:10', to: '02:50', zone: 'Europe/Amsterdam' };
    expect(put(hours, '2026-03-29T00:00:00Z')).toBe('2026-03-30T00:10:00.000Z');
    expect(put({ ...hours, days: [7] }, '2026-03-29T00:00:00Z')).toBe('2026-04-05T00:10:00.000Z');
    // closed a moment ago, lost a week later: two weeks off
    expect(put({ ...hours, days: [7] }, '2026-03-22T01:50:00Z')).toBe('2026-04-05T00:10:00.000Z');
    expect(put({ ...office, zone: 'Pacific/Apia', days: [5] }, '2011-12-30T00:00:00Z')).toBe(
      '2012-01-05T19:00:00.000Z',
    );
  });

  it('agrees with a clock that is looked at every minute', () => {
    const minuteOfDay = fc.nat(24 * 60 - 1);
    const text = (minutes: number): string => new Date(minutes * MINUTE).toISOString().slice(11, 16);
    fc.assert(
      fc.property(
        fc.constantFrom(...everyZone),
        fc.integer({ min: Date.UTC(2020, 0, 1) / MINUTE, max: Date.UTC(2029, 11, 1) / MINUTE }),
        minuteOfDay,
        minuteOfDay,
        fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
        (zone, minute, fromMinutes, toMinutes, days) => {
          const instant = minute * MINUTE;
          fc.pre(fromMinutes !== toMinutes);
          fc.pre(offsetAt(zone, instant - 2 * DAY) === offsetAt(zone, instant + 9 * DAY));
          const [from, to] = [text(fromMinutes), text(toMinutes)];
          const isOpen = (each: number): boolean => {
            const time = shown(zone, each).slice(11, 16);
            const isMorningOfTheNextDay = from > to && time < to;
            const opening = shown(zone, isMorningOfTheNextDay ? each - DAY : each).slice(0, 10);
            const weekday = new Date(opening).getUTCDay() || 7;
            return (
              days.includes(weekday) && (from < to ? time >= from && time < to : time >= from || time < to)
            );
          };
          let expected = instant;
          while (!isOpen(expected)) expected += MINUTE;
          expect(put({ from, to, zone, days }, iso(instant))).toBe(iso(expected));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('asks the schedule with the execution as it is', () => {
    const schedule = duringHours({ minutes: 10 }, office);
    expect(iso(schedule.nextExecuteTime(endedAt(at('2026-01-05T16:45:00Z'))))).toBe(
      '2026-01-05T16:55:00.000Z',
    );
    expect(iso(schedule.nextExecuteTime(endedAt(at('2026-01-05T16:55:00Z'))))).toBe(
      '2026-01-06T09:00:00.000Z',
    );
  });

  it('without a zone follows the clock of the machine', () => {
    const { TZ } = process.env;
    try {
      process.env.TZ = 'Asia/Tokyo';
      expect(put({ from: '09:00', to: '17:00' }, '2026-01-05T12:00:00Z')).toBe('2026-01-06T00:00:00.000Z');
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it('looks further ahead than a timer could', () => {
    expect(put(office, new Date(Date.UTC(2150, 0, 3)).toISOString())).toBe('2150-01-05T09:00:00.000Z');
  });

  it('leaves never as it is, a broken answer broken, and passes staleness on', () => {
    expect(duringHours(Infinity, office).nextExecuteTime(endedAt(0))).toBe(Number.POSITIVE_INFINITY);
    expect(duringHours(() => Number.NaN, office).nextExecuteTime(endedAt(0))).toBeNaN();
    expect(duringHours(() => 9e15, office).nextExecuteTime(endedAt(0))).toBe(Number.POSITIVE_INFINITY);
    const knowing = { nextExecuteTime: () => 5, maxStaleness: () => 3 * HOUR };
    expect(duringHours(knowing, office).maxStaleness?.(endedAt(0))).toBe(3 * HOUR);
    expect(duringHours(1000, office).maxStaleness?.(endedAt(0))).toBeUndefined();
  });

  it('works before 1970', () => {
    expect(put(office, '1969-12-27T12:00:00Z')).toBe('1969-12-29T09:00:00.000Z');
    expect(put(office, '1969-12-23T12:00:00Z')).toBe('1969-12-23T12:00:00.000Z');
  });
});
