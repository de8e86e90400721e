/** The names that options of other libraries have here; only one that the receiver has is named. */
const NAMES_HERE: Readonly<Record<string, readonly string[]>> = {
  load: ['fetchMethod', 'fetcher', 'fetch', 'fn', 'queryFn', 'loader', 'getter', 'task'],
  loadMany: ['batchFn', 'batchLoad', 'batchLoadFn', 'loadAll'],
  schedule: [
    'ttl',
    'ttlMs',
    'stdTTL',
    'interval',
    'refreshInterval',
    'refreshThreshold',
    'refreshAfterWrite',
    'staleTime',
    'cron',
  ],
  maxStaleness: ['maxAge', 'expireAfterWrite', 'cacheTime', 'gcTime', 'expires'],
  whenTooStale: ['allowStale', 'staleWhileRevalidate', 'swr', 'grace'],
  whenFailing: ['staleIfError', 'allowStaleOnFetchRejection'],
  max: ['maxEntries', 'maxKeys', 'maxItems', 'capacity'],
  maxSize: ['maxBytes', 'maxWeight'],
  sizeOf: ['sizeCalculation', 'weigher'],
  keyOf: ['cacheKeyFn', 'cacheKey', 'keyFn', 'getCacheKey', 'resolver'],
  retry: ['retries', 'retryDelay', 'backoff'],
  timeout: ['fetchTimeout', 'loadTimeout', 'deadline'],
  waitUntil: ['ctx', 'executionContext'],
};

/** The option of that meaning, among those that are known; `undefined`: there is none. */
export function nameHere(name: string, known: readonly string[]): string | undefined {
  return known.find((one) => NAMES_HERE[one]?.includes(name));
}

/** The text to write instead of one, or of an object, that is not a duration: ` ('600s', or 600 for milliseconds)`. */
export function durationHint(received: unknown): string {
  if (typeof received === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(received))
    return ` ('${received.trim()}s', or ${received.trim()} for milliseconds)`;
  const isMeant = typeof received === 'string' || (typeof received === 'object' && received !== null);
  return isMeant ? " (such as '10m' or { minutes: 10 })" : '';
}
