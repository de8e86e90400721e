import { CLOCK_BACK_MS, LONGEST_AHEAD_MICROS } from '../../cluster/plausible.ts';
import { LONGEST_AHEAD_MS } from '../../records/edited.ts';
import type { Phase, Row } from '../../records/records.ts';
import { systemClock } from '../../time/clock.ts';
import type { SqlRow } from './client.ts';

// The rules of `records/edited.ts` that look at a record, as SQL expressions of PostgreSQL and MySQL. A table has a row for
// each edition of a name.

/** The edition of the present record. An earlier one has its token there. */
export const PRESENT = -1;

/** The columns of a record beside its name and its edition. */
export const COLUMNS = [
  'token',
  'id',
  'phase',
  'begun_at',
  'changed_at',
  'ends_at',
  'text',
  'note',
  'replaced',
  'keep_ms',
] as const;

export type Column = (typeof COLUMNS)[number];

/** Expressions of one database. Instants are SQL expressions, durations milliseconds. */
export interface SqlClock {
  /** One instant per statement. */
  readonly now: string;
  /** The same as a whole number: microseconds since 1970. */
  readonly micros: string;
  /** The instant `ms` milliseconds after another one; `ms` is an expression. */
  plus(instant: string, ms: string | number): string;
  /** Milliseconds between two instants. */
  between(from: string, to: string): string;
  /** Whether an instant is one of the calendar: some databases also store endless ones. */
  isFinite(instant: string): string;
}

/** Conditions and values of a record. None of the conditions is NULL where the record is there. */
export interface RecordSql {
  /** The field that no edit can have written, or NULL. */
  readonly damage: string;
  /** The backend can have given the token. */
  readonly isToken: string;
  /** Its lease or its hold is not over, unless it is damaged. */
  readonly isLive: string;
  /** The token of the next claim or put. */
  readonly nextToken: string;
  /** It was to be kept until before now. */
  readonly isExpired: string;
  /** The columns of a `Row`, for `rowOf`. */
  readonly row: string;
}

/**
 * @param of a column of the record.
 * @param text of a text column, as it is returned.
 * @param number of a number, likewise: as text where the client may have a parser of its own for numbers.
 */
export function recordSql(
  { now, micros, plus, between, isFinite: ofCalendar }: SqlClock,
  of: (column: Column) => string,
  text: (column: string) => string = (column) => column,
  number: (value: string) => string = (value) => value,
): RecordSql {
  const latest = plus(now, LONGEST_AHEAD_MS);
  const back = plus(now, CLOCK_BACK_MS);
  const token = of('token');
  const isToken = `(${token} >= 0 AND ${token} <= ${micros} + ${LONGEST_AHEAD_MICROS})`;
  const isInstant = (column: Column): string => `${ofCalendar(of(column))} AND ${of(column)} <= ${latest}`;
  const damage = `CASE WHEN NOT ${isToken} THEN 'token' WHEN ${of('phase')} NOT IN ('leased', 'seized', 'held') THEN 'phase'
    WHEN NOT (${isInstant('ends_at')}) THEN 'until' WHEN NOT (${isInstant('begun_at')}) THEN 'at'
    WHEN NOT (${isInstant('changed_at')}) THEN 'changedAt' END`;
  const isLive = `(${of('ends_at')} > ${now} AND ${of('begun_at')} <= ${back} AND ${of('changed_at')} <= ${back})`;
  const last = `greatest(${of('ends_at')}, ${of('changed_at')})`;
  return {
    damage,
    isToken,
    isLive,
    nextToken: `CASE WHEN ${isToken} THEN greatest(${token} + 1, ${micros}) ELSE ${micros} END`,
    isExpired: `(${of('keep_ms')} IS NOT NULL AND ${ofCalendar(last)} AND ${plus(last, `coalesce(${of('keep_ms')}, 0)`)} <= ${now})`,
    row: [
      `${number(token)} AS token`,
      ...['id', 'phase', 'note', 'replaced'].map((one) => `${text(of(one as Column))} AS ${one}`),
      `CASE WHEN ${ofCalendar(of('begun_at'))} THEN ${number(between(of('begun_at'), now))} END AS age`,
      `CASE WHEN ${ofCalendar(of('changed_at'))} THEN ${number(between(of('changed_at'), now))} END AS changed_ago`,
      `CASE WHEN ${isLive} AND ${ofCalendar(of('ends_at'))} THEN ${number(between(now, of('ends_at')))} ELSE ${number('0')} END AS remaining`,
      `${damage} AS damage`,
      `${number(micros)} AS micros`,
    ].join(', '),
  };
}

/** A row of `RecordSql.row`, with its text as `text`. Clients return numbers as numbers, texts or bigints. */
export function rowOf({
  token,
  id,
  phase,
  text,
  note,
  age,
  changed_ago,
  remaining,
  damage,
  replaced,
}: SqlRow): Row {
  return {
    token: Number(token),
    id: String(id),
    phase: String(phase) as Phase,
    text: String(text ?? ''),
    note: String(note),
    age: age === null ? NaN : Number(age),
    changedAgo: changed_ago === null ? NaN : Number(changed_ago),
    left: damage === null ? Number(remaining) : 0,
    damage: textOf(damage),
    replaced: textOf(replaced),
  };
}

function textOf(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

/** The wall clock of the database in milliseconds, as one of the rows tells it; without any that of this machine. */
export function clockIn(rows: readonly SqlRow[]): number {
  const [first] = rows;
  return first === undefined ? systemClock.now() : Number(first.micros) / 1000;
}

const LAST_CODE_POINT = 0x10_ffff;
/** The code points of halves of surrogate pairs, of which no text consists. */
const [FIRST_HALF, AFTER_HALVES] = [0xd800, 0xe000];

/** The first text that follows all that begin with another one, in the order of code points. @param prefix not only of the last one */
export function endOf(prefix: string): string {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const next = (points.pop() as number) + 1;
  return String.fromCodePoint(...points, next === FIRST_HALF ? AFTER_HALVES : next);
}
