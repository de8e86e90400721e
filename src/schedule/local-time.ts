import { IANAZone, SystemZone, type Zone } from 'luxon';
import { reject } from './check.ts';

export const DAY_MS = 86_400_000;

/**
 * The wall clock of a zone. A *wall time* is what that clock shows, date and time, written as the epoch
 * milliseconds of the same date and time in UTC: whole days of it are numbered from 1970-01-01 by division.
 */
export interface LocalClock {
  /** What the clock shows at an instant. */
  wallTimeAt(instant: number): number;
  /**
   * The first instant at which the clock shows this wall time or a later one. For a wall time that does not exist,
   * that is the first instant after the gap; for one that occurs twice, the first time.
   */
  instantOf(wallTime: number): number;
  /**
   * The first instant after `after` among those of a series of wall times. Days that the zone left out whole
   * (Pacific/Apia had no 30 December 2011) are passed over: the day after has a time of its own.
   *
   * @param following the next wall time of the series after a given one; `Infinity` when there is none.
   */
  firstAfter(after: number, following: (wallTime: number) => number): number;
}

/**
 * The wall clock of an IANA zone; of the machine's own zone when `zone` is `undefined`.
 *
 * @throws {OptionError} when the runtime does not know the zone.
 */
export function localClock(schedule: string, zone: string | undefined): LocalClock {
  if (zone !== undefined && !(typeof zone === 'string' && IANAZone.isValidZone(zone))) {
    reject(schedule, 'zone', 'must be an IANA time zone such as Europe/Amsterdam', zone);
  }
  const offsetAt = offsetIn(zone === undefined ? SystemZone.instance : IANAZone.create(zone));

  function wallTimeAt(instant: number): number {
    return instant + offsetAt(instant);
  }

  function instantOf(wallTime: number): number {
    // No offset is a day or more, and no zone changes its offset twice within two days (checked from 1900 to 2038).
    const before = offsetAt(wallTime - DAY_MS);
    const after = offsetAt(wallTime + DAY_MS);
    if (before === after) return wallTime - before;
    const changedAt = firstChange(offsetAt, wallTime - DAY_MS, wallTime + DAY_MS);
    const beforeChange = wallTime - before;
    return beforeChange < changedAt ? beforeChange : Math.max(changedAt, wallTime - after);
  }

  function leavesOut(day: number): boolean {
    return instantOf(day * DAY_MS) === instantOf((day + 1) * DAY_MS);
  }

  /** The latest wall time that the clock has shown up to an instant: after it was put back, that of before. */
  function latestShownBy(instant: number): number {
    const dayBefore = instant - DAY_MS;
    const before = offsetAt(dayBefore);
    if (before <= offsetAt(instant)) return wallTimeAt(instant);
    return Math.max(wallTimeAt(instant), firstChange(offsetAt, dayBefore, instant) - 1 + before);
  }

  function firstAfter(after: number, following: (wallTime: number) => number): number {
    let wallTime = following(latestShownBy(after));
    while (leavesOut(Math.floor(wallTime / DAY_MS))) wallTime = following(wallTime);
    return wallTime === Number.POSITIVE_INFINITY ? wallTime : instantOf(wallTime);
  }

  return { wallTimeAt, instantOf, firstAfter };
}

/** Local minus universal time in milliseconds. luxon answers in minutes, with a fraction for old offsets. */
function offsetIn(zone: Zone): (instant: number) => number {
  return (instant) => Math.round(zone.offset(instant) * 60_000);
}

/** The first millisecond in (from, to] whose offset is not that of `from`; the offset of `to` must not be. */
function firstChange(offsetAt: (instant: number) => number, from: number, to: number): number {
  const before = offsetAt(from);
  let unchanged = from;
  let changed = to;
  while (changed - unchanged > 1) {
    const middle = Math.floor((unchanged + changed) / 2);
    if (offsetAt(middle) === before) unchanged = middle;
    else changed = middle;
  }
  return changed;
}
