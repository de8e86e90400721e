import { ownOptions } from '../option-checks.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { checkDuration, checkNames, reject } from './check.ts';
import { type FreshnessRules, type ResponseFreshness, responseFreshness } from './response-freshness.ts';
import type { Execution, HeadersLike, Schedule } from './schedule.ts';
import { freshened } from './stored-headers.ts';

/** Options of {@link httpFreshness}. */
export interface HttpFreshnessOptions {
  /**
   * Acts as a shared cache: applies `s-maxage` (before `max-age`) and `proxy-revalidate`. Use it for a value that is
   * served to many users, if its source distinguishes the two kinds of caches.
   *
   * @default false
   */
  readonly shared?: boolean | undefined;
  /**
   * Time until the next execution if the response has no freshness information or no headers. A positive duration;
   * `Infinity` means never by itself.
   *
   * @default { minutes: 5 }
   */
  readonly fallback?: DurationLike | undefined;
  /**
   * Shortest time between the end of an execution and the next one, whatever the response. A positive duration, so that
   * `no-cache`, `max-age=0` or a date in the past never cause a hot loop.
   *
   * @default { seconds: 1 }
   */
  readonly atLeast?: DurationLike | undefined;
  /**
   * Longest time until the next execution, at least `atLeast`; it also bounds `fallback`. `Infinity`: no bound.
   *
   * @default Infinity
   */
  readonly atMost?: DurationLike | undefined;
  /**
   * Longest freshness that is guessed: a response without `max-age` and `Expires` counts as fresh for a tenth of the time since
   * its `Last-Modified` (RFC 9111 §4.2.2). A `Last-Modified` before 1990, which is a placeholder, or after the `Date` of the response
   * is ignored. A positive duration; `Infinity`: no bound.
   *
   * @default { days: 1 }
   */
  readonly maxHeuristic?: DurationLike | undefined;
  /**
   * Extracts the headers from the result of the load. Called only if the load did not pass headers itself with
   * `loaded(value, { headers })` or `keep({ headers })`. If it throws, that is an error of the schedule.
   *
   * @default the property `headers` of the result, if the result is an object
   */
  headers?(result: unknown): HeadersLike | undefined;
}

/**
 * Executes when the HTTP response stops being fresh, as a cache does: after the first of `s-maxage` (if `shared`),
 * `max-age`, `Expires` minus `Date`, and a tenth of the time since `Last-Modified` (at most
 * `maxHeuristic`), minus the `Age`. With `no-cache`,
 * `no-store` or invalid information it executes again after `atLeast`. Headers never make it throw.
 *
 * It also limits the age of the value, counted from the end of the load: the remaining freshness plus the longer of
 * `stale-while-revalidate` and `stale-if-error`. `must-revalidate`, `no-cache` and `no-store` override those, so that
 * the value is too stale as soon as it is not fresh; so does `s-maxage` if the response grants nothing. The limit is
 * never less than the time until the next execution. If the response has none of these, the option `maxStaleness`
 * applies. To apply that option always, pass only the function: `schedule: httpFreshness().nextExecuteTime`.
 *
 * It sends neither requests nor validators: the load does, and answers a 304 with `keep({ headers })`. The transfer time
 * of the response is not counted.
 *
 * @throws {TicklessError} `OPTION` when a duration is not positive, `atLeast` exceeds `atMost`, or an option has the wrong type.
 * @see RFC 9111 §4.2 (freshness; §4.2.2 for the tenth), §5.2.2 (directives), RFC 5861 (stale grants)
 */
export function httpFreshness(options: HttpFreshnessOptions = {}): Schedule {
  const { fallbackMs, atLeastMs, atMostMs, headersOf, ...rules } = resolve(options);

  function delay({ remainingMs = fallbackMs }: ResponseFreshness): number {
    return Math.min(Math.max(remainingMs, atLeastMs), atMostMs);
  }
  function freshnessOf({ headers, outcome, result, endedAt }: Execution): ResponseFreshness {
    const found = outcome === 'kept' ? freshened(headersOf(result), headers) : (headers ?? headersOf(result));
    return responseFreshness(found ?? {}, endedAt, rules);
  }

  return {
    nextExecuteTime: (execution) => execution.endedAt + delay(freshnessOf(execution)),
    maxStaleness: (execution) => {
      const found = freshnessOf(execution);
      const { remainingMs = fallbackMs, graceMs } = found;
      return graceMs === undefined ? undefined : Math.max(remainingMs + graceMs, delay(found));
    },
  };
}

interface Resolved extends FreshnessRules {
  readonly fallbackMs: number;
  readonly atLeastMs: number;
  readonly atMostMs: number;
  readonly headersOf: (result: unknown) => HeadersLike | undefined;
}

function resolve(options: HttpFreshnessOptions): Resolved {
  checkNames('httpFreshness', options, [
    'shared',
    'fallback',
    'atLeast',
    'atMost',
    'maxHeuristic',
    'headers',
  ]);
  const {
    shared = false,
    fallback = { minutes: 5 },
    atLeast = { seconds: 1 },
    atMost = Infinity,
    maxHeuristic = { days: 1 },
    headers = headersIn,
  } = ownOptions(options);
  if (typeof shared !== 'boolean') reject('httpFreshness', 'shared', 'must be true or false', shared);
  for (const [option, received] of Object.entries({ fallback, atLeast, atMost, maxHeuristic }))
    checkDuration('httpFreshness', option, received);
  if (toMillis(atLeast) > toMillis(atMost)) {
    reject('httpFreshness', 'atMost', 'must be at least atLeast', atMost);
  }
  if (typeof headers !== 'function') reject('httpFreshness', 'headers', 'must be a function', headers);
  return {
    shared,
    fallbackMs: toMillis(fallback),
    atLeastMs: toMillis(atLeast),
    atMostMs: toMillis(atMost),
    maxHeuristicMs: toMillis(maxHeuristic),
    headersOf: headers,
  };
}

function headersIn(result: unknown): HeadersLike | undefined {
  try {
    return (result as { headers?: HeadersLike }).headers;
  } catch {
    return undefined; // null, undefined, or a getter that throws
  }
}
