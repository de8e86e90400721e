import { describe, expect, it } from 'vitest';
import { type HttpFreshnessOptions, httpFreshness } from '../../../src/schedule/http-freshness.ts';
import type { HeadersLike } from '../../../src/schedule/schedule.ts';
import { endedAt } from './support.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const DAY = 86_400_000;
const httpDate = (instant: number): string => new Date(instant).toUTCString();

/** Seconds from the end of the load to the next execution, and the age that is too stale. */
function ask(headers: HeadersLike | undefined, options?: HttpFreshnessOptions): [number, number | undefined] {
  const schedule = httpFreshness(options);
  const execution = endedAt(NOW, { headers });
  const limit = schedule.maxStaleness?.(execution);
  return [(schedule.nextExecuteTime(execution) - NOW) / 1000, limit === undefined ? undefined : limit / 1000];
}
const delay = (headers: HeadersLike | undefined, options?: HttpFreshnessOptions): number =>
  ask(headers, options)[0];
const limit = (text: string, options?: HttpFreshnessOptions): number | undefined =>
  ask({ 'cache-control': text }, options)[1];

describe('httpFreshness: when it is due', () => {
  it.each<[string, Record<string, string>, number]>([
    ['max-age less Age', { 'cache-control': 'max-age=60', age: '20' }, 40],
    ['the same with a blank between', { 'cache-control': 'max-age=60', age: '20 , 50' }, 40],
    ['Expires: -1', { expires: '-1', 'last-modified': httpDate(0) }, 1],
    ['nothing about freshness', { 'cache-control': 'public' }, 300],
    ['no-cache for a field', { 'cache-control': 'max-age=60, no-cache="set-cookie"' }, 1],
    ['invalid is stale: empty', { 'cache-control': 'max-age' }, 1],
    ['more than 25 days', { 'cache-control': 'max-age=31536000' }, 31_536_000],
  ])('%s: %o', (_, headers, seconds) => {
    expect(delay(headers)).toBe(seconds);
    expect(delay(new Headers(headers))).toBe(seconds);
  });

  it.each<[string, string, string, number]>([
    ['the epoch of nix', 'Thu, 01 Jan 1970 00:00:01 GMT', httpDate(NOW), 300],
    ['that of zip in another zone', 'Mon, 31 Dec 1979 23:00:00 GMT', httpDate(NOW), 300],
    ['that of Gradle', 'Fri, 01 Feb 1980 00:00:00 GMT', httpDate(NOW), 300],
    ['that of npm', 'Sat, 26 Oct 1985 08:15:00 GMT', httpDate(NOW), 300],
    ['the zero of Go', 'Mon, 01 Jan 0001 00:00:00 GMT', httpDate(NOW), 300],
    ['a year of two digits', 'Thursday, 01-Jan-70 00:00:00 GMT', httpDate(NOW), 300],
  ])('guesses a day at most, from a Last-Modified that is one: %s', (_, modified, date, seconds) => {
    const headers = { 'last-modified': modified, date };
    expect(delay(headers)).toBe(seconds);
    expect(delay({ ...headers, 'cache-control': 'max-age=200000' })).toBe(200_000);
  });

  it('guesses at most maxHeuristic, the Age deducted', () => {
    const headers = { 'last-modified': httpDate(NOW - 365 * DAY), date: httpDate(NOW) };
    expect(delay(headers, { maxHeuristic: '1h' })).toBe(3600);
    expect(delay({ ...headers, age: '600' }, { maxHeuristic: '1h' })).toBe(3000);
    expect(delay(headers, { maxHeuristic: Number.POSITIVE_INFINITY })).toBe(36.5 * 86_400);
    expect(delay(headers, { maxHeuristic: '2d', atMost: '1h' })).toBe(3600);
    expect(delay({}, { maxHeuristic: '1m' })).toBe(300);
    expect(delay({ 'cache-control': 'max-age=7200' }, { maxHeuristic: '1h' })).toBe(7200);
    for (const maxHeuristic of [0, -1, Number.NaN, 'soon', null])
      expect(() => httpFreshness({ maxHeuristic: maxHeuristic as never })).toThrow(/maxHeuristic/);
  });

  it('stays within atLeast and atMost, with the fallback for a response without information', () => {
    const options = { fallback: { minutes: 2 }, atLeast: { seconds: 30 }, atMost: { hours: 1 } };
    expect(delay({ 'cache-control': 'no-store' }, options)).toBe(30);
    expect(delay({ 'cache-control': 'max-age=40' }, options)).toBe(40);
    expect(delay({ 'cache-control': 'max-age=86400' }, options)).toBe(3600);
    expect(delay({}, options)).toBe(120);
    expect(delay(undefined, options)).toBe(120);
    expect(delay(undefined, { ...options, fallback: Number.POSITIVE_INFINITY })).toBe(3600);
    expect(delay({ 'cache-control': 'max-age=40' }, { atLeast: 50_000, atMost: { seconds: 50 } })).toBe(50);
    expect(delay(undefined, { fallback: Number.POSITIVE_INFINITY })).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('httpFreshness: how stale it may become', () => {
  it.each<[string, number | undefined]>([
    ['max-age=60', undefined],
    ['public', undefined],
    ['max-age=60, stale-while-revalidate=30', 90],
    ['max-age=60, stale-if-error=600', 660],
    ['max-age=60, stale-while-revalidate=30, stale-if-error=600', 660],
    ['max-age=60, stale-while-revalidate=700, stale-if-error=600', 760],
    ['max-age=60, stale-while-revalidate=0', 60],
    ['max-age=60, stale-while-revalidate=x', undefined],
    ['max-age=60, stale-while-revalidate', undefined],
    ['stale-if-error=600', 900],
    ['max-age=60, must-revalidate', 60],
    ['max-age=60, must-revalidate, stale-if-error=600', 60],
    ['max-age=60, proxy-revalidate', undefined],
    ['max-age=60, s-maxage=70', undefined],
    ['no-cache', 1],
    ['no-store, stale-if-error=600', 1],
    ['max-age=0, must-revalidate', 1],
    ['must-revalidate', 300],
    ['max-age=99999999999, stale-if-error=99999999999', 2 ** 32],
  ])('%s', (text, seconds) => {
    expect(limit(text)).toBe(seconds);
  });

  it('counts from the end of the load, also for a response that was old by then', () => {
    const grant = 'max-age=60, stale-while-revalidate=100';
    expect(ask({ 'cache-control': grant, age: '20' })).toEqual([40, 140]);
    expect(ask({ 'cache-control': grant, age: '90' })).toEqual([1, 70]);
    expect(ask({ 'cache-control': grant, age: '900' })).toEqual([1, 1]);
  });

  it('is never less than the time until the next execution', () => {
    expect(limit('no-store', { atLeast: { minutes: 10 } })).toBe(600);
    expect(limit('max-age=60, stale-if-error=60', { atLeast: { minutes: 10 } })).toBe(600);
    expect(limit('max-age=600, must-revalidate', { atMost: { minutes: 1 } })).toBe(600);
  });

  it('heeds the directives for shared caches when it is one', () => {
    expect(limit('max-age=60, proxy-revalidate', { shared: true })).toBe(60);
    expect(limit('max-age=60, s-maxage=70', { shared: true })).toBe(70);
    expect(limit('s-maxage=70, stale-while-revalidate=30', { shared: true })).toBe(100);
  });
});

describe('httpFreshness: where the headers are', () => {
  const ten = { 'cache-control': 'max-age=10' };
  const twenty = { 'cache-control': 'max-age=20' };
  const nextOf = (options: HttpFreshnessOptions, result: unknown, headers?: HeadersLike): number =>
    (httpFreshness(options).nextExecuteTime(endedAt(NOW, { result, headers })) - NOW) / 1000;

  it('takes those of the execution first, then those of the result', () => {
    expect(nextOf({}, { headers: ten }, twenty)).toBe(20);
    expect(nextOf({}, { headers: ten })).toBe(10);
    expect(nextOf({}, new Response('', { headers: ten }))).toBe(10);
  });

  it('finds them with the option, which replaces `result.headers`', () => {
    const options: HttpFreshnessOptions = { headers: (result: { meta?: HeadersLike }) => result.meta };
    expect(nextOf(options, { meta: ten, headers: twenty })).toBe(10);
    expect(nextOf(options, { meta: undefined, headers: twenty })).toBe(300);
    expect(nextOf(options, { meta: ten }, twenty)).toBe(20);
  });

  it.each([
    undefined,
    null,
    5,
    'text',
    [],
    { headers: null },
    { headers: ['a', 'b'] },
    { headers: 'x' },
    new Map(),
  ])('falls back when the result has none: %o', (result) => {
    expect(nextOf({}, result)).toBe(300);
  });

  it('does not stumble over a value with a getter that throws', () => {
    expect(
      nextOf(
        {},
        {
          get headers() {
            throw new Error('mine');
          },
        },
      ),
    ).toBe(300);
  });

  it('works without a value', () => {
    expect(httpFreshness().nextExecuteTime({ startedAt: 0, endedAt: 5 })).toBe(300_005);
    const { nextExecuteTime } = httpFreshness();
    expect(nextExecuteTime({ startedAt: 0, endedAt: 5, headers: ten })).toBe(10_005);
  });
});
