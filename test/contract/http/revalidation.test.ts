import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { LoadedOptions } from '../../../src/engine/load-result.ts';
import {
  httpFreshness,
  type KeepOptions,
  keep,
  loaded,
  RefreshingValue,
  type ValueOptions,
} from '../../../src/index.ts';
import type { HeadersLike } from '../../../src/schedule/schedule.ts';
import { httpSource } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { startOrigin } from '../../unit/sources/origin.ts';

// "304 Not Modified" updates the stored response (RFC 9111 §3.2, §4.3.4): what it has replaces, what it has not stays; `Age` and
// `Date` are those of the 304 alone.

const NOW = new FakeClock().now();
const DAY = 86_400_000;
const at = (ms: number): string => new Date(NOW + ms).toUTCString();

type Fields = Readonly<Record<string, string>>;
type Row = [what: string, stored: Fields, update: Fields, dueSeconds: number, limitSeconds?: number];

/** Both responses are of NOW, which is a whole second. The fallback is 300 s; a time in the past is due after 1 s. */
const ROWS: Row[] = [
  ['a lifetime stays', { 'cache-control': 'max-age=10' }, {}, 10],
  [
    'a lifetime is not replaced by a guess',
    { 'cache-control': 'max-age=10', 'last-modified': at(-365 * DAY) },
    {},
    10,
  ],
  ['a long lifetime stays', { 'cache-control': 'max-age=86400' }, {}, 86_400],
  ['a lifetime is replaced', { 'cache-control': 'max-age=10' }, { 'cache-control': 'max-age=20' }, 20],
  [
    'the whole field is replaced',
    { 'cache-control': 'max-age=10, must-revalidate' },
    { 'cache-control': 'public' },
    300,
  ],
  ['its limit stays', { 'cache-control': 'max-age=10, must-revalidate' }, {}, 10, 10],
  ['grants stay', { 'cache-control': 'max-age=10, stale-if-error=50' }, {}, 10, 60],
  [
    'a limit is added',
    { 'cache-control': 'max-age=10' },
    { 'cache-control': 'max-age=10, must-revalidate' },
    10,
    10,
  ],
  ['no-cache stays', { 'cache-control': 'no-cache', 'last-modified': at(-365 * DAY) }, {}, 1, 1],
  ['no-store stays', { 'cache-control': 'no-store' }, {}, 1, 1],
  ['a lifetime replaces no-cache', { 'cache-control': 'no-cache' }, { 'cache-control': 'max-age=9' }, 9],
  ['the stored Age does not count', { 'cache-control': 'max-age=60', age: '50' }, {}, 60],
  ['the Age of the 304 counts', { 'cache-control': 'max-age=60', age: '50' }, { age: '20' }, 40],
  ['stale on arrival', { 'cache-control': 'max-age=60' }, { age: '90' }, 1],
  ['Expires stays', { expires: at(30_000) }, {}, 30],
  ['Expires counts from the Date of the 304', { expires: at(30_000), date: at(0) }, { date: at(10_000) }, 20],
  ['Expires is over', { expires: at(-1000), date: at(-61_000) }, {}, 1],
  ['Expires is replaced', { expires: at(30_000) }, { expires: at(90_000) }, 90],
  ['stored max-age stays before a new Expires', { 'cache-control': 'max-age=5' }, { expires: at(90_000) }, 5],
  ['a new max-age before the stored Expires', { expires: at(90_000) }, { 'cache-control': 'max-age=5' }, 5],
  ['Last-Modified stays', { 'last-modified': at(-3_600_000) }, {}, 360],
  ['Last-Modified is replaced', { 'last-modified': at(-3_600_000) }, { 'last-modified': at(-600_000) }, 60],
  ['a lifetime that only the 304 has', {}, { 'cache-control': 'max-age=7' }, 7],
  ['neither has any', {}, {}, 300],
  ['names in any case', { 'Cache-Control': 'max-age=10' }, { AGE: '4' }, 6],
];

