import { isAbsentError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { ignoreRejection } from '../time/deferred.ts';

/**
 * Reads several keys at once, each by itself. Absent ones are missing from what it resolves with, and so are those
 * whose errors `onError` has taken. Without that it rejects, once all are settled: with the error, or with an
 * `AggregateError` of several.
 */
export function readMany<K, V>(
  cacheName: string,
  asked: readonly K[],
  read: (key: K) => Promise<V>,
  onError: ((error: unknown, key: K) => void) | undefined,
): Promise<Map<K, V>> {
  const reads = Promise.allSettled(asked.map(read));
  return ignoreRejection(reads.then((results) => collect(cacheName, asked, results, onError)));
}

function collect<K, V>(
  cacheName: string,
  asked: readonly K[],
  results: readonly PromiseSettledResult<V>[],
  onError: ((error: unknown, key: K) => void) | undefined,
): Map<K, V> {
  const found = new Map<K, V>();
  const errors = new Set<unknown>(); // an aborted signal is one error of all
  for (const [index, result] of results.entries()) {
    const key = asked[index] as K;
    if (result.status === 'fulfilled') found.set(key, result.value);
    else if (isAbsentError(result.reason)) continue;
    else if (onError === undefined) errors.add(result.reason);
    else onError(result.reason, key);
  }
  if (errors.size === 0) return found;
  const [first] = errors;
  if (errors.size === 1) throw first;
  throw new AggregateError(errors, `${cacheName}: ${errors.size} keys could not be had: ${messageOf(first)}`);
}
