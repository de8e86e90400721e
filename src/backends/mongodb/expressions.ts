import { CLOCK_BACK_MS, LONGEST_AHEAD_MICROS } from '../../cluster/plausible.ts';
import { LONGEST_AHEAD_MS } from '../../records/edited.ts';

// Facts about a record in the language of MongoDB's pipelines. A document has the fields of a record, its instants as dates. Types
// are checked, because MongoDB orders values of different types.

/** The server's clock: one instant per command. */
export const NOW: string = '$$NOW';

/** A hundred years, which still gives a valid date. */
const LONGEST_MS = 100 * 365 * 86_400_000;

/** The instant `ms` milliseconds from now, rounded up: dates have no fractions. */
export function after(ms: number): object {
  return { $add: [NOW, Math.min(Math.ceil(ms), LONGEST_MS)] };
}

/** A value of the caller, which may mean something in a pipeline. */
export function literal(value: unknown): object {
  return { $literal: value ?? null };
}

/** The server's clock in microseconds. */
const MICROS = { $multiply: [{ $toLong: NOW }, 1000] };

export const isOfType = (field: string, type: string): object => ({ $eq: [{ $type: field }, type] });
const isBefore = (field: string, ms: number): object => ({ $lte: [field, after(ms)] });
const isInstant = (field: string): object => ({
  $and: [isOfType(field, 'date'), isBefore(field, LONGEST_AHEAD_MS)],
});

/** The backend can have given the token. */
export const IS_TOKEN: object = {
  $and: [
    { $in: [{ $type: '$token' }, ['int', 'long', 'double']] },
    { $gte: ['$token', 0] },
    { $lte: ['$token', { $add: [MICROS, LONGEST_AHEAD_MICROS] }] },
  ],
};
export const TOKEN: object = { $cond: [IS_TOKEN, '$token', 0] };

/** The next token: greater than the present one, and than any that this backend has ever issued. */
export const NEXT_TOKEN: object = { $max: [{ $add: [TOKEN, 1] }, MICROS] };

export const LEASED: readonly string[] = ['leased', 'seized'];

/** Rules for the fields of a sound record. */
const RULES: Readonly<Record<string, object>> = {
  token: IS_TOKEN,
  phase: { $in: ['$phase', [...LEASED, 'held']] },
  until: isInstant('$until'),
  at: isInstant('$at'),
  changedAt: isInstant('$changedAt'),
  id: isOfType('$id', 'string'),
  text: isOfType('$text', 'string'),
};

export const IS_SOUND: object = { $and: Object.values(RULES) };

/** The first field that breaks its rule. Of a new document all are missing, and `null` is what is replaced. */
export const DAMAGE: object = {
  $switch: {
    branches: [
      { case: { $and: Object.keys(RULES).map((field) => isOfType(`$${field}`, 'missing')) }, then: null },
      ...Object.entries(RULES).map(([field, rule]) => ({ case: { $not: [rule] }, then: field })),
    ],
    default: null,
  },
};

export const IS_HELD: object = { $eq: ['$phase', 'held'] };
export const IS_LIVE: object = {
  $and: [
    IS_SOUND,
    { $gt: ['$until', NOW] },
    isBefore('$at', CLOCK_BACK_MS),
    isBefore('$changedAt', CLOCK_BACK_MS),
  ],
};

export const KEEP_MS: object = { $ifNull: ['$keepMs', null] };
export const OLDER: object = { $ifNull: ['$older', []] };
