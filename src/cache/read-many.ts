import type { EngineOptions } from '../engine/engine-options.ts';
import { READ_OPTIONS, type ReadOptions } from '../engine/reader.ts';
import { isTicklessError } from '../errors.ts';
import { callUserCode } from '../observe/call-user-code.ts';
import { messageOf } from '../observe/logger.ts';
import { passToPlatform } from '../observe/wait-until.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';

/** The options of `getMany`. */
export interface GetManyOptions<K> extends ReadOptions {
  /**
   * Called for each key whose read fails, except absent ones; the `Map` does not have these keys then. Without it,
   * `getMany` rejects when the read of a key fails. An error that it throws rejects `getMany`; it is not awaited: one that it
   * rejects with later is logged.
   */
  readonly onError?: ((error: unknown, key: K) => void) | undefined;
}

/**
 * Reads several keys at once, each by itself. The resulting `Map` lacks absent keys, and keys whose errors were passed to
 * `onError`. Without `onError` it rejects once all reads are settled: with the error, or with an `AggregateError` of
 * several. Rejects with `OPTION` for keys that can't be walked, and for unknown or wrong options.
 */
export async function readMany<K, V>(
  { name, logger }: EngineOptions,
  keys: Iterable<K>,
  given: GetManyOptions<K> | undefined,
  read: (key: K, options: ReadOptions | undefined) => Promise<V>,
): Promise<Map<K, V>> {
  const { onError, waitUntil, ...others } = ownOptions(given ?? {});
  const checks = new OptionChecks(name);
  const isIterable = typeof keys === 'object' && typeof keys?.[Symbol.iterator] === 'function';
  checks.that(isIterable, 'keys', 'must be an iterable of keys', keys);
  checks.names('', given ?? {}, [...READ_OPTIONS, 'onError']);
  if (onError !== undefined) checks.function('onError', onError);
  checks.done();
  const requested = [...new Set(keys)];
  const ends: Promise<unknown>[] = [];
  const collectEnd = { waitUntil: (end: Promise<unknown>) => void ends.push(end) };
  const ofEach = waitUntil === undefined ? others : { ...others, ...collectEnd };
  const options = Object.keys(ofEach).length > 0 ? ofEach : undefined;
  const reads = Promise.allSettled(requested.map((key) => read(key, options)));
  if (waitUntil !== undefined && ends.length > 0) passToPlatform(waitUntil, Promise.all(ends), logger);
  const report = (error: unknown, key: K): void => {
    const result: unknown = onError?.(error, key);
    callUserCode(
      () => result,
      (reason) => logger.error('onError of getMany rejected', reason),
    );
  };
  return collect(name, requested, await reads, onError && report);
}

function collect<K, V>(
  member: string,
  requested: readonly K[],
  results: readonly PromiseSettledResult<V>[],
  onError: ((error: unknown, key: K) => void) | undefined,
): Map<K, V> {
  const found = new Map<K, V>();
  const errors = new Set<unknown>(); // an aborted signal is one error of all
  for (const [index, result] of results.entries()) {
    const key = requested[index] as K;
    if (result.status === 'fulfilled') found.set(key, result.value);
    else if (isTicklessError(result.reason, 'ABSENT')) continue;
    else if (onError === undefined) errors.add(result.reason);
    else onError(result.reason, key);
  }
  if (errors.size === 0) return found;
  const [first] = errors;
  if (errors.size === 1) throw first;
  throw new AggregateError(errors, `${member}: ${errors.size} keys could not be read: ${messageOf(first)}`);
}
