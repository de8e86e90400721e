import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cron } from '../../src/calendar/cron.ts';
import { dailyAt } from '../../src/calendar/daily-at.ts';
import type { Schedule } from '../../src/schedule/schedule.ts';
import { endedAt } from '../unit/schedule/support.ts';
import { DAY, everyZone, HOUR, linkedZones, MINUTE } from '../unit/schedule/wall-clock.ts';
import {
  type Change,
  changesOf,
  type Fields,
  fieldsOf,
  nextDefinite,
  nextShown,
  type Stretch,
  stretchesOf,
  TEN_YEARS,
  zoneGroups,
} from './zone-timeline.ts';

/** Zones that show the same in all of the ten years are tried in turn, as one. */
const groups = zoneGroups();
const groupOfZone = new Map(groups.flatMap((group) => group.zones.map((zone) => [zone, group] as const)));

const two = (number: number): string => String(number).padStart(2, '0');
const show = (instant: number): string =>
  Number.isFinite(instant) ? new Date(instant).toISOString() : `${instant}`;

/** The results of a schedule that differ from the calculation. A list of them shows more than the first one. */
class Disagreements {
  readonly found: string[] = [];
  count = 0;

  compare(what: string, schedule: Schedule, since: number, expected: number): void {
    this.count += 1;
    const next = schedule.nextExecuteTime(endedAt(since));
    if (next !== expected) {
      this.found.push(`${what} after ${show(since)}: ${show(next)}, not ${show(expected)}`);
    }
  }

  expectNone(least: number): void {
    expect(this.found.slice(0, 20)).toEqual([]);
    expect(this.count).toBeGreaterThan(least);
  }
}

/** Asks at each change of each group, in the name of one of its zones after the other. */
function atEachChange(
  ask: (zone: string, stretches: readonly Stretch[], change: Change, sinces: readonly number[]) => void,
): void {
  for (const { zones, stretches, changes } of groups) {
    changes.forEach((change, turn) => {
      ask(zones[turn % zones.length] as string, stretches, change, sincesAround(change, turn >> 1));
    });
  }
}

/**
 * Before, on the edges and within the hours that are skipped or repeated; where they are repeated, in both passes. One half
 * of them at two changes of a zone, mostly on and back, the other half at the next two.
 */
function sincesAround({ at, low, high }: Change, turn: number): number[] {
  const width = high - low;
  const sinces = [at - DAY, at - width / 2, at - 1, at, at + width / 2, at + width];
  return sinces.filter((_, index) => (index + turn) % 2 === 0);
}

describe('at every change of the clocks in all zones in ten years', () => {
  it('there are zones and changes enough, and each zone is in a group', () => {
    expect([...groupOfZone.keys()].sort()).toEqual([...everyZone].sort());
    expect(groups.flatMap(({ changes }) => changes).length).toBeGreaterThan(500);
    expect(linkedZones.length).toBeGreaterThan(50);
    // By half an hour, by two hours, at midnight, on for the winter, and not on whole hours
    for (const zone of ['Australia/Lord_Howe', 'Antarctica/Troll', 'Africa/Cairo', 'Africa/Casablanca']) {
      expect(groupOfZone.get(zone)?.changes.length).toBeGreaterThan(10);
    }
  });

  it('dailyAt agrees with the calculation', { timeout: 60_000 }, () => {
    const disagreements = new Disagreements();
    atEachChange((zone, stretches, change, sinces) => {
      const { low, high } = change;
      for (const wallTime of [low - MINUTE, low, (low + high) / 2, high - MINUTE, high]) {
        const { hour, minute } = fieldsOf(wallTime);
        const time = `${two(hour)}:${two(minute)}`;
        const schedule = dailyAt(time, { zone });
        for (const since of sinces) {
          const expected = nextDefinite(stretches, since, { times: [hour * HOUR + minute * MINUTE] });
          disagreements.compare(`${zone} at ${time}`, schedule, since, expected);
        }
      }
    });
    disagreements.expectNone(7000);
  });

  it('a cron line of definite times agrees with it', { timeout: 60_000 }, () => {
    const disagreements = new Disagreements();
    atEachChange((zone, stretches, change, sinces) => {
      const { low, high } = change;
      const { hour, minute, weekday } = fieldsOf((low + high) / 2);
      const later = (hour + 7) % 24;
      const time = hour * HOUR + minute * MINUTE;
      const lines = {
        [`${minute},59 ${hour},${later} * * *`]: {
          times: [
            time,
            hour * HOUR + 59 * MINUTE,
            later * HOUR + minute * MINUTE,
            later * HOUR + 59 * MINUTE,
          ],
        },
        [`15 ${minute} ${hour} * * ${weekday}`]: { times: [time + 15_000], weekdays: [weekday] },
      };
      for (const [line, times] of Object.entries(lines)) {
        const schedule = cron(line, { zone });
        for (const since of sinces) {
          const expected = nextDefinite(stretches, since, times);
          disagreements.compare(`${zone} ${line}`, schedule, since, expected);
        }
      }
    });
    disagreements.expectNone(3000);
  });

  it('a cron line of wildcards and steps agrees with the clock', { timeout: 60_000 }, () => {
    const disagreements = new Disagreements();
    atEachChange((zone, stretches, change, sinces) => {
      const { hour: low, weekday } = fieldsOf(change.low);
      const lines: [line: string, step: number, matches: (shown: Fields) => boolean][] = [
        ['*/15 * * * *', MINUTE, ({ minute }) => minute % 15 === 0],
        ['30 * * * *', MINUTE, ({ minute }) => minute === 30],
        ['0 */2 * * *', MINUTE, ({ hour, minute }) => minute === 0 && hour % 2 === 0],
        [`0-50/10 ${low} * * *`, MINUTE, ({ hour, minute }) => minute % 10 === 0 && hour === low],
        [`* ${low} * * ${weekday}`, MINUTE, (shown) => shown.hour === low && shown.weekday === weekday],
        ['*/20 * * * * *', 1000, ({ second }) => second % 20 === 0],
      ];
      for (const [line, step, matches] of lines) {
        const schedule = cron(line, { zone });
        for (const since of sinces) {
          const expected = nextShown(stretches, since, step, matches);
          disagreements.compare(`${zone} ${line}`, schedule, since, expected);
        }
      }
    });
    disagreements.expectNone(7000);
  });
});

