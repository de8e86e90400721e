import { isMeta, type ValueMeta } from '../data/value-meta.ts';
import { isNumber } from '../option-checks.ts';
import { areStoredHeaders, type StoredHeaders } from '../schedule/stored-headers.ts';

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
  /** That is the answer of the schedule, and not of the load. */
  readonly isLimitScheduled: boolean;
  readonly tags: readonly string[] | undefined;
  readonly meta: ValueMeta | undefined;
  readonly headers: StoredHeaders | undefined;
}

/** The same as JSON. */
export interface TimesLine {
  /** Snapshots of earlier versions of the library have none. */
  readonly age?: number;
  readonly dueIn: number | null;
  readonly isDueSaid?: true;
  readonly took: number;
  readonly maxStaleness?: number | null;
  readonly isLimitScheduled?: true;
  readonly tags?: readonly string[];
  readonly meta?: ValueMeta;
  readonly headers?: StoredHeaders;
}

export function timesLine(times: SnapshotTimes): TimesLine {
  const { age, dueIn, isDueTimeOverridden, took, maxStaleness, isLimitScheduled, tags, meta, headers } =
    times;
  return {
    age,
    dueIn: orNull(dueIn),
    ...(isDueTimeOverridden ? { isDueSaid: true } : {}),
    took,
    ...(maxStaleness === undefined ? {} : { maxStaleness: orNull(maxStaleness) }),
    ...(maxStaleness === undefined || !isLimitScheduled ? {} : { isLimitScheduled }),
    ...(tags === undefined ? {} : { tags }),
    ...(meta === undefined ? {} : { meta }),
    ...(headers === undefined ? {} : { headers }),
  };
}

export function timesIn(line: TimesLine): SnapshotTimes {
  const {
    age = 0,
    dueIn,
    isDueSaid = false,
    took,
    maxStaleness,
    isLimitScheduled = false,
    tags,
    meta,
    headers,
  } = line;
  return {
    age,
    dueIn: dueIn ?? Infinity,
    isDueTimeOverridden: isDueSaid,
    took,
    maxStaleness: maxStaleness === null ? Infinity : maxStaleness,
    isLimitScheduled,
    tags,
    meta: meta && Object.freeze(meta),
    headers,
  };
}

/** Nothing of it is missing, or of a wrong type. */
export function areTimes(line: Partial<TimesLine>): boolean {
  const { age = 0, dueIn, took, maxStaleness = null, tags = [], meta, headers } = line;
  return (
    (dueIn === null || isNumber(dueIn, -Number.MAX_VALUE, Number.MAX_VALUE)) &&
    isNumber(age, 0, Number.MAX_VALUE) &&
    isNumber(took, 0, Number.MAX_VALUE) &&
    (maxStaleness === null || isNumber(maxStaleness, Number.MIN_VALUE, Number.MAX_VALUE)) &&
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === 'string') &&
    (meta === undefined || isMeta(meta)) &&
    (headers === undefined || areStoredHeaders(headers))
  );
}

function orNull(number: number): number | null {
  return number === Infinity ? null : number;
}
