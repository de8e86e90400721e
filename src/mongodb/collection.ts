/**
 * The used part of a `Collection` of the official driver (the package `mongodb`), 6 or newer. You keep ownership: neither
 * it nor its client is closed.
 */
export interface MongoCollection {
  findOneAndUpdate(filter: object, update: object[], options: object): Promise<unknown>;
  aggregate(pipeline: object[], options: object): { toArray(): Promise<unknown[]> };
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

/** Tests whether a field is a valid token or version, as an aggregation expression. */
export function isWhole(field: string): object {
  return {
    $and: [
      { $in: [{ $type: field }, ['int', 'long', 'double']] },
      { $gte: [field, 0] },
      { $lt: [field, Number.MAX_SAFE_INTEGER] },
    ],
  };
}

/** The next token or version: greater than the present one, and than any that this backend has ever issued. */
export function next(field: string): object {
  const held = { $cond: [isWhole(field), field, 0] };
  return { $max: [{ $add: [held, 1] }, { $multiply: [{ $toLong: NOW }, 1000] }] };
}

/** A text of the caller, which may begin with `$`. */
export function text(value: string): object {
  return { $literal: value };
}
