import type { HeadersLike } from './schedule.ts';

/**
 * The value of a header, with several of them joined by a comma as HTTP allows. `undefined` when there is none, and
 * for anything that doesn't behave as headers do. Names of a plain object are taken in any case. Never throws.
 *
 * @param name in lower case.
 */
export function headerOf(headers: HeadersLike, name: string): string | undefined {
  try {
    return asText(
      'get' in headers && typeof headers.get === 'function' ? headers.get(name) : entryOf(headers, name),
    );
  } catch {
    return undefined; // no object, a get() that doesn't take this name, a getter or a proxy that throws
  }
}

function entryOf(headers: object, name: string): unknown[] {
  return Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []));
}

function asText(value: unknown): string | undefined {
  const texts = [value].flat().filter((one) => typeof one === 'string' || typeof one === 'number');
  return texts.length === 0 ? undefined : texts.join(', ').trim();
}
