import type { OptionChecks } from '../option-checks.ts';
import { isSchema, SCHEMA_RULE, type StandardSchema } from '../schema.ts';
import type { Accept } from './accept.ts';
import type { Unchanged } from './guarded-load.ts';

/** The options of values and caches that guard what replaces a value. */
export interface GuardOptions<T> {
  /**
   * Checks each value before it replaces anything and before it is published: results of the own load, snapshots from a
   * store, arguments of `set`, the value of `initial`. Any Standard Schema: zod, valibot, arktype. The output of the schema is the value; it is what
   * other instances and `previous` have, and is checked again there, so the schema must accept its own output. May be
   * asynchronous (within the deadline), except for these three. A loaded value that it refuses is a failed load
   * (`REFUSED`), a snapshot counts as absent (`load-ended`, `refused`), `set`
   * throw, an `initial` value counts as none. `keep()` and `absent()`
   * are not checked. Where the load returns `unknown`, `any` or a type that the schema does not, the
   * type of the value is that of its output. @default undefined: no check
   */
  readonly schema?: StandardSchema<T> | undefined;
  /**
   * Decides whether a loaded value may replace the one before: `true`, or the reason why not; throwing is a refusal too. Runs
   * after `schema`, within the deadline and under the lease of the load; may be asynchronous. A refused load has failed with
   * a `REFUSED` error and is not tried again before the cool-down; the old value stays, and nothing is published.
   * Ready-made ones are in `tickless/guards`. Only for loads of this instance: values of `set` and other
   * instances were decided on elsewhere. @default undefined: any value
   */
  readonly accept?: Accept<T> | undefined;
  /**
   * Makes a load whose value says the same as the one in place a `keep()`: that object stays, its age begins anew, `load-ended` has the outcome `kept`, no `changed`
   * is emitted, nothing that is derived of it is made again, and in a cluster the other instances get a
   * confirmation instead of the value. `'deep'`: deep equality, also of `Map`, `Set`, `Date`, typed arrays and circular values. A function gets the value in place and the new one,
   * after `schema` and `accept`; it must be synchronous and change neither, and throwing fails the load. It is not asked about the
   * first value, nor about one that is `initial`. @default undefined: each loaded value is a new one
   */
  readonly unchanged?: Unchanged<T> | undefined;
}

/** The load says what the value is; unless it returns `unknown` or `any`, and there is a schema. */
export type TypedByLoad<T> = unknown extends T ? { readonly schema?: undefined } : unknown;

/** The schema says what the value is: its output, whatever the load returns. */
export type TypedBySchema<Options, Loads, T> = Omit<Options, keyof Loads | 'schema'> &
  Loads & { readonly schema: StandardSchema<T> };

/** The names of {@link GuardOptions}. */
export const GUARD_OPTIONS = ['schema', 'accept', 'unchanged'] as const;

/** {@link GuardOptions} of values of any type. */
export interface AnyGuardOptions {
  readonly schema?: StandardSchema | undefined;
  readonly accept?: Accept<never> | undefined;
  readonly unchanged?: Unchanged<never> | undefined;
}

export function checkGuardOptions(
  { schema, accept, unchanged }: AnyGuardOptions,
  checks: OptionChecks,
): void {
  if (schema !== undefined) checks.that(isSchema(schema), 'schema', SCHEMA_RULE, schema);
  if (accept !== undefined) checks.function('accept', accept);
  const isRule = unchanged === undefined || unchanged === 'deep' || typeof unchanged === 'function';
  const rule = "must be 'deep' or a function of the value in place and the new one";
  checks.that(isRule, 'unchanged', rule, unchanged);
}
