import { isCoolingDownError } from '../errors.ts';
import { deltaSeconds } from '../schedule/cache-control.ts';
import { parseHttpDate } from '../schedule/http-date.ts';
import { headerOf } from '../schedule/http-headers.ts';
import type { HeadersLike } from '../schedule/schedule.ts';
import { instantOf, rateLimitMs, secondsOf } from './rate-limit.ts';

/** A source that asks for more than a day is asked again after a day. */
const LONGEST_RETRY_AFTER_MS = 86_400_000;

/**
 * How long the source asked not to be called, in milliseconds; 0 when the error has no such time.
 *
 * Searched in the error and along its `cause`s, where HTTP clients put it: `error.retryAfter`,
 * `error.headers`, `error.response.headers` (`Headers` or a plain object). The value is the one of the HTTP header
 * (RFC 9110 §10.2.3): a number of seconds, or a date, which counts from the `Date` of the response; of several the first one.
 * Anything else is none. Without that header those of a used-up quota count: see `rate-limit.ts`.
 * A `CoolingDownError` of a value that the load reads has it too. More than a day counts as a day. Never throws.
 *
 * @param now the wall clock in epoch milliseconds, for instants.
 */
export function retryAfterMs(error: unknown, now: number): number {
  try {
    for (let at: unknown = error, depth = 0; isObject(at) && depth < 8; at = at.cause, depth++) {
      if (isCoolingDownError(at)) return atMostADay(at.retryAfter); // ours: milliseconds
      const own = at.retryAfter ?? undefined;
      const found =
        own === undefined
          ? (asked(at, now) ?? (isObject(at.response) ? asked(at.response, now) : undefined))
          : msOf(own, now);
      if (found !== undefined) return atMostADay(found);
    }
  } catch {
    // A getter of a user's error object has thrown: the error counts as one without such a time.
  }
  return 0;
}

/** The pause that the headers of a response, or of an error, ask for, in milliseconds; `undefined`: none. */
function asked({ headers, status, statusCode }: Record<string, unknown>, now: number): number | undefined {
  if (!isObject(headers)) return undefined;
  const fieldOf = (name: string): string | undefined => headerOf(headers as HeadersLike, name);
  const date = parseHttpDate(fieldOf('date'), now);
  // By the clock that has made the instants; a cache has kept the response since.
  const sentAt = date === undefined ? now : date + (deltaSeconds(fieldOf('age')) ?? 0) * 1000;
  const retryAfter = fieldOf('retry-after');
  return retryAfter === undefined
    ? rateLimitMs(fieldOf, status ?? statusCode, sentAt)
    : msOf(retryAfter, sentAt);
}

/** `NaN`: it is malformed. */
function msOf(value: unknown, now: number): number {
  if (value instanceof Date) return value.getTime() - now;
  const [first = '', ...others] = String(value).split(',');
  const ms = secondsOf(first) * 1000;
  if (!Number.isNaN(ms)) return ms;
  // Two of the forms of a date have a comma in them.
  return (instantOf(first, now) ?? instantOf(`${first},${others[0]}`, now) ?? NaN) - now;
}

function atMostADay(ms: number): number {
  return ms > 0 ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : 0; // NaN and the past are nothing
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
