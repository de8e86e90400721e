import { type DurationLike, toMillis } from '../time/duration.ts';
import { checkDuration, checkNames, reject } from './check.ts';
import { type ResponseFreshness, responseFreshness } from './response-freshness.ts';
import type { Execution, HeadersLike, Schedule } from './schedule.ts';

/** Options of {@link httpFreshness}. */
export interface HttpFreshnessOptions {
  /**
   * Act as a shared cache: heed `s-maxage` (before `max-age`) and `proxy-revalidate`. For a value that many users
   * are served from, of a source that tells the two apart.
   *
   * @default false
   */
  readonly shared?: boolean | undefined;
  /**
   * The time until the next execution when the response says nothing, or there are no headers. Over 0; `Infinity`
   * means never by itself.
   *
   * @default { minutes: 5 }
   */
  readonly fallback?: DurationLike | undefined;
  /**
   * The shortest time between the end of an execution and the next one, whatever the response says: over 0, so that
   * `no-cache`, `max-age=0` or a date in the past never make a hot loop.
   *
   * @default { seconds: 1 }
   */
  readonly atLeast?: DurationLike | undefined;
  /**
   * The longest time until the next execution, at least `atLeast`; it bounds `fallback` too. `Infinity`: no bound.
   *
   * @default Infinity
   */
  readonly atMost?: DurationLike | undefined;
  /**
   * Where the headers are in what the load returned. Asked only when the load gave none with
   * `loaded(value, { headers })` or `keep({ headers })`. What it throws is an error of the schedule.
   *
   * @default the property `headers` of the result, if that is an object
   */
  headers?(result: unknown): HeadersLike | undefined;
}

/**
 * Executes when the HTTP response is no longer fresh, as a cache would: after the first of `s-maxage` (if `shared`),
 * `max-age`, `Expires` minus `Date`, and a tenth of the time since `Last-Modified`, less the `Age`. At once, bounded
 * by `atLeast`, with `no-cache` or `no-store`, and when that information is invalid. Headers never make it throw.
 *
 * It also says how stale the value may become, counted from the end of the load: the freshness that was left, plus
 * the longer of `stale-while-revalidate` and `stale-if-error`. With `must-revalidate`, `no-cache` or `no-store`,
 * which prevail over those, no longer than fresh; the same with `s-maxage` where the response grants nothing. Never
 * less than the time until the next execution. A response with none of these leaves the option `maxStaleness` in
 * force; to leave it so always, give only the function: `schedule: httpFreshness().nextExecuteTime`.
 *
 * It does not send requests, validators or anything else; the load does, and answers 304 with `keep({ headers })`.
 * The time that the response was under way is not counted.
 *
 * @throws {OptionError} when a duration is not over 0, `atLeast` over `atMost`, or another option of a wrong type.
 * @see RFC 9111 §4.2 (freshness; §4.2.2 for the tenth), §5.2.2 (directives), RFC 5861 (stale grants)
 */
export function httpFreshness(options: HttpFreshnessOptions = {}): Schedule {
  const { shared, fallbackMs, atLeastMs, atMostMs, headersOf } = resolve(options);

  function delay({ remainingMs = fallbackMs }: ResponseFreshness): number {
    return Math.min(Math.max(remainingMs, atLeastMs), atMostMs);
  }
  function freshnessOf(execution: Execution): ResponseFreshness {
    const headers = execution.headers ?? headersOf(execution.result) ?? {};
    return responseFreshness(headers, execution.endedAt, shared);
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

interface Resolved {
  readonly shared: boolean;
  readonly fallbackMs: number;
  readonly atLeastMs: number;
  readonly atMostMs: number;
  readonly headersOf: (result: unknown) => HeadersLike | undefined;
}

function resolve(options: HttpFreshnessOptions): Resolved {
  checkNames('httpFreshness', options, ['shared', 'fallback', 'atLeast', 'atMost', 'headers']);
  const {
    shared = false,
    fallback = { minutes: 5 },
    atLeast = { seconds: 1 },
    atMost = Number.POSITIVE_INFINITY,
    headers = headersIn,
  } = options;
  if (typeof shared !== 'boolean') reject('httpFreshness', 'shared', 'must be true or false', shared);
  checkDuration('httpFreshness', 'fallback', fallback);
  checkDuration('httpFreshness', 'atLeast', atLeast);
  checkDuration('httpFreshness', 'atMost', atMost);
  if (toMillis(atLeast) > toMillis(atMost)) {
    reject('httpFreshness', 'atMost', 'must be at least atLeast', atMost);
  }
  if (typeof headers !== 'function') reject('httpFreshness', 'headers', 'must be a function', headers);
  return {
    shared,
    fallbackMs: toMillis(fallback),
    atLeastMs: toMillis(atLeast),
    atMostMs: toMillis(atMost),
    headersOf: headers,
  };
}

function headersIn(result: unknown): HeadersLike | undefined {
  try {
    return (result as { headers?: HeadersLike }).headers;
  } catch {
    return undefined; // null, undefined, a getter of the value's own that throws
  }
}
