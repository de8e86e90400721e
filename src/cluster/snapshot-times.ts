import { isMeta, type ValueMeta } from '../data/value-meta.ts';
import { isNumber } from '../option-checks.ts';

/** The times of a value on its way between instances, and what its load returned with it. All durations in milliseconds. */
export interface SnapshotTimes {
  /** How old it was when it was written. */
  readonly age: number;
  /** From when it was written to when the next round begins; `Infinity`: never by itself. */
  readonly dueIn: number;
  /** The due time comes from the load, not from the schedule. */
  readonly isDueTimeOverridden: boolean;
  /** How long its load took. */
  readonly took: number;
  /** The age limit that the load gave it; `Infinity`: none. */
  readonly maxStaleness: number | undefined;
  readonly tags: readonly string[] | undefined;
  readonly meta: ValueMeta | undefined;
}

/** The same as JSON. */
export interface TimesLine {
  /** Snapshots of earlier versions of the library have none. */
  readonly age?: number;
  readonly dueIn: number | null;
  readonly isDueSaid?: true;
  readonly took: number;
  readonly maxStaleness?: number | null;
  readonly tags?: readonly string[];
  readonly meta?: ValueMeta;
}

export function timesLine(times: SnapshotTimes): TimesLine {
  const { age, dueIn, isDueTimeOverridden, took, maxStaleness, tags, meta } = times;
  return {
    age,
    dueIn: orNull(dueIn),
    ...(isDueTimeOverridden ? { isDueSaid: true } : {}),
    took,
    ...(maxStaleness === undefined ? {} : { maxStaleness: orNull(maxStaleness) }),
    ...(tags === undefined ? {} : { tags }),
    ...(meta === undefined ? {} : { meta }),
  };
}

export function timesIn(line: TimesLine): SnapshotTimes {
  const { age = 0, dueIn, isDueSaid = false, took, maxStaleness, tags, meta } = line;
  return {
    age,
    dueIn: dueIn ?? Infinity,
    isDueTimeOverridden: isDueSaid,
    took,
    maxStaleness: maxStaleness === null ? Infinity : maxStaleness,
    tags,
    meta: meta && Object.freeze(meta),
  };
}

/** Nothing of it is missing, or of a wrong type. */
export function areTimes(line: Partial<TimesLine>): boolean {
  const { age = 0, dueIn, took, maxStaleness = null, tags = [], meta } = line;
  return (
    (dueIn === null || isNumber(dueIn, -Number.MAX_VALUE, Number.MAX_VALUE)) &&
    isNumber(age, 0, Number.MAX_VALUE) &&
    isNumber(took, 0, Number.MAX_VALUE) &&
    (maxStaleness === null || isNumber(maxStaleness, Number.MIN_VALUE, Number.MAX_VALUE)) &&
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === 'string') &&
    (meta === undefined || isMeta(meta))
  );
}

function orNull(number: number): number | null {
  return number === Infinity ? null : number;
}
