import { isTicklessError } from '../errors.ts';
import { deltaSeconds } from '../schedule/cache-control.ts';
import { parseHttpDate } from '../schedule/http-date.ts';
import { headerOf } from '../schedule/http-headers.ts';
import type { HeadersLike } from '../schedule/schedule.ts';

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

/** The value of a header; `undefined`: it is not there. @param name in lower case */
type HeaderOf = (name: string) => string | undefined;

/** The answers of a source whose quota is used up. */
const REFUSALS: readonly unknown[] = [429, 403, 503];

/** Beginnings of pairs: `RateLimit-Remaining` of the IETF drafts up to 6 and those that are in use since before them. */
const PREFIXES = ['ratelimit', 'x-ratelimit', 'x-rate-limit'] as const;

/** A number from which on it is not a count of seconds from now: the epoch in seconds, or in milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

interface Quota {
  /** Of calls; `undefined`: it is not reported. */
  readonly remaining: number | undefined;
  /** When it is full again, in milliseconds from now. */
  readonly resetMs: number;
}

/**
 * How long until the quota of a source is full again, in milliseconds; `undefined`: its headers do not say, or calls remain.
 *
 * Read are `RateLimit` of the IETF draft (draft-ietf-httpapi-ratelimit-headers: `"name";r=0;t=60` since its 8th version, before
 * that `remaining=0, reset=60`), the pairs `RateLimit-Remaining` and `RateLimit-Reset` of its first ones, and `X-RateLimit-…`:
 * seconds from now, or an instant (epoch seconds or milliseconds, a date). Of several quotas the one that lasts longest. Where
 * no quota says how many calls remain, its reset counts for the statuses 403, 429 and 503, and where there is no status.
 */
function rateLimitMs(headerOf: HeaderOf, status: unknown, now: number): number | undefined {
  const isRefused = status === undefined || status === null || REFUSALS.includes(status);
  const used = [...quotasOf(headerOf('ratelimit')), ...pairsOf(headerOf, now)].filter(
    ({ remaining, resetMs }) => resetMs > 0 && (remaining === undefined ? isRefused : remaining === 0),
  );
  return used.length === 0 ? undefined : Math.max(...used.map(({ resetMs }) => resetMs));
}

/** The quotas of a field `RateLimit`. */
function quotasOf(field: string = ''): readonly Quota[] {
  const isOfPairs = /(?:^|,)\s*reset\s*=/i.test(field);
  return (isOfPairs ? [field] : field.split(',')).map((item) => ({
    remaining: parameter(item, isOfPairs ? 'remaining' : 'r'),
    resetMs: (parameter(item, isOfPairs ? 'reset' : 't') ?? 0) * 1000,
  }));
}

function parameter(item: string, name: string): number | undefined {
  const found = new RegExp(`(?:^|[;,])\\s*${name}\\s*=\\s*(\\d+)\\s*(?:[;,]|$)`, 'i').exec(item)?.[1];
  return found === undefined ? undefined : Number(found);
}

function pairsOf(headerOf: HeaderOf, now: number): readonly Quota[] {
  return PREFIXES.map((prefix) => {
    const remaining = headerOf(`${prefix}-remaining`);
    const after = headerOf(`${prefix}-reset-after`);
    return {
      remaining: remaining ? secondsOf(firstOf(remaining)) : undefined,
      resetMs:
        after === undefined
          ? untilMs(headerOf(`${prefix}-reset`) ?? '', now)
          : secondsOf(firstOf(after)) * 1000,
    };
  });
}

function untilMs(reset: string, now: number): number {
  const number = secondsOf(firstOf(reset));
  if (Number.isNaN(number)) return (instantOf(reset, now) ?? NaN) - now;
  if (number >= EPOCH_MS) return number - now;
  return number >= EPOCH_SECONDS ? number * 1000 - now : number * 1000;
}

/** A header that was sent twice: the first one counts. */
function firstOf(value: string): string {
  return value.replace(/,.*/s, '');
}

/** A number without a sign and an exponent; `NaN`: it is something else. */
function secondsOf(text: string): number {
  return /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : NaN;
}

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** An HTTP date, or an instant of ISO 8601 with its zone: nothing that would be read as local time. */
function instantOf(text: string, now: number): number | undefined {
  const date = text.trim();
  return parseHttpDate(date, now) ?? (ISO_INSTANT.test(date) ? Date.parse(date) : undefined);
}
