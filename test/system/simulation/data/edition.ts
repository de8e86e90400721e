import { every, notEmpty, shrinksAtMost } from '../../../../src/guards/index.ts';
import type { Accept } from '../../../../src/index.ts';
import type { StandardSchema } from '../../../../src/schema.ts';

/** A mark on a value, for all instances. */
export type Mark = 'invalidated' | 'dropped';

/** What the source returns: all of it, or something bad. */
export type Quality = 'full' | 'half' | 'empty' | 'garbage';

/** A value of the data world: one edition of a price list. */
export interface Edition {
  /** The number of the load, or of the value that was set by hand. */
  readonly serial: number;
  readonly rows: readonly number[] | string;
  /** It is the output of the schema. */
  readonly isChecked?: true;
}

const ROWS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** A guard refuses the half of an edition, and accepts all of it after the half. */
const SHRINKS_AT_MOST = 0.4;

export function editionOf(serial: number, quality: Quality): Edition {
  const rows = { full: ROWS, half: ROWS.slice(5), empty: [], garbage: 'Bad Gateway' };
  return { serial, rows: rows[quality] };
}

const sizeOf = ({ rows }: Edition): number => (rows as readonly number[]).length;

/** The guard that the members have. */
export const guard: Accept<Edition> = every<Edition>(
  ({ rows }) => Array.isArray(rows) || 'it has no rows',
  notEmpty({ sizeOf }),
  shrinksAtMost(SHRINKS_AT_MOST, { sizeOf }),
);

/** The schema that the members have: rows, and not none of them. */
export const schema: StandardSchema<Edition> = {
  '~standard': {
    version: 1,
    validate: (value) => {
      const edition = value as Edition;
      return isPlausible(edition)
        ? { value: { ...edition, isChecked: true } }
        : { issues: [{ message: 'it has no rows' }] };
    },
  },
};

/** The schema takes it. */
export function isPlausible({ rows }: Edition): boolean {
  return Array.isArray(rows) && rows.length > 0;
}

/** By the documentation, and without the code of the guards: whether the guard takes a value that is plausible. */
export function isAcceptable({ rows }: Edition, previous: Edition | undefined): boolean {
  return rows.length >= (previous?.rows.length ?? 0) * (1 - SHRINKS_AT_MOST);
}

/** The mark that a snapshot is; `undefined`: it has a value. */
export function markIn(payload: string): Mark | undefined {
  return /"mark":"(\w+)"/.exec(payload)?.[1] as Mark | undefined;
}

/** The serial of the value in a snapshot. */
export function serialIn(payload: string): number {
  return Number(/"serial":(\d+)/.exec(payload)?.[1]);
}
