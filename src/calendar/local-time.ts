import { IANAZone, SystemZone, type Zone } from 'luxon';
import { reject } from '../schedule/check.ts';

export const DAY_MS = 86_400_000;

/**
 * The wall clock of a zone. A *wall time* is the date and time that this clock shows, written as the epoch milliseconds
 * of the same date and time in UTC: division by `DAY_MS` numbers its days from 1970-01-01.
 */
export interface LocalClock {
  /** The wall time at an instant. */
  wallTimeAt(instant: number): number;
  /**
   * The first instant at which the clock shows this wall time or a later one: for a wall time in a gap, the first
   * instant after the gap; for one that occurs twice, its first occurrence.
   */
  instantOf(wallTime: number): number;
  /**
   * The first instant after `after` in a series of wall times. Days that the zone skipped entirely (Pacific/Apia had no
   * 30 December 2011) are left out: the next day has its own wall time.
   *
   * @param following returns the next wall time of the series after a given one, or `Infinity`.
   */
  firstAfter(after: number, following: (wallTime: number) => number): number;
}

/**
 * The wall clock of an IANA zone; of the machine's own zone when `zone` is `undefined`.
 *
 * @throws {TicklessError} `OPTION` when the runtime does not know the zone.
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
    // No offset reaches a day, and no zone changes its offset twice within two days (checked from 1900 to 2038).
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

  /** The latest wall time shown up to an instant; after a change backwards, the one just before the change. */
  function latestShownBy(instant: number): number {
    const dayBefore = instant - DAY_MS;
    const before = offsetAt(dayBefore);
    if (before <= offsetAt(instant)) return wallTimeAt(instant);
    return Math.max(wallTimeAt(instant), firstChange(offsetAt, dayBefore, instant) - 1 + before);
  }

  function firstAfter(after: number, following: (wallTime: number) => number): number {
    let wallTime = following(latestShownBy(after));
    while (leavesOut(Math.floor(wallTime / DAY_MS))) wallTime = following(wallTime);
    return wallTime === Infinity ? wallTime : instantOf(wallTime);
  }

  return { wallTimeAt, instantOf, firstAfter };
}

/** Local time minus UTC, in milliseconds. luxon returns minutes, with a fraction for historical offsets. */
function offsetIn(zone: Zone): (instant: number) => number {
  return (instant) => Math.round(zone.offset(instant) * 60_000);
}

/** The first millisecond in (from, to] with another offset than `from`; the offset of `to` must differ. */
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
