import { LONGEST_AHEAD_MICROS } from '../cluster/plausible.ts';

/**
 * The used part of a `Collection` of the official driver (the package `mongodb`), 6 or newer. You keep ownership: neither
 * it nor its client is closed.
 */
export interface MongoCollection {
  findOneAndUpdate(filter: object, update: object[], options: object): Promise<unknown>;
  aggregate(pipeline: object[], options: object): { toArray(): Promise<unknown[]> };
  /** Steps for several names share a command where the collection has it. It is called with update operations. */
  bulkWrite?(operations: never[], options: object): Promise<{ readonly matchedCount: number }>;
  deleteOne(filter: object, options: object): Promise<{ readonly deletedCount: number }>;
  createIndex(keys: { readonly expireAt: 1 }, options: object): Promise<unknown>;
}

/** The server's clock: one instant per command. */
export const NOW = '$$NOW';

/** A hundred years, which still gives a valid date. */
const LONGEST_MS = 100 * 365 * 86_400_000;

/** The instant `ms` milliseconds from now, rounded up: dates have no fractions. */
export function after(ms: number): object {
  return { $add: [NOW, Math.min(Math.ceil(ms), LONGEST_MS)] };
}

/** The server's clock in microseconds. */
const MICROS = { $multiply: [{ $toLong: NOW }, 1000] };

/** Tests whether a field is a token or a version that this backend can have given, as an aggregation expression. */
export function isPlausible(field: string): object {
  return {
    $and: [
      { $in: [{ $type: field }, ['int', 'long', 'double']] },
      { $gte: [field, 0] },
      { $lte: [field, { $add: [MICROS, LONGEST_AHEAD_MICROS] }] },
    ],
  };
}

/** The next token or version: greater than the present one, and than any that this backend has ever issued. */
export function next(field: string): object {
  const held = { $cond: [isPlausible(field), field, 0] };
  return { $max: [{ $add: [held, 1] }, MICROS] };
}

/** A text of the caller, which may begin with `$`. */
export function text(value: string): object {
  return { $literal: value };
}
