import { describe, expect, it } from 'vitest';
import { dailyAt } from '../../../src/calendar/schedules.ts';
import { endedAt, instants, optionErrorOf } from '../schedule/support.ts';
import { at, DAY, iso } from '../schedule/wall-clock.ts';

// test/property/clock-changes.test.ts calculates the results for all zones.

describe('dailyAt', () => {
  it('executes at the first such time after the last execution, strictly', () => {
    const schedule = dailyAt('05:00', { zone: 'Europe/Amsterdam' });
    const next = (text: string): string => iso(schedule.nextExecuteTime(endedAt(at(text))));
    expect(next('2026-07-01T02:59:59.999Z')).toBe('2026-07-01T03:00:00.000Z');
    expect(next('2026-07-01T03:00:00.000Z')).toBe('2026-07-02T03:00:00.000Z');
    expect(next('2026-07-01T03:00:00.001Z')).toBe('2026-07-02T03:00:00.000Z');
  });

  it('counts from `since`, where that is known, and never from `now` or `startedAt`', () => {
    const execution = {
      startedAt: at('2026-07-01T02:00:00Z'),
      endedAt: at('2026-07-04T04:00:00Z'),
      since: at('2026-07-02T12:00:00Z'),
      now: at('2026-07-05T12:00:00Z'),
    };
    expect(iso(dailyAt('05:00', { zone: 'UTC' }).nextExecuteTime(execution))).toBe(
      '2026-07-03T05:00:00.000Z',
    );
  });

  it('takes seconds', () => {
    expect(instants(dailyAt('23:59:58', { zone: 'UTC' }), at('2026-01-01T00:00:00Z'), 1)).toEqual([
      '2026-01-01T23:59:58.000Z',
    ]);
  });

  it.each([
    ['Europe/Amsterdam', '02:30', '2026-03-28T00:00:00Z', ['28T01:30', '29T01:00', '30T00:30']],
    ['Europe/Amsterdam', '02:30', '2026-10-24T00:00:00Z', ['24T00:30', '25T00:30', '26T01:30']],
    ['America/New_York', '02:30', '2026-03-07T00:00:00Z', ['07T07:30', '08T07:00', '09T06:30']],
    ['America/New_York', '01:30', '2026-10-31T00:00:00Z', ['31T05:30', '01T05:30', '02T06:30']],
    ['Australia/Lord_Howe', '02:15', '2026-10-02T00:00:00Z', ['02T15:45', '03T15:30', '04T15:15']],
    ['Australia/Lord_Howe', '01:45', '2026-04-03T00:00:00Z', ['03T14:45', '04T14:45', '05T15:15']],
    ['Asia/Beirut', '00:00', '2026-03-27T00:00:00Z', ['27T22:00', '28T22:00', '29T21:00']],
    ['America/Santiago', '00:30', '2026-09-05T00:00:00Z', ['05T04:30', '06T04:00', '07T03:30']],
    ['America/Santiago', '23:30', '2026-04-04T00:00:00Z', ['04T02:30', '05T02:30', '06T03:30']],
    ['America/Santiago', '00:00', '2026-04-04T00:00:00Z', ['04T03:00', '05T04:00', '06T04:00']],
    ['Africa/Cairo', '00:30', '2026-04-22T00:00:00Z', ['22T22:30', '23T22:00', '24T21:30']],
    ['America/Havana', '00:30', '2026-10-31T00:00:00Z', ['31T04:30', '01T04:30', '02T05:30']],
    ['America/Nuuk', '23:30', '2026-03-27T12:00:00Z', ['28T01:30', '29T01:00', '30T00:30']],
  ])('once a day when the clocks change: %s %s from %s', (zone, time, from, expected) => {
    expect(instants(dailyAt(time, { zone }), at(from), 3).map((text) => text.slice(8, 16))).toEqual(expected);
  });

  it('is not due again when an hour repeats', () => {
    const schedule = dailyAt('02:30', { zone: 'Europe/Amsterdam' });
    for (const since of ['2026-10-25T00:30:00Z', '2026-10-25T01:00:00Z', '2026-10-25T01:29:59.999Z']) {
      expect(iso(schedule.nextExecuteTime(endedAt(at(since))))).toBe('2026-10-26T01:30:00.000Z');
    }
  });

  it.each(['05:00', '00:00', '23:59'])('skips the day that Samoa skipped, at %s', (time) => {
    const found = instants(dailyAt(time, { zone: 'Pacific/Apia' }), at('2011-12-29T00:00:00Z'), 4).map(at);
    expect(found.slice(1).map((instant, index) => instant - found[index]!)).toEqual([DAY, DAY, DAY]);
  });

  it('may be further away than a timer can be', () => {
    const farAway = at('2150-06-15T12:00:00Z');
    expect(iso(dailyAt('05:00', { zone: 'Europe/Amsterdam' }).nextExecuteTime(endedAt(farAway)))).toBe(
      '2150-06-16T03:00:00.000Z',
    );
  });

  it('without a zone follows the clock of the machine', () => {
    const { TZ } = process.env;
    try {
      process.env.TZ = 'Asia/Tokyo';
      expect(instants(dailyAt('05:00'), at('2026-07-01T00:00:00Z'), 1)).toEqual(['2026-07-01T20:00:00.000Z']);
      expect(instants(dailyAt('05:00', { zone: undefined }), at('2026-07-01T00:00:00Z'), 1)).toEqual([
        '2026-07-01T20:00:00.000Z',
      ]);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it.each([
    '5:00',
    '24:00',
    '05:60',
    '05:00:60',
    '05',
    'noon',
    '',
    ' 05:00',
    '05:00\n',
    '٠٥:٠٠',
    5,
    null,
    [['05:00']],
  ])('rejects the time %o', (time) => {
    const error = optionErrorOf(() => dailyAt(time as string));
    expect(error.message).toContain('dailyAt: time must be a time of day, HH:mm or HH:mm:ss');
    expect(error.message).toContain(`, received ${JSON.stringify(time)?.slice(0, 5)}`);
  });
});
