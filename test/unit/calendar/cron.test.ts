import { describe, expect, it } from 'vitest';
import { cron } from '../../../src/calendar/cron.ts';
import { endedAt, instants, optionErrorOf } from '../schedule/support.ts';
import { at, iso } from '../schedule/wall-clock.ts';

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

  // test/property/clock-changes.test.ts calculates the results for all zones.
  it.each([
    ['30 2 * * *', 'Europe/Amsterdam', '2026-03-28T12:00', '03-29T01:00 03-30T00:30'], // a definite time in a gap
    ['30 2 * * *', 'Europe/Amsterdam', '2026-10-24T12:00', '10-25T00:30 10-26T01:30'], // a definite time that repeats
    ['\t30\t 2,14 * * * ', 'Europe/Amsterdam', '2026-10-24T23:00', '10-25T00:30 10-25T13:30'], // the same with blanks
    ['30 * * * *', 'Europe/Amsterdam', '2026-10-25T00:00', '10-25T00:30 10-25T01:30 10-25T02:30'], // a wildcard hour that repeats
    [' 0  30 * * * *', 'Europe/Amsterdam', '2026-10-25T00:00', '10-25T00:30 10-25T01:30 10-25T02:30'], // the same with seconds and blanks
    [
      '0-40/20 2 * * *',
      'Europe/Amsterdam',
      '2026-10-25T00:30',
      '10-25T00:40 10-25T01:00 10-25T01:20 10-25T01:40',
    ], // a step
    ['@hourly', 'Europe/Amsterdam', '2026-10-24T23:30', '10-25T00:00 10-25T01:00 10-25T02:00'], // @hourly
    ['@daily', 'America/Havana', '2026-10-31T12:00', '11-01T04:00 11-02T05:00'], // @daily at a midnight that repeats
    ['@daily', 'Asia/Beirut', '2026-03-28T12:00', '03-28T22:00 03-29T21:00'], // @daily at a midnight in a gap
    ['0 5 * * *', 'Pacific/Apia', '2011-12-29T00:00', '12-29T15:00 12-30T15:00 12-31T15:00'], // a skipped day
  ])('when the clocks change: %s in %s after %s: %s', (line, zone, from, expected) => {
    const found = instants(cron(line, { zone }), at(`${from}Z`), expected.split(' ').length);
    expect(short(found).join(' ')).toBe(expected);
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
    expect(error.message).toContain('cron: line must be a cron expression (');
    expect(error.message).toContain(`, received ${JSON.stringify(line)}`);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it.each(['2030-01-01T00:00:00', new Date(), undefined])('rejects what croner also accepts: %o', (line) => {
    expect(optionErrorOf(() => cron(line as string)).message).toMatch(/^cron: line must /);
  });
});

it.each([
  ['61 * * * *', 'must be a cron expression (Invalid value for minute: 61), received "61 * * * *"'],
  ['* * *', 'exactly five, six, or seven space separated parts are required)'],
  ['2026-01-01T00:00:00', 'must be a cron expression (this is a date)'],
])('the error of %j has the reason', (line, reason) => {
  expect(optionErrorOf(() => cron(line)).message).toContain(reason);
});

it('a misspelt option is refused, with a suggestion', () => {
  const error = optionErrorOf(() => cron('0 5 * * *', { timezone: 'Europe/Amsterdam' } as never));
  expect(error.message).toContain('timezone is unknown (did you mean zone?)');
});
