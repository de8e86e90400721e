import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { OptionError } from '../errors.ts';
import { ignoreRejection, isThenable } from '../time/deferred.ts';
import { validated } from './validated.ts';

/**
 * Checks a value that is set by hand. @returns the output of the schema.
 *
 * @throws {ValueRejectedError} when the schema refuses it. @throws {OptionError} when the schema is asynchronous.
 */
export function schemaArgument<T>(options: ResolvedOptions, key: unknown, value: T): T {
  const output = validated<T>(value, options, key);
  if (options.schema === undefined || !isThenable(output)) return output as T;
  ignoreRejection(Promise.resolve(output));
  const rule = 'must be synchronous for a value that is set by hand';
  throw new OptionError([{ option: 'schema', rule, received: options.schema }], {
    cacheName: options.name,
    key,
  });
}