/** A field of a cron line, with the numbers that it means. */
interface Field {
  readonly text: string;
  readonly numbers: readonly number[];
}

function fieldOf(most: number): fc.Arbitrary<Field> {
  const all = Array.from({ length: most + 1 }, (_, number) => number);
  const number = fc.integer({ min: 0, max: most });
  const listed = fc
    .uniqueArray(number, { minLength: 1, maxLength: 4 })
    .map((numbers) => ({ text: numbers.join(), numbers }));
  const range = fc.tuple(number, number).map(([one, other]) => {
    const [from, to] = [Math.min(one, other), Math.max(one, other)];
    return { text: `${from}-${to}`, numbers: all.slice(from, to + 1) };
  });
  const step = fc
    .integer({ min: 1, max: most })
    .map((by) => ({ text: `*/${by}`, numbers: all.filter((each) => each % by === 0) }));
  return fc.oneof(listed, listed, range, step, fc.constant({ text: '*', numbers: all }));
}

/** An instant within three days of a change of the clocks of a zone; anywhere in the ten years if it has none. */
const momentOfZone = fc.constantFrom(...everyZone).chain((zone) => {
  const { stretches, changes } = groupOfZone.get(zone) as (typeof groups)[number];
  const anywhere = fc.integer({ min: TEN_YEARS.from, max: TEN_YEARS.to });
  const near = fc
    .tuple(fc.nat(Math.max(0, changes.length - 1)), fc.integer({ min: -3 * DAY, max: 3 * DAY }))
    .map(([which, away]) => (changes[which] as Change).at + away);
  const since = changes.length === 0 ? anywhere : fc.oneof({ weight: 5, arbitrary: near }, anywhere);
  return fc.record({ zone: fc.constant(zone), stretches: fc.constant(stretches), since });
});

it('any cron line of minutes, hours and weekdays agrees with the calculation, in all zones', {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(
      momentOfZone,
      fieldOf(59),
      fieldOf(23),
      fieldOf(6),
      ({ zone, stretches, since }, minutes, hours, weekdays) => {
        const isDefinite = !/[*/]/.test(minutes.text + hours.text);
        const times = hours.numbers.flatMap((hour) =>
          minutes.numbers.map((minute) => hour * HOUR + minute * MINUTE),
        );
        const expected = isDefinite
          ? nextDefinite(stretches, since, { times, weekdays: weekdays.numbers })
          : nextShown(
              stretches,
              since,
              MINUTE,
              ({ hour, minute, weekday }) =>
                minutes.numbers.includes(minute) &&
                hours.numbers.includes(hour) &&
                weekdays.numbers.includes(weekday),
            );
        const line = cron(`${minutes.text} ${hours.text} * * ${weekdays.text}`, { zone });
        expect(show(line.nextExecuteTime(endedAt(since)))).toBe(show(expected));
      },
    ),
    { numRuns: 2000 },
  );
});

it.each([
  ['Pacific/Apia', Date.UTC(2011, 11, 30)],
  ['Pacific/Fakaofo', Date.UTC(2011, 11, 30)],
  ['Pacific/Kiritimati', Date.UTC(1994, 11, 31)],
  ['Pacific/Kwajalein', Date.UTC(1993, 7, 21)],
])('a day that %s has skipped is skipped', (zone, day) => {
  const stretches = stretchesOf(zone, day - 30 * DAY, day + 31 * DAY);
  expect(changesOf(stretches)).toEqual([{ at: expect.any(Number), low: day, high: day + DAY }]);
  const disagreements = new Disagreements();
  const weekday = fieldsOf(day).weekday;
  for (let since = day - 2 * DAY; since <= day + 2 * DAY; since += 5 * HOUR) {
    for (const hour of [0, 5, 12, 23]) {
      const times = [hour * HOUR];
      const daily = nextDefinite(stretches, since, { times });
      disagreements.compare(`at ${hour}`, dailyAt(`${two(hour)}:00`, { zone }), since, daily);
      disagreements.compare(`0 ${hour} * * *`, cron(`0 ${hour} * * *`, { zone }), since, daily);
      const weekly = nextDefinite(stretches, since, { times, weekdays: [weekday] });
      const line = `0 ${hour} * * ${weekday}`;
      disagreements.compare(line, cron(line, { zone }), since, weekly);
    }
    const often = nextShown(stretches, since, MINUTE, ({ minute }) => minute % 20 === 0);
    disagreements.compare('*/20 * * * *', cron('*/20 * * * *', { zone }), since, often);
    const thatDay = nextShown(stretches, since, MINUTE, (shown) => shown.weekday === weekday);
    disagreements.compare(`* * * * ${weekday}`, cron(`* * * * ${weekday}`, { zone }), since, thatDay);
  }
  disagreements.expectNone(200);
});
