import { isCoolingDownError } from '../errors.ts';

/** A source that asks for more than a day is asked again after a day. */
const LONGEST_RETRY_AFTER_MS = 86_400_000;

/**
 * How long the source asked not to be called, in milliseconds; 0 when the error has no such time.
 *
 * Searched in the error and along its `cause`s, where HTTP clients put it: `error.retryAfter`,
 * `error.headers`, `error.response.headers` (`Headers` or a plain object). The value is the one of the HTTP header
 * (RFC 9110 §10.2.3): a number of seconds, or a date. A `CoolingDownError` of a value that the load reads has it too.
 * More than a day counts as a day. Never throws.
 *
 * @param now the wall clock in epoch milliseconds, for the date form.
 */
export function retryAfterMs(error: unknown, now: number): number {
  try {
    for (let at: unknown = error, depth = 0; isObject(at) && depth < 8; at = at.cause, depth++) {
      if (isCoolingDownError(at)) return atMostADay(at.retryAfter); // ours: milliseconds
      const found =
        at.retryAfter ??
        header(at.headers) ??
        (isObject(at.response) ? header(at.response.headers) : undefined);
      if (found !== undefined && found !== null) return atMostADay(parse(found, now));
    }
  } catch {
    // A getter of a user's error object has thrown: the error counts as one without such a time.
  }
  return 0;
}

function header(headers: unknown): unknown {
  if (!isObject(headers)) return undefined;
  if (typeof headers.get === 'function') return headers.get('retry-after');
  return headers['retry-after'] ?? headers['Retry-After'];
}

function parse(value: unknown, now: number): number {
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
