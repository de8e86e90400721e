import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { optionError } from '../option-error.ts';
import { ignoreRejection, isThenable } from '../time/deferred.ts';
import { refusedError } from './refused-error.ts';
import { validated } from './validated.ts';

/**
 * Checks a value that is set by hand. @returns the output of the schema.
 *
 * @throws {TicklessError} `REFUSED` when the schema refuses it. @throws {TicklessError} `OPTION` when the schema is asynchronous, or makes
 *   `undefined` of it.
 */
export function schemaArgument<T>(options: ResolvedOptions, key: unknown, value: T): T {
  const { name: member, schema } = options;
  const output = validated<T>(value, options, (refusal) => {
    throw refusedError(refusal, { member, key });
  });
  if (schema === undefined) return output as T;
  if (isThenable(output)) {
    ignoreRejection(Promise.resolve(output));
    const rule = 'must be synchronous for a value that is set by hand';
    throw optionError([{ option: 'schema', rule, received: schema }], { member, key });
  }
  if (output !== undefined) return output as T;
  const rule = 'must not become undefined by the schema';
  throw optionError([{ option: 'value', rule, received: value }], { member, key });
}
