import { describe, expect, it } from 'vitest';
import { cron } from '../../../src/calendar/cron.ts';
import { dailyAt } from '../../../src/calendar/daily-at.ts';
import { duringHours } from '../../../src/calendar/during-hours.ts';
import { earliest } from '../../../src/schedule/earliest.ts';
import { fixedDelay } from '../../../src/schedule/fixed-delay.ts';
import { fixedRate } from '../../../src/schedule/fixed-rate.ts';
import { httpFreshness } from '../../../src/schedule/http-freshness.ts';
import { probabilisticEarly } from '../../../src/schedule/probabilistic-early.ts';
import { withJitter } from '../../../src/schedule/with-jitter.ts';
import { optionErrorOf } from './support.ts';

const office = { from: '09:00', to: '17:00' };
const mars = { zone: 'Mars/Base' };

/** Calls with one invalid argument, by function, option and received value in the message. */
const wrong: Readonly<Record<string, (wrongly: (value: unknown) => never) => unknown>> = {
  'cron: line … "x:y"': (as) => cron(as('x:y')),
  'cron: line … "nonsense"': (as) => cron(as('nonsense')),
  'cron: options … 5': (as) => cron('0 5 * * *', as(5)),
  'cron: tz … "UTC"': (as) => cron('0 5 * * *', as({ tz: 'UTC' })),
  'cron: zone … "Mars/Base"': () => cron('0 5 * * *', mars),
  'dailyAt: time … "5"': (as) => dailyAt(as('5')),
  'dailyAt: options … "UTC"': (as) => dailyAt('05:00', as('UTC')),
  'dailyAt: options … null': (as) => dailyAt('05:00', as(null)),
  'dailyAt: tz … "UTC"': (as) => dailyAt('05:00', as({ tz: 'UTC' })),
  'dailyAt: zone … "Mars/Base"': () => dailyAt('05:00', mars),
  'duringHours: schedule … 0': () => duringHours(0, office),
  'duringHours: open … 9': (as) => duringHours(1, as({ ...office, open: 9 })),
  'duringHours: from … "9"': () => duringHours(1, { ...office, from: '9' }),
  'duringHours: to … "17"': () => duringHours(1, { ...office, to: '17' }),
  'duringHours: to … "09:00"': () => duringHours(1, { ...office, to: '09:00' }),
  'duringHours: days … []': () => duringHours(1, { ...office, days: [] }),
  'duringHours: to … "24:00"': () => duringHours(1, { ...office, to: '24:00' }),
  'duringHours: days … [1,8]': () => duringHours(1, { ...office, days: [1, 8] }),
  'duringHours: days … [1.5]': () => duringHours(1, { ...office, days: [1.5] }),
  'duringHours: days … "MON"': (as) => duringHours(1, { ...office, days: as('MON') }),
  'duringHours: options … undefined': (as) => duringHours(1, as(undefined)),
  'duringHours: days … [0]': () => duringHours(1, { ...office, days: [0] }),
  'duringHours: zone … "Mars/Base"': () => duringHours(1, { ...office, ...mars }),
  'earliest: schedules … []': () => earliest(),
  'earliest: schedules[1] … 0': () => earliest(1, 0),
  'fixedDelay: delay … 0': () => fixedDelay(0),
  'fixedRate: period … 0': () => fixedRate(0),
  'fixedRate: anchoredAt … "2026-01-01"': (as) => fixedRate(1, { anchoredAt: as('2026-01-01') }),
  'fixedRate: startAt … 0': (as) => fixedRate(1, as({ startAt: 0 })),
  'fixedRate: anchoredAt … NaN': () => fixedRate(1, { anchoredAt: Number.NaN }),
  'httpFreshness: ttl … 5': (as) => httpFreshness(as({ ttl: 5 })),
  'httpFreshness: shared … "yes"': (as) => httpFreshness({ shared: as('yes') }),
  'httpFreshness: fallback … 0': () => httpFreshness({ fallback: 0 }),
  'httpFreshness: atLeast … 0': () => httpFreshness({ atLeast: 0 }),
  'httpFreshness: atMost … 0': () => httpFreshness({ atMost: 0 }),
  'httpFreshness: atMost … 1': () => httpFreshness({ atLeast: 2, atMost: 1 }),
  'httpFreshness: atLeast … "x"': (as) => httpFreshness({ atLeast: as('x') }),
  'httpFreshness: options … 5': (as) => httpFreshness(as(5)),
  'httpFreshness: headers … {}': (as) => httpFreshness({ headers: as({}) }),
  'probabilisticEarly: schedule … 0': () => probabilisticEarly(0),
  'probabilisticEarly: gamma … 1': (as) => probabilisticEarly(1, as({ gamma: 1 })),
  'probabilisticEarly: beta … 0': () => probabilisticEarly(1, { beta: 0 }),
  'withJitter: schedule … 0': () => withJitter(0, 1),
  'withJitter: jitter … -1': () => withJitter(1, -1),
  'withJitter: jitter … Infinity': () => withJitter(1, Infinity),
  'withJitter: jitter … NaN': () => withJitter(1, Number.NaN),
  'withJitter: jitter … null': (as) => withJitter(1, as(null)),
  'withJitter: jitter … {}': (as) => withJitter(1, as({})),
  'withJitter: jitter.ratio … Infinity': () => withJitter(1, { ratio: Infinity }),
  'withJitter: jitter.ratio … "0.1"': (as) => withJitter(1, { ratio: as('0.1') }),
  'withJitter: jitter.ratio … -1': () => withJitter(1, { ratio: -1 }),
};

describe('an invalid argument of a schedule', () => {
  it.each(Object.entries(wrong))(
    'names the function, the option, the rule and the value: %s',
    (words, call) => {
      const [subject, received] = words.split(' … ');
      const { message } = optionErrorOf(() => call((value) => value as never));
      expect(message.startsWith(`${subject} `)).toBe(true);
      expect(message.slice(`${subject} `.length)).toMatch(
        /^(must be|must have|must differ from|is unknown \((?:expected one of:|did you mean)) \S/,
      );
      expect(message.endsWith(`, received ${received}`)).toBe(true);
    },
  );

  it('that is an unknown option names a similar one', () => {
    const call = (): unknown => duringHours(1, { ...office, weekdays: [1] } as object as typeof office);
    expect(optionErrorOf(call).message).toContain('weekdays is unknown (did you mean days?), received');
  });
});
