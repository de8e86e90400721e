import { ignoreThenable } from '../time/deferred.ts';
import type { HeadersLike } from './schedule.ts';

/**
 * The value of a header; repeated headers are joined by a comma as HTTP allows. `undefined` if it is missing, or if
 * `headers` does not behave as headers. Names of a plain object match in any case. Never throws.
 *
 * @param name in lower case.
 */
export function headerOf(headers: HeadersLike, name: string): string | undefined {
  try {
    return asText(
      'get' in headers && typeof headers.get === 'function'
        ? ignoreThenable(headers.get(name))
        : entryOf(headers, name),
    );
  } catch {
    return undefined; // not an object, a get() that rejects this name, a getter or a proxy that throws
  }
}

function entryOf(headers: object, name: string): unknown[] {
  return Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []));
}

function asText(value: unknown): string | undefined {
  const texts = [value].flat().filter((one) => typeof one === 'string' || typeof one === 'number');
  return texts.length === 0 ? undefined : texts.join(', ').trim();
}
