import { isCoolingDownError } from '../errors.ts';
import { type HeaderOf, rateLimitMs } from './rate-limit.ts';

/** A source that asks for more than a day is asked again after a day. */
const LONGEST_RETRY_AFTER_MS = 86_400_000;

/**
 * How long the source asked not to be called, in milliseconds; 0 when the error has no such time.
 *
 * Searched in the error and along its `cause`s, where HTTP clients put it: `error.retryAfter`,
 * `error.headers`, `error.response.headers` (`Headers` or a plain object). The value is the one of the HTTP header
 * (RFC 9110 §10.2.3): a number of seconds, or a date. Without that header those of a used-up quota count: see `rate-limit.ts`.
 * A `CoolingDownError` of a value that the load reads has it too. More than a day counts as a day. Never throws.
 *
 * @param now the wall clock in epoch milliseconds, for instants.
 */
export function retryAfterMs(error: unknown, now: number): number {
  try {
    for (let at: unknown = error, depth = 0; isObject(at) && depth < 8; at = at.cause, depth++) {
      if (isCoolingDownError(at)) return atMostADay(at.retryAfter); // ours: milliseconds
      const found =
        at.retryAfter ?? asked(at, now) ?? (isObject(at.response) ? asked(at.response, now) : undefined);
      if (found !== undefined && found !== null) return atMostADay(msOf(found, now));
    }
  } catch {
    // A getter of a user's error object has thrown: the error counts as one without such a time.
  }
  return 0;
}

/** The pause that the headers of a response, or of an error, ask for: a value of `Retry-After`, or an instant. */
function asked({ headers, status, statusCode }: Record<string, unknown>, now: number): unknown {
  if (!isObject(headers)) return undefined;
  const headerOf = headerOfAny(headers);
  const ms =
    headerOf('retry-after') === undefined ? rateLimitMs(headerOf, status ?? statusCode, now) : undefined;
  return ms === undefined ? headerOf('retry-after') : new Date(now + ms);
}

function headerOfAny(headers: Record<string, unknown>): HeaderOf {
  const { get } = headers;
  const found = (name: string): unknown => {
    if (typeof get === 'function') return get.call(headers, name);
    return headers[Object.keys(headers).find((one) => one.toLowerCase() === name) ?? name];
  };
  return (name) => {
    const value = found(name);
    return value === undefined || value === null ? undefined : String(value);
  };
}

function msOf(value: unknown, now: number): number {
  if (value instanceof Date) return value.getTime() - now;
  const text = String(value).trim();
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
}

function atMostADay(ms: number): number {
  return ms > 0 ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : 0; // NaN and the past are nothing
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
