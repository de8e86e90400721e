import { parseHttpDate } from '../schedule/http-date.ts';

/** The value of a header; `undefined`: it is not there. @param name in lower case */
export type HeaderOf = (name: string) => string | undefined;

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
export function rateLimitMs(headerOf: HeaderOf, status: unknown, now: number): number | undefined {
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
export function secondsOf(text: string): number {
  return /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : NaN;
}

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** An HTTP date, or an instant of ISO 8601 with its zone: nothing that would be read as local time. */
export function instantOf(text: string, now: number): number | undefined {
  const date = text.trim();
  return parseHttpDate(date, now) ?? (ISO_INSTANT.test(date) ? Date.parse(date) : undefined);
}