/** A value that follows the headers of its responses. */
const fresh = (load: ValueOptions<unknown>['load'], own: Partial<ValueOptions<unknown>> = {}) =>
  fakeValue<unknown>(load, { schedule: httpFreshness(), ...own });
type Three = Record<0 | 1 | 2, RefreshingValue<unknown>> & RefreshingValue<unknown>[];

/** What a value is asked for when it is in place again: whatever the way, the same. */
interface Asked {
  readonly value: Pick<RefreshingValue<unknown>, 'inspect'>;
  readonly clock: FakeClock;
}

function expectFreshness({ value, clock }: Asked, dueSeconds: number, limitSeconds = Infinity): void {
  const { nextExecuteTime, maxStaleness } = value.inspect();
  expect({
    dueSeconds: ((nextExecuteTime as number) - clock.now()) / 1000,
    limitSeconds: (maxStaleness ?? Infinity) / 1000,
  }).toEqual({ dueSeconds, limitSeconds });
}

const shapes: readonly (readonly [string, (fields: Fields) => HeadersLike | undefined])[] = [
  ['Headers', (fields) => new Headers(fields)],
  ['a plain object', (fields) => fields],
  ['no headers where there are none', (fields) => (Object.keys(fields).length === 0 ? undefined : fields)],
];

describe.each(shapes)('a load of your own that keeps, with %s', (_, headersOf) => {
  /** The first load is of a response, all others are of a 304. */
  function loadOf(stored: Fields, update: Fields) {
    let isFirst = true;
    return (context: { readonly previous?: unknown }) => {
      const options = (fields: Fields): LoadedOptions & KeepOptions => ({ headers: headersOf(fields) });
      if (isFirst && context.previous === undefined) {
        isFirst = false;
        return loaded({ a: 1 }, options(stored));
      }
      return keep(options(update));
    };
  }

  it.each(ROWS)('%s', async (_, stored, update, due, limit) => {
    const { value, clock } = fresh(loadOf(stored, update));
    await value.get();
    await value.refresh();
    expectFreshness({ value, clock }, due, limit);
    await value.refresh(); // as often as it is confirmed
    expectFreshness({ value, clock }, due, limit);
  });

  it.each(ROWS)(
    'on an instance that adopts, and by a confirmation: %s',
    async (_, stored, update, due, limit) => {
      const clock = new FakeClock();
      const backend = memoryBackend({ clock });
      const load = loadOf(stored, update);
      const [first, second, third] = [1, 2, 3].map(() => fresh(load, { clock, backend }).value) as Three;
      await first.get();
      await second.get();
      await second.refresh(); // confirms, of a response that the first one got
      expectFreshness({ value: second, clock }, due, limit);
      await third.get(); // finds the value with its confirmation
      await third.refresh();
      expectFreshness({ value: third, clock }, due, limit);
      await Promise.all([first, second, third].map((value) => value.close()));
    },
  );
});

