import { isTicklessError } from '../errors.ts';
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
 * A `COOLING_DOWN` error of a value that the load reads has it too. More than a day counts as a day. Never throws.
 *
 * @param now the wall clock of the machine in epoch milliseconds, for instants.
 */
export function retryAfterMs(error: unknown, now: number): number {
  const found = alongCauses(error, (at) => {
    if (isTicklessError(at, 'COOLING_DOWN')) return at.retryAt - now;
    return (
      ownPause(at, now) ?? asked(at, now) ?? (isObject(at.response) ? asked(at.response, now) : undefined)
    );
  });
  return atMostADay(found ?? 0);
}

/** The first find in the error or along its `cause`s. `undefined`: none, or a getter of a user's error has thrown. */
export function alongCauses<R>(
  error: unknown,
  find: (at: Record<string, unknown>) => R | undefined,
): R | undefined {
  try {
    for (let at: unknown = error, depth = 0; isObject(at) && depth < 8; at = at.cause, depth++) {
      const found = find(at);
      if (found !== undefined) return found;
    }
  } catch {
    // the error counts as one without it
  }
  return undefined;
}

/** The property `retryAfter`, in milliseconds; `undefined`: none. A text in it is that of the header. */
function ownPause({ retryAfter, headers }: Record<string, unknown>, now: number): number | undefined {
  if (retryAfter === undefined || retryAfter === null) return undefined;
  if (retryAfter instanceof Date) return retryAfter.getTime() - now || undefined; // NaN: an invalid one
  return msOf(String(retryAfter), sentAt(headers, now));
}

/** The pause that the headers of a response, or of an error, ask for, in milliseconds; `undefined`: none. */
function asked({ headers, status, statusCode }: Record<string, unknown>, now: number): number | undefined {
  if (!isObject(headers)) return undefined;
  const fieldOf = (name: string): string | undefined => headerOf(headers as HeadersLike, name);
  const at = sentAt(headers, now);
  return msOf(fieldOf('retry-after') ?? '', at) ?? rateLimitMs(fieldOf, status ?? statusCode, at);
}

/** The present by the clock that has made the instants of a response: its `Date`, and how long a cache has kept it since. */
function sentAt(headers: unknown, now: number): number {
  const date = parseHttpDate(headerOf(headers as HeadersLike, 'date'), now);
  if (date === undefined) return now;
  return date + (deltaSeconds(headerOf(headers as HeadersLike, 'age')) ?? 0) * 1000;
}

/** `undefined`: it is malformed, which counts as none. */
function msOf(text: string, now: number): number | undefined {
  const [first = '', ...others] = text.split(',');
  const ms = secondsOf(first) * 1000;
  if (!Number.isNaN(ms)) return ms;
  // Two of the forms of a date have a comma in them.
  const instant = instantOf(first, now) ?? instantOf(`${first},${others[0]}`, now);
  return instant === undefined ? undefined : instant - now;
}

function atMostADay(ms: number): number {
  return Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS); // the past is nothing
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
