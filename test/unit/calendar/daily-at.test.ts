import { describe, expect, it } from 'vitest';
import { dailyAt } from '../../../src/calendar/daily-at.ts';
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

  it.each(['05:00', '00:00', '23:59'])('skips the day that Samoa skipped, at %s', (time) => {
    const found = instants(dailyAt(time, { zone: 'Pacific/Apia' }), at('2011-12-29T00:00:00Z'), 4).map(at);
    expect(found.slice(1).map((instant, index) => instant - found[index]!)).toEqual([DAY, DAY, DAY]);
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