describe('httpSource', () => {
  it.each(ROWS)('%s', async (_, stored, update, due, limit) => {
    const origin = await startOrigin((request, response) => {
      const isKnown = request.headers['if-none-match'] === '"1"';
      response.sendDate = false;
      response.writeHead(isKnown ? 304 : 200, { etag: '"1"', ...(isKnown ? update : stored) });
      response.end(isKnown ? undefined : '{"a":1}');
    });
    const { value, clock } = fresh(httpSource(origin.url));
    await value.get();
    await value.refresh();
    expect(value.inspect().counts).toMatchObject({ kept: 1 });
    expectFreshness({ value, clock }, due, limit);
  });

  it.each<[string, Fields, Fields, Fields]>([
    ['a weak ETag', { etag: 'W/"1"' }, { etag: 'W/"2"' }, { 'if-none-match': 'W/"2"' }],
    ['another strong ETag', { etag: '"1"' }, { etag: '"2"' }, { 'if-none-match': '"2"' }],
    ['no ETag', { etag: '"1"' }, {}, { 'if-none-match': '"1"' }],
    [
      'an ETag beside the date of before',
      { 'last-modified': at(-DAY) },
      { etag: '"1"' },
      { 'if-none-match': '"1"', 'if-modified-since': at(-DAY) },
    ],
    [
      'another date',
      { 'last-modified': at(-DAY) },
      { 'last-modified': at(-5000) },
      { 'if-modified-since': at(-5000) },
    ],
    [
      'a date that may be of two editions',
      { etag: '"1"', 'last-modified': at(-DAY) },
      { 'last-modified': at(0) },
      { 'if-none-match': '"1"' },
    ],
  ])('takes over the validators of a 304: %s', async (_, stored, update, sent) => {
    const origin = await startOrigin((request, response) => {
      const isKnown = Object.keys(request.headers).some((name) => name.startsWith('if-'));
      response.writeHead(isKnown ? 304 : 200, { date: at(0), ...(isKnown ? update : stored) });
      response.end(isKnown ? undefined : '{"a":1}');
    });
    const load = httpSource(origin.url);
    const value = new RefreshingValue({ name: 'prices', load, clock: new FakeClock() });
    await value.get();
    await value.refresh();
    await value.refresh();
    const { headers } = origin.requests[2] as { readonly headers: Fields };
    const conditions = Object.entries(headers).filter(([name]) => name.startsWith('if-'));
    expect(Object.fromEntries(conditions)).toEqual(sent);
    expect(value.inspect().counts).toMatchObject({ kept: 2 });
  });
});

describe('a whole response with an equal value', () => {
  it('has all fields itself: those of before are gone', async () => {
    const responses = [{ 'cache-control': 'max-age=10, must-revalidate' }, {}];
    const load = () => loaded([1], { headers: responses.shift() });
    const { value, clock } = fresh(load, { unchanged: 'deep' });
    await value.get();
    await value.refresh();
    expect(value.inspect().counts).toMatchObject({ kept: 1 });
    expectFreshness({ value, clock }, 300);
  });

  it('also where the texts of two instances are compared', async () => {
    const clock = new FakeClock();
    const backend = memoryBackend({ clock });
    const responses = [{ 'cache-control': 'max-age=10, must-revalidate' }, { age: '1' }];
    const load = () => loaded([1], { headers: responses.shift() });
    const { value } = fresh(load, { clock, backend });
    await value.get();
    await value.refresh();
    expect(value.inspect().counts).toMatchObject({ kept: 1 });
    expectFreshness({ value, clock }, 300);
    await value.close();
  });
});

it('the response as the value keeps its fields: only those of the 304 replace them', async () => {
  const load = ({ previous }: { readonly previous?: unknown }) =>
    previous === undefined
      ? { status: 200, headers: { 'cache-control': 'max-age=60', age: '50' } }
      : keep({ headers: { age: '5' } });
  const { value, clock } = fresh(load);
  await value.get();
  expectFreshness({ value, clock }, 10);
  await value.refresh();
  expectFreshness({ value, clock }, 55);
});

describe('a key', () => {
  it('keeps the fields of its response while it is passive', async () => {
    const { clock, cache } = fakeCache<string, number>({
      load: (_, { previous }) =>
        previous === undefined ? loaded(1, { headers: { 'cache-control': 'max-age=10' } }) : keep(),
      ...{ schedule: httpFreshness(), max: 10, random: () => 0 },
    });
    await cache.get('nl');
    await cache.refresh('nl');
    await cache.refresh('nl');
    expect(cache.inspect('nl')).toMatchObject({ nextExecuteTime: clock.now() + 10_000 });
  });

  it('keeps them after a step of the wall clock', async () => {
    const clock = new FakeClock();
    const backend = memoryBackend({ clock });
    const load = () => loaded(1, { headers: { 'cache-control': 'max-age=100' } });
    const [first, second] = [1, 2].map(() => fresh(load, { clock, backend }).value) as unknown as Three;
    await first.get();
    await second.get();
    clock.stepWall({ hours: 1 });
    await clock.advance(61_000);
    await second.get();
    expect((second.inspect().nextExecuteTime as number) - clock.now()).toBe(39_000);
    await Promise.all([first, second].map((value) => value.close()));
  });
});
