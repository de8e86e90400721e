import fc, { type Arbitrary } from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { cron } from '../../../src/calendar/index.ts';
import type { Schedule } from '../../../src/index.ts';
import { expectReadable, expectUnpolluted, hostileValue } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { optionErrorOf } from './support/option-errors.ts';
import { runs } from './support/runs.ts';
import { ratioOfTimes } from './support/times.ts';

// Typed cron expressions: rejected with the reason, or a schedule that continues.

afterEach(expectUnpolluted);

const INSTANTS = [
  0,
  Date.UTC(2026, 10, 20, 12),
  Date.UTC(2024, 1, 29, 23, 59, 59, 999),
  Date.UTC(2026, 2, 29, 0, 59),
];

/** An `OPTION` error that names the line, or instants that follow each other. */
function expectScheduleOrRefusal(line: unknown, zone: string | undefined): 'rejected' | 'continues' {
  let schedule: Schedule;
  try {
    schedule = cron(line as string, zone === undefined ? {} : { zone });
  } catch (error) {
    const { message } = optionErrorOf(error);
    expect(message).toMatch(/^cron: line must be a cron expression \(.{1,300}\), received /s);
    expectReadable(message);
    return 'rejected';
  }
  for (const instant of INSTANTS) {
    const next = schedule.nextExecuteTime({ startedAt: instant, endedAt: instant });
    expect(next).toBeGreaterThan(instant);
    if (next === Number.POSITIVE_INFINITY) continue;
    expect(Number.isSafeInteger(next)).toBe(true);
    expect(schedule.nextExecuteTime({ startedAt: next, endedAt: next })).toBeGreaterThan(next);
    // No instant in between was skipped.
    expect(schedule.nextExecuteTime({ startedAt: instant, endedAt: next - 1 })).toBe(next);
  }
  return 'continues';
}

const zone = fc.constantFrom(undefined, 'UTC', 'Europe/Amsterdam', 'America/Nuuk', 'Australia/Lord_Howe');

/** A field by the grammar, of numbers in that range. */
function fieldOf(min: number, max: number, ...others: readonly string[]): Arbitrary<string> {
  const number = fc.integer({ min, max });
  const part = fc.oneof(
    fc.constantFrom('*', ...others),
    number.map(String),
    fc.tuple(number, number).map(([one, two]) => `${Math.min(one, two)}-${Math.max(one, two)}`),
    fc.integer({ min: 1, max }).map((step) => `*/${step}`),
  );
  return fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','));
}

/** Parts that belong into another field, or are invalid in all of them. */
const stray = fc.constantFrom(
  '70',
  '-1',
  '?',
  'L',
  'W',
  '31W',
  '5#6',
  '1-',
  '*/0',
  '5-1',
  '1,,2',
  'FEB',
  '+1',
  '',
);

const fields: readonly Arbitrary<string>[] = [
  fieldOf(0, 59),
  fieldOf(0, 59),
  fieldOf(0, 23),
  fieldOf(1, 31, '?', 'L', 'LW', '15W', '31W', '29', '30', '31'),
  fieldOf(1, 12, 'JAN', 'feb', '2', '2', '4'),
  fieldOf(0, 7, 'MON', 'sun', '5L', '5#2', '1#5', '+1'),
  fieldOf(1970, 2100, '2027', '9999'),
];

const fielded: Arbitrary<string> = fc
  .tuple(
    fc.tuple(...fields.map((field) => fc.oneof({ weight: 15, arbitrary: field }, stray))),
    fc.constantFrom([1, 6], [1, 6], [0, 6], [0, 7], [2, 6]),
    fc.constantFrom(' ', ' ', '  ', '\t', '\u00a0', '\n'),
  )
  .map(([all, [from, to], between]) => all.slice(from, to).join(between));

const sound = fc.constantFrom(
  '0 5 * * *',
  '*/5 * * * *',
  '30 2 29 2 *',
  '0 0 0 1 1 * 2027',
  '0 0 * * MON-FRI',
  '0 0 L * 5#2',
  '@daily',
  '0 0 15W * *',
);

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'0123456789*,-/?LW#+@ ') }),
  fc.constantFrom(
    '@every 5s',
    '@reboot',
    '@yearly',
    '@DAILY',
    '2026-11-20',
    '2026-11-20T05:00',
    '20261120T050000Z',
    '0 0 30 2 *',
  ),
);

describe('a cron expression', () => {
  it('close to the grammar: rejected, or continues', () => {
    const seen = { rejected: 0, continues: 0 };
    fc.assert(
      fc.property(fielded, zone, (line, where) => {
        seen[expectScheduleOrRefusal(line, where)] += 1;
      }),
      runs(600),
    );
    expect(Math.min(seen.rejected, seen.continues)).toBeGreaterThan(0);
  });

  it('with a typing error: rejected, or continues', () => {
    fc.assert(
      fc.property(sound, sound, mutation, zone, (line, other, mutate, where) => {
        expectScheduleOrRefusal(mutate(line, other), where);
      }),
      runs(600),
    );
  });

  it('of any text or value: rejected, or continues', () => {
    fc.assert(
      fc.property(fc.oneof(text, hostileValue), zone, (line, where) => {
        expectScheduleOrRefusal(line, where);
      }),
      runs(600),
    );
  });

  it.each([
    '0 0 30 2 *',
    '0 0 31 2,4,6,9,11 *',
    '0 0 0 29 2 * 2100',
    '0 0 0 30 2 * 1-9999',
    '0 0 31 4 +MON',
    '0 0 30W 2 *',
    '0 0 0 1 1 * 2020',
    '* * * * * * 1970',
  ])(
    'with an impossible date is never due, which takes no longer than to find a late date: %s',
    async (line) => {
      expect(expectScheduleOrRefusal(line, 'Europe/Amsterdam')).toBe('continues');
      const at = { startedAt: 0, endedAt: Date.UTC(2026, 10, 20) };
      const search = (schedule: Schedule) => () => schedule.nextExecuteTime(at);
      const impossible = search(cron(line, { zone: 'UTC' }));
      expect(impossible()).toBe(Number.POSITIVE_INFINITY);
      const late = search(cron('0 0 0 1 1 * 9999', { zone: 'UTC' }));
      expect(await ratioOfTimes(late, impossible)).toBeLessThan(50);
    },
  );
});
