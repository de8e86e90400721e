import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { OptionError } from '../errors.ts';
import { ignoreRejection, isThenable } from '../time/deferred.ts';
import { validated } from './validated.ts';

/**
 * Checks a value that is set by hand. @returns the output of the schema.
 *
 * @throws {ValueRejectedError} when the schema refuses it. @throws {OptionError} when the schema is asynchronous, or makes
 *   `undefined` of it.
 */
export function schemaArgument<T>(options: ResolvedOptions, key: unknown, value: T): T {
  const { name: cacheName, schema } = options;
  const output = validated<T>(value, options, key);
  if (schema === undefined) return output as T;
  if (isThenable(output)) {
    ignoreRejection(Promise.resolve(output));
    const rule = 'must be synchronous for a value that is set by hand';
    throw new OptionError([{ option: 'schema', rule, received: schema }], { cacheName, key });
  }
  if (output !== undefined) return output as T;
  const rule = 'must not become undefined by the schema';
  throw new OptionError([{ option: 'value', rule, received: value }], { cacheName, key });
}
