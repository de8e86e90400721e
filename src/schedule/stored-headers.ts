import { isPlainObject } from '../plain-object.ts';
import { headerOf } from './http-headers.ts';
import type { HeadersLike } from './schedule.ts';

/** The fields of a response that say how long it is fresh, by their names in lower case. They travel with its value. */
export type StoredHeaders = Readonly<Record<string, string>>;

/** They hold until "304 Not Modified" replaces them. */
const OF_THE_VALUE = ['cache-control', 'expires', 'last-modified'];
/** They are about one response: those of an earlier one say nothing about a later one. */
const OF_THE_RESPONSE = ['date', 'age'];

/** Longer ones, as JSON, don't travel. */
const LONGEST = 1000;

/** The fields that travel with a value; `undefined`: none, or they are too long. */
export function storedHeaders(headers: HeadersLike | undefined): StoredHeaders | undefined {
  const found = fieldsOf(headers, [...OF_THE_VALUE, ...OF_THE_RESPONSE]);
  return areStoredHeaders(found) ? found : undefined;
}

/** It may be what {@link storedHeaders} returned. */
export function areStoredHeaders(thing: unknown): thing is StoredHeaders {
  const areTexts = isPlainObject(thing) && Object.values(thing).every((value) => typeof value === 'string');
  return areTexts && JSON.stringify(thing).length <= LONGEST;
}

/**
 * The headers of a stored response after "304 Not Modified": its own fields replace those that are stored, which stay where it has
 * none (RFC 9111 §3.2, §4.3.4). A server need not repeat `Cache-Control`, and some don't.
 *
 * @param update of the 304; `undefined`: nothing is known of it.
 */
export function freshened(
  stored: HeadersLike | undefined,
  update: HeadersLike | undefined,
): HeadersLike | undefined {
  const held = fieldsOf(stored, OF_THE_VALUE); // a copy: a chain would grow with each 304
  return held === undefined ? update : withFields(held, update);
}

/** Headers with these fields, unless `first` has them. */
export function withFields(fields: StoredHeaders, first: HeadersLike = {}): HeadersLike {
  const get = (name: string): string | undefined =>
    headerOf(first, name.toLowerCase()) ?? headerOf(fields, name.toLowerCase());
  return Object.create(Object(first), { get: { value: get } });
}

function fieldsOf(headers: HeadersLike | undefined, names: readonly string[]): StoredHeaders | undefined {
  const found = names.flatMap((name) => {
    const value = headers === undefined ? undefined : headerOf(headers, name);
    return value === undefined ? [] : [[name, value]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
