import { countOf } from '../data/count-of.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { messageOf } from '../observe/logger.ts';
import { schemaRefusal } from '../schema.ts';
import { isThenable } from '../time/deferred.ts';
import type { RefusedValue } from './refused-error.ts';

/** The output of the schema for a value: at once, unless the schema is asynchronous. @param refuse throws. */
export function validated<T>(
  value: unknown,
  { schema }: ResolvedOptions,
  refuse: (refusal: RefusedValue) => never,
): T | PromiseLike<T> {
  if (schema === undefined) return value as T;
  return settled(
    () => schema['~standard'].validate(value),
    (result) => {
      if (result.issues === undefined) return result.value as T;
      return refuse({ reason: schemaRefusal(result.issues), size: countOf(value) });
    },
    (cause) => refuse({ reason: `the schema failed: ${messageOf(cause)}`, size: countOf(value), cause }),
  );
}

/** Runs a step, then the one for its end: on this stack, unless the step returns a promise. */
export function settled<A, B>(
  step: () => A | PromiseLike<A>,
  then: (result: A) => B | PromiseLike<B>,
  failed: (error: unknown) => B | PromiseLike<B>,
): B | PromiseLike<B> {
  let result: A | PromiseLike<A>;
  try {
    result = step();
  } catch (error) {
    return failed(error);
  }
  return isThenable(result)
    ? Promise.resolve(result as PromiseLike<A>).then(then, failed)
    : then(result as A);
}

/** For {@link settled}, where a failure is that of the whole. */
export function rethrow(error: unknown): never {
  throw error;
}
