/**
 * What is used of a `Collection` of the official driver (the package `mongodb`), 6 or newer. It and its client stay
 * yours: they are not closed.
 */
export interface MongoCollection {
  findOneAndUpdate(filter: object, update: object[], options: object): Promise<unknown>;
  aggregate(pipeline: object[], options: object): { toArray(): Promise<unknown[]> };
  deleteOne(filter: object, options: object): Promise<{ readonly deletedCount: number }>;
  createIndex(keys: { readonly expireAt: 1 }, options: object): Promise<unknown>;
}

/** The clock of the server: one instant for all of a command. */
export const NOW = '$$NOW';

/** Years away; far enough, and still a date. */
const LONGEST_MS = 100 * 365 * 86_400_000;

/** An instant so many milliseconds from now; dates have no fractions of them. */
export function after(ms: number): object {
  return { $add: [NOW, Math.min(Math.ceil(ms), LONGEST_MS)] };
}

/** Is it a number that a token or a version can be? It counts as a condition in each pipeline. */
export function isWhole(field: string): object {
  return {
    $and: [
      { $in: [{ $type: field }, ['int', 'long', 'double']] },
      { $gte: [field, 0] },
      { $lt: [field, Number.MAX_SAFE_INTEGER] },
    ],
  };
}

/** The token or version that follows: greater than the one before, and than all that an engine has ever given. */
export function next(field: string): object {
  const held = { $cond: [isWhole(field), field, 0] };
  return { $max: [{ $add: [held, 1] }, { $multiply: [{ $toLong: NOW }, 1000] }] };
}

/** A text of the caller's, which may begin with `$`. */
export function text(value: string): object {
  return { $literal: value };
}
