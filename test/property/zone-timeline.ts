import { DAY, everyZone, HOUR, linkedZones, MINUTE, offsetAt } from '../unit/schedule/wall-clock.ts';

/**
 * The changes of the clocks of all zones in ten years, and the instants of times of the day: the reference for calendar
 * schedules. From Intl alone, as `wall-clock`.
 */

export const TEN_YEARS: { readonly from: number; readonly to: number } = {
  from: Date.UTC(2020, 0, 1),
  to: Date.UTC(2030, 0, 1),
};

/** A stretch of time [from, to) in which the clocks of a zone go evenly. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Local minus universal time. */
  readonly offset: number;
}

/** No zone puts its clocks on and back within a week; looked at every day, the ten years show the same changes. */
const STEP = 7 * DAY;

/** The stretches of a zone in order, to the millisecond. */
export function stretchesOf(zone: string, from: number, to: number): Stretch[] {
  const found: Stretch[] = [];
  let [begin, offset] = [from, offsetAt(zone, from)];
  for (let week = from; week < to; week += STEP) {
    const next = offsetAt(zone, week + STEP);
    if (next === offset) continue;
    let [same, other] = [week, week + STEP];
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (offsetAt(zone, middle) === offset) same = middle;
      else other = middle;
    }
    found.push({ from: begin, to: other, offset });
    [begin, offset] = [other, next];
  }
  return [...found, { from: begin, to, offset }];
}

/** Zones whose clocks show the same at every instant of the ten years. */
export interface ZoneGroup {
  readonly zones: readonly string[];
  /** From a month before to a month after. */
  readonly stretches: readonly Stretch[];
  /** Those of the ten years. */
  readonly changes: readonly Change[];
}

/** All zones that the runtime knows, each in one group. */
export function zoneGroups(): ZoneGroup[] {
  const groups = new Map<string, { zones: string[]; stretches: Stretch[] }>();
  for (const zone of everyZone) {
    const stretches = stretchesOf(zone, TEN_YEARS.from - 31 * DAY, TEN_YEARS.to + 31 * DAY);
    const key = JSON.stringify(stretches);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { zones: [zone], stretches });
    else group.zones.push(zone);
  }
  return [...groups.values()].map(({ zones, stretches }) => ({
    zones: alternately(zones, (zone) => linkedZones.includes(zone)),
    stretches,
    changes: changesOf(stretches).filter(({ at }) => at >= TEN_YEARS.from && at < TEN_YEARS.to),
  }));
}

/** Those that are and those that are not, in turn: of a group with few changes only the first zones are asked. */
function alternately(zones: readonly string[], isOther: (zone: string) => boolean): string[] {
  const some = zones.filter((zone) => !isOther(zone));
  const others = zones.filter(isOther);
  return zones.flatMap((_, index) => [...some.slice(index, index + 1), ...others.slice(index, index + 1)]);
}

/** The clocks are put on, and the wall times [low, high) are never shown; or back, and they are shown twice. */
export interface Change {
  readonly at: number;
  readonly low: WallTime;
  readonly high: WallTime;
}

export function changesOf(stretches: readonly Stretch[]): Change[] {
  return stretches.slice(1).map(({ from: at, offset }, index) => {
    const before = (stretches[index] as Stretch).offset;
    return { at, low: at + Math.min(before, offset), high: at + Math.max(before, offset) };
  });
}

const knownChanges = new Map<string, readonly number[]>();

/** The instants of the ten years at which the clocks of a zone change. */
export function clockChanges(zone: string): readonly number[] {
  const known = knownChanges.get(zone);
  if (known !== undefined) return known;
  const changes = changesOf(stretchesOf(zone, TEN_YEARS.from, TEN_YEARS.to)).map(({ at }) => at);
  knownChanges.set(zone, changes);
  return changes;
}

/** The date and time that a clock shows, as the epoch milliseconds of the same date and time in UTC. */
export type WallTime = number;

/** The first instant at which the clock shows a wall time or a later one. */
function firstShown(stretches: readonly Stretch[], wallTime: WallTime): number {
  for (const { from, to, offset } of stretches) {
    const instant = Math.max(from, wallTime - offset);
    if (instant < to) return instant;
  }
  return Number.POSITIVE_INFINITY;
}

/** How far ahead is looked: two weeks, since lines of a weekday may lose one to a change. */
const HORIZON_DAYS = 16;

/** Definite times of certain days. */
export interface DefiniteTimes {
  /** Milliseconds from midnight. */
  readonly times: readonly number[];
  /** Of the week, from 0 for Sunday. */
  readonly weekdays?: readonly number[];
}

/** When definite times come: once on each of the days, but for days that the clock never shows. */
export function nextDefinite(
  stretches: readonly Stretch[],
  since: number,
  { times, weekdays }: DefiniteTimes,
): number {
  const today = dayOf(since);
  for (let day = today - 2; day <= today + HORIZON_DAYS; day++) {
    if (weekdays !== undefined && !weekdays.includes(weekdayOf(day))) continue;
    if (firstShown(stretches, day * DAY) === firstShown(stretches, (day + 1) * DAY)) continue;
    const instants = times.map((time) => firstShown(stretches, day * DAY + time));
    const next = Math.min(...instants.filter((instant) => instant > since));
    if (next < Number.POSITIVE_INFINITY) return next; // those of later days are not earlier
  }
  return Number.POSITIVE_INFINITY;
}

/** When the clock shows a wall time that matches; it is looked at every `step`. */
export function nextShown(
  stretches: readonly Stretch[],
  since: number,
  step: number,
  matches: (shown: Fields) => boolean,
): number {
  for (const { from, to, offset } of stretches) {
    const wallFrom = Math.max(from, since + 1) + offset;
    const wallTo = Math.min(to, since + HORIZON_DAYS * DAY) + offset;
    for (let wallTime = Math.ceil(wallFrom / step) * step; wallTime < wallTo; wallTime += step) {
      if (matches(fieldsOf(wallTime))) return wallTime - offset;
    }
  }
  return Number.POSITIVE_INFINITY;
}

/** The fields of a wall time that cron lines speak of here. */
export interface Fields {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** From 0 for Sunday. */
  readonly weekday: number;
}

export function fieldsOf(wallTime: WallTime): Fields {
  const inDay = wallTime - dayOf(wallTime) * DAY;
  return {
    hour: Math.floor(inDay / HOUR),
    minute: Math.floor(inDay / MINUTE) % 60,
    second: Math.floor(inDay / 1000) % 60,
    weekday: weekdayOf(dayOf(wallTime)),
  };
}

const dayOf = (wallTime: WallTime): number => Math.floor(wallTime / DAY);

/** 1970-01-01, day 0, was a Thursday. */
const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7;
