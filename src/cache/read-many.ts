import { isAbsentError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { ignoreRejection } from '../time/deferred.ts';

/**
 * Reads several keys at once, each by itself. The resulting `Map` lacks absent keys, and keys whose errors were passed to
 * `onError`. Without `onError` it rejects once all reads are settled: with the error, or with an `AggregateError` of
 * several.
 */
export function readMany<K, V>(
  cacheName: string,
  requested: readonly K[],
  read: (key: K) => Promise<V>,
  onError: ((error: unknown, key: K) => void) | undefined,
): Promise<Map<K, V>> {
  const reads = Promise.allSettled(requested.map(read));
  return ignoreRejection(reads.then((results) => collect(cacheName, requested, results, onError)));
}

function collect<K, V>(
  cacheName: string,
  requested: readonly K[],
  results: readonly PromiseSettledResult<V>[],
  onError: ((error: unknown, key: K) => void) | undefined,
): Map<K, V> {
  const found = new Map<K, V>();
  const errors = new Set<unknown>(); // an aborted signal is one error of all
  for (const [index, result] of results.entries()) {
    const key = requested[index] as K;
    if (result.status === 'fulfilled') found.set(key, result.value);
    else if (isAbsentError(result.reason)) continue;
    else if (onError === undefined) errors.add(result.reason);
    else onError(result.reason, key);
  }
  if (errors.size === 0) return found;
  const [first] = errors;
  if (errors.size === 1) throw first;
  throw new AggregateError(
    errors,
    `${cacheName}: ${errors.size} keys could not be read: ${messageOf(first)}`,
  );
}
