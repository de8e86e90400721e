import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cron } from '../../../src/schedule/cron.ts';
import { dailyAt } from '../../../src/schedule/daily-at.ts';
import { clockChanges } from '../../property/zone-timeline.ts';
import { endedAt, instants, optionErrorOf } from './support.ts';
import { at, awkwardZones, everyZone, iso, MINUTE } from './wall-clock.ts';

const short = (texts: string[]): string[] => texts.map((text) => text.slice(5, 16));

describe('cron', () => {
  it.each([
    ['five fields', '30 5 * * *', ['01-01T05:30', '01-02T05:30']],
    ['six, with seconds', '15 30 5 * * *', ['01-01T05:30', '01-02T05:30']],
    ['seven, with years', '0 0 12 1 6 * 2027', ['06-01T12:00']],
    ['steps', '0-59/20 * * * *', ['01-01T00:20', '01-01T00:40', '01-01T01:00']],
    ['names', '0 5 * FEB MON', ['02-02T05:00', '02-09T05:00']],
    ['Sunday as 7', '0 5 * * 7', ['01-04T05:00']],
    ['the last day of the month', '0 5 L * *', ['01-31T05:00', '02-28T05:00']],
    ['the last Friday', '0 5 * * 5L', ['01-30T05:00', '02-27T05:00']],
    ['the second Friday', '0 5 * * 5#2', ['01-09T05:00', '02-13T05:00']],
    ['the working day nearest to the 15th', '0 5 15W * *', ['01-15T05:00', '02-16T05:00']],
    ['either day field', '0 5 13 * 5', ['01-02T05:00', '01-09T05:00', '01-13T05:00']],
    ['both day fields', '0 5 13 * +5', ['02-13T05:00', '03-13T05:00']],
    ['a nickname', '@daily', ['01-02T00:00', '01-03T00:00']],
    ['a nickname of every hour', '@hourly', ['01-01T01:00', '01-01T02:00']],
  ])('takes %s: %s', (_, line, expected) => {
    expect(short(instants(cron(line, { zone: 'UTC' }), at('2026-01-01T00:00:00Z'), expected.length))).toEqual(
      expected,
    );
  });

  it('keeps the seconds', () => {
    expect(instants(cron('15 30 5 * * *', { zone: 'UTC' }), at('2026-01-01T00:00:00Z'), 1)).toEqual([
      '2026-01-01T05:30:15.000Z',
    ]);
  });

  it('is due strictly after `since`, to the millisecond', () => {
    for (const line of ['0 5 * * *', '0 */5 * * *']) {
      const next = (text: string): string =>
        iso(cron(line, { zone: 'UTC' }).nextExecuteTime(endedAt(at(text))));
      expect(next('2026-07-01T04:59:59.999Z')).toBe('2026-07-01T05:00:00.000Z');
      expect(next('2026-07-01T05:00:00.000Z')).not.toBe('2026-07-01T05:00:00.000Z');
    }
  });

  it('counts from `since`, where that is known', () => {
    for (const line of ['0 5 * * *', '0 5/24 * * *'.replace('5/24', '5-5/24')]) {
      const execution = endedAt(at('2026-07-04T12:00:00Z'), { since: at('2026-07-01T12:00:00Z') });
      expect(iso(cron(line, { zone: 'UTC' }).nextExecuteTime(execution))).toBe('2026-07-02T05:00:00.000Z');
    }
  });

  it('is never due when the line never matches again', () => {
    for (const line of ['0 0 30 2 *', '0 0 0 1 1 * 2020', '*/5 0 31 4 *']) {
      expect(
        cron(line, { zone: 'Europe/Amsterdam' }).nextExecuteTime(endedAt(at('2026-01-01T00:00:00Z'))),
      ).toBe(Number.POSITIVE_INFINITY);
    }
  });

  it('looks further ahead than a timer could', () => {
    expect(instants(cron('0 5 29 2 *', { zone: 'UTC' }), at('2026-01-01T00:00:00Z'), 2)).toEqual([
      '2028-02-29T05:00:00.000Z',
      '2032-02-29T05:00:00.000Z',
    ]);
  });

  describe('when the clocks change', () => {
    const amsterdam = { zone: 'Europe/Amsterdam' };

    it('executes a definite time that does not exist at the first instant after the gap', () => {
      expect(short(instants(cron('30 2 * * *', amsterdam), at('2026-03-28T12:00:00Z'), 2))).toEqual([
        '03-29T01:00',
        '03-30T00:30',
      ]);
      expect(short(instants(cron('30 2,14 * * *', amsterdam), at('2026-03-28T12:00:00Z'), 3))).toEqual([
        '03-28T13:30',
        '03-29T01:00',
        '03-29T12:30',
      ]);
      expect(short(instants(cron('0,30 2 * * 0', amsterdam), at('2026-03-28T12:00:00Z'), 2))).toEqual([
        '03-29T01:00', // both of them
        '04-05T00:00',
      ]);
    });

    it('executes a definite time that occurs twice once', () => {
      expect(short(instants(cron('30 2 * * *', amsterdam), at('2026-10-24T12:00:00Z'), 2))).toEqual([
        '10-25T00:30',
        '10-26T01:30',
      ]);
      expect(short(instants(cron('30 2,14 * * *', amsterdam), at('2026-10-24T23:00:00Z'), 2))).toEqual([
        '10-25T00:30',
        '10-25T13:30',
      ]);
    });

    it('runs through the hour that occurs twice with a line of wildcards', () => {
      expect(short(instants(cron('*/20 * * * *', amsterdam), at('2026-10-25T00:30:00Z'), 6))).toEqual([
        '10-25T00:40',
        '10-25T01:00',
        '10-25T01:20',
        '10-25T01:40',
        '10-25T02:00',
        '10-25T02:20',
      ]);
    });

    it('takes a step for a wildcard, and @hourly', () => {
      expect(short(instants(cron('0-40/20 2 * * *', amsterdam), at('2026-10-25T00:30:00Z'), 4))).toEqual([
        '10-25T00:40',
        '10-25T01:00',
        '10-25T01:20',
        '10-25T01:40',
      ]);
      expect(short(instants(cron('@hourly', amsterdam), at('2026-10-24T23:30:00Z'), 3))).toEqual([
        '10-25T00:00',
        '10-25T01:00',
        '10-25T02:00',
      ]);
    });

    it('takes a wildcard of the hours for one, with seconds in front too', () => {
      for (const line of ['30 * * * *', '0 30 * * * *', ' 0 30 * * * *', '0  30 * * * *']) {
        expect(short(instants(cron(line, amsterdam), at('2026-10-25T00:00:00Z'), 3))).toEqual([
          '10-25T00:30',
          '10-25T01:30',
          '10-25T02:30',
        ]);
      }
    });

    it('does not mind blanks', () => {
      for (const line of [' 30 2,14 * * * ', '30  2,14 * * *', '\t30\t\t2,14 * * *']) {
        expect(short(instants(cron(line, amsterdam), at('2026-10-24T23:00:00Z'), 2))).toEqual([
          '10-25T00:30',
          '10-25T13:30',
        ]);
      }
    });

    it('executes once at a midnight that occurs twice', () => {
      for (const line of ['@daily', '0 0 * * *']) {
        expect(
          short(instants(cron(line, { zone: 'America/Havana' }), at('2026-10-31T12:00:00Z'), 2)),
        ).toEqual(['11-01T04:00', '11-02T05:00']);
      }
    });

    it('leaves out what falls into a gap with a line of wildcards', () => {
      expect(short(instants(cron('0 */2 * * *', amsterdam), at('2026-03-28T22:30:00Z'), 3))).toEqual([
        '03-28T23:00',
        '03-29T02:00',
        '03-29T04:00',
      ]);
      expect(short(instants(cron('*/20 * * * *', amsterdam), at('2026-03-29T00:30:00Z'), 3))).toEqual([
        '03-29T00:40',
        '03-29T01:00',
        '03-29T01:20',
      ]);
    });

    it('executes a time whose gap ends on the next day', () => {
      expect(
        short(instants(cron('30 23 * * 6', { zone: 'America/Nuuk' }), at('2026-03-28T12:00:00Z'), 2)),
      ).toEqual(['03-29T01:00', '04-05T00:30']);
    });

    it('opens the day after a midnight that does not exist', () => {
      for (const line of ['@daily', '0 0 * * *']) {
        expect(short(instants(cron(line, { zone: 'Asia/Beirut' }), at('2026-03-28T12:00:00Z'), 2))).toEqual([
          '03-28T22:00',
          '03-29T21:00',
        ]);
      }
    });

    it('passes over a day that was left out', () => {
      expect(
        short(instants(cron('0 5 * * *', { zone: 'Pacific/Apia' }), at('2011-12-29T00:00:00Z'), 3)),
      ).toEqual(['12-29T15:00', '12-30T15:00', '12-31T15:00']);
      expect(
        instants(cron('0 5 30 12 *', { zone: 'Pacific/Apia' }), at('2011-06-01T00:00:00Z'), 1).map((text) =>
          text.slice(0, 10),
        ),
      ).toEqual(['2012-12-29']);
    });

    it('agrees with dailyAt', () => {
      const instantNearChange = fc.constantFrom(...awkwardZones, ...everyZone).chain((zone) => {
        const changes = clockChanges(zone);
        const change = fc.constantFrom(...(changes.length === 0 ? [at('2026-06-01T00:00:00Z')] : changes));
        return fc.tuple(fc.constant(zone), change, fc.integer({ min: -3000, max: 3000 }));
      });
      fc.assert(
        fc.property(
          instantNearChange,
          fc.nat(23),
          fc.nat(59),
          fc.option(fc.nat(59)),
          ([zone, change, minutes], hour, minute, second) => {
            const since = change + minutes * MINUTE;
            const time = [hour, minute, ...(second === null ? [] : [second])];
            const daily = dailyAt(time.map((part) => String(part).padStart(2, '0')).join(':'), { zone });
            const line = cron(`${second ?? 0} ${minute} ${hour} * * *`, { zone });
            expect(iso(line.nextExecuteTime(endedAt(since)))).toBe(
              iso(daily.nextExecuteTime(endedAt(since))),
            );
          },
        ),
        { numRuns: 300 },
      );
    });

    it('is always later than `since`', () => {
      const lines = [
        '* * * * * *',
        '*/7 * * * *',
        '0 */3 * * *',
        '0-59 * * * *',
        '5,35 1-3 * * *',
        '@hourly',
      ];
      fc.assert(
        fc.property(
          fc.constantFrom(...lines),
          fc.constantFrom(...awkwardZones),
          fc.nat(),
          fc.integer({ min: -7_200_000, max: 7_200_000 }),
          (line, zone, pick, away) => {
            const changes = clockChanges(zone);
            const since = (changes[pick % changes.length] ?? at('2026-06-01T00:00:00Z')) + away;
            const next = cron(line, { zone }).nextExecuteTime(endedAt(since));
            expect(next).toBeGreaterThan(since);
            expect(next).toBeLessThanOrEqual(since + 26 * 60 * MINUTE);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  it('without a zone follows the clock of the machine', () => {
    const { TZ } = process.env;
    try {
      process.env.TZ = 'Asia/Tokyo';
      for (const line of ['0 5 * * *', '0 5-5/1 * * *']) {
        expect(instants(cron(line), at('2026-07-01T00:00:00Z'), 1)).toEqual(['2026-07-01T20:00:00.000Z']);
      }
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it.each([
    'nonsense',
    '',
    '* * * *',
    '61 * * * *',
    '* * * * * * * *',
    '0 5 32 * *',
    '@reboot',
    '@sometimes',
  ])('rejects the line %o with the reason of croner', (line) => {
    const error = optionErrorOf(() => cron(line));
    expect(error.message).toContain('cron: line must be a cron expression');
    expect(error.received).toBe(line);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it('rejects what croner would take besides: a date', () => {
    expect(optionErrorOf(() => cron('2030-01-01T00:00:00')).option).toBe('line');
    expect(optionErrorOf(() => cron(new Date() as unknown as string)).option).toBe('line');
    expect(optionErrorOf(() => cron(undefined as unknown as string)).option).toBe('line');
  });

  it('rejects an unknown zone at once', () => {
    expect(optionErrorOf(() => cron('0 5 * * *', { zone: 'Mars/Base' })).option).toBe('zone');
    expect(optionErrorOf(() => cron('0 5 * * *', { timezone: 'UTC' } as object)).option).toBe('timezone');
  });
});
