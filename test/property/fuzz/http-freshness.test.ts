import fc, { type Arbitrary } from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { httpFreshness, loaded } from '../../../src/index.ts';
import type { HeadersLike } from '../../../src/schedule/schedule.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { expectUnpolluted, hostileValue } from './support/hostile.ts';
import { mutation } from './support/mutations.ts';
import { AT_LEAST, expectBounded, FALLBACK, NOW, reading } from './support/readings.ts';
import { runs } from './support/runs.ts';

// Valid and invalid headers of servers: the next execute time is later than now, and the lifetime never longer than the
// headers allow.

afterEach(expectUnpolluted);

/** Plain digits, and other texts that servers send. */
const argument = fc.oneof(
  fc.nat(100_000).map(String),
  fc.bigInt().map(String),
  fc.constantFrom(
    '-1',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '',
    ' 60',
    '60 ',
    '６０',
    '00060',
    'max',
    'Infinity',
    'NaN',
    '9'.repeat(400),
  ),
  fc.string({ unit: 'binary' }),
);

/** A member of the list, of which none of these names is freshness. */
const directive = fc.record({
  name: fc.constantFrom(
    'max-age',
    's-maxage',
    'no-cache',
    'no-store',
    'must-revalidate',
    'stale-if-error',
    'public',
    'x',
  ),
  casing: fc.constantFrom(
    (text: string) => text,
    (text: string) => text.toUpperCase(),
  ),
  equals: fc.constantFrom('=', '=', '=', '', ' = ', '==', '="', "='"),
  argument,
  end: fc.constantFrom(',', ', ', ' ,\t', ';', '"', '",', ',,,', ''),
});

const cacheControl: Arbitrary<string> = fc
  .array(directive, { maxLength: 5 })
  .map((all) =>
    all.map(({ name, casing, equals, argument, end }) => casing(name) + equals + argument + end).join(''),
  );

const instant = fc
  .integer({ min: -3_000_000, max: 3_000_000 })
  .map((seconds) => new Date(NOW + seconds * 1000));
const date: Arbitrary<string> = fc.oneof(
  instant.map((one) => one.toUTCString()),
  fc.date({ noInvalidDate: true }).map((one) => one.toUTCString()),
  fc.constantFrom(
    '0',
    '-1',
    'now',
    'Thu, 32 Foo 2026 25:61:61 GMT',
    'Thu, 01 Jan 0000 00:00:00 GMT',
    '9'.repeat(300),
  ),
  fc
    .tuple(instant, mutation)
    .map(([one, mutate]) => mutate(one.toUTCString(), 'Sun, 06 Nov 1994 08:49:37 GMT')),
);

const fields = fc.record(
  { 'cache-control': cacheControl, age: argument, expires: date, date, 'last-modified': date },
  { requiredKeys: [] },
);

/** The greatest number in the headers, or between their dates, in seconds: nothing may last longer. */
function mostOf(headers: Partial<Record<string, string>>): number {
  const numbers = (headers['cache-control'] ?? '').match(/\d+/g) ?? [];
  const dates = [headers.expires, headers.date, headers['last-modified']].map(
    (text) => Date.parse(text ?? '') / 1000,
  );
  const known = [NOW / 1000, ...dates.filter(Number.isFinite)];
  const apart = Math.max(...known) - Math.min(...known);
  const century = dates.some(Number.isFinite) ? 100 * 366 * 86_400 : 0; // a year of two digits
  return Math.max(
    FALLBACK,
    AT_LEAST,
    apart + century,
    ...numbers.map((digits) => Math.min(Number(digits), 2 ** 31)),
  );
}

/** The data of a well-formed response. Seconds; instants from now on. */
interface Response {
  readonly maxAge: number | undefined;
  readonly sMaxage: number | undefined;
  readonly whileRevalidate: number | undefined;
  readonly ifError: number | undefined;
  readonly age: number | undefined;
  readonly expires: number | undefined;
  readonly date: number | undefined;
  readonly modified: number | undefined;
  readonly words: readonly string[];
  readonly isUpper: boolean;
  readonly shared: boolean;
}

function headersOf(said: Response): Record<string, string> {
  const numbered = {
    'max-age': said.maxAge,
    's-maxage': said.sMaxage,
    'stale-while-revalidate': said.whileRevalidate,
    'stale-if-error': said.ifError,
  };
  const directives = Object.entries(numbered).flatMap(([name, seconds]) =>
    seconds === undefined ? [] : [`${name}=${seconds}`],
  );
  const list = [...said.words, ...directives].join(', ');
  const headers: Record<string, string> = {};
  if (list !== '') headers['cache-control'] = said.isUpper ? list.toUpperCase() : list;
  if (said.age !== undefined) headers.age = `${said.age}`;
  for (const [name, instant] of [
    ['expires', said.expires],
    ['date', said.date],
    ['last-modified', said.modified],
  ] as const) {
    if (instant !== undefined) headers[name] = new Date(NOW + instant * 1000).toUTCString();
  }
  return headers;
}

/** RFC 9111 §4.2.1 to §4.2.3, of numbers instead of headers; a guess is at most a day. `undefined`: no information. */
function remainingBy({ shared, words, ...said }: Response): number | undefined {
  const { sMaxage, maxAge, expires, modified, date = 0, age = 0 } = said;
  if (words.includes('no-store') || words.includes('no-cache')) return -age;
  if (shared && sMaxage !== undefined) return sMaxage - age;
  if (maxAge !== undefined) return maxAge - age;
  if (expires !== undefined) return Math.max(0, expires - date) - age;
  if (modified !== undefined && modified < date) return Math.min((date - modified) / 10, 86_400) - age;
  return undefined;
}

/** RFC 5861, and what prevails over it. `undefined`: no information. */
function graceBy({ shared, words, sMaxage, whileRevalidate, ifError }: Response): number | undefined {
  const isStrict = ['no-store', 'no-cache', 'must-revalidate'].some((word) => words.includes(word));
  if (isStrict || (shared && words.includes('proxy-revalidate'))) return 0;
  if (whileRevalidate !== undefined || ifError !== undefined)
    return Math.max(whileRevalidate ?? 0, ifError ?? 0);
  return shared && sMaxage !== undefined ? 0 : undefined;
}

describe('headers', () => {
  it('of all shapes: later than now, and no longer than the greatest number in them', () => {
    fc.assert(
      fc.property(fields, fc.boolean(), (headers, shared) => {
        const found = reading(headers, shared);
        expectBounded(found);
        expect(found.next).toBeLessThanOrEqual(mostOf(headers));
      }),
      runs(3000),
    );
  });

  it('with invalid freshness count as stale, whatever the rest', () => {
    const invalid = argument.filter((text) => !/^\s*"?\\?[0-9]+"?\s*$/.test(text) && !/[",\\]/.test(text));
    fc.assert(
      fc.property(invalid, cacheControl, date, (bad, rest, expires) => {
        const headers = { 'cache-control': `max-age=${bad}, ${rest}`, expires };
        expect(reading(headers).next).toBe(AT_LEAST);
      }),
      runs(1500),
    );
  });

  it('that are well-formed follow RFC 9111, in each combination', () => {
    const some = fc.option(fc.nat(100_000), { nil: undefined });
    const sound = fc.record({
      maxAge: some,
      sMaxage: some,
      whileRevalidate: some,
      ifError: some,
      age: some,
      /** Seconds from now; of `date` both ways, since clocks differ. */
      expires: fc.option(fc.integer({ min: -100_000, max: 100_000 }), { nil: undefined }),
      date: fc.option(fc.integer({ min: -1000, max: 1000 }), { nil: undefined }),
      modified: fc.option(fc.integer({ min: -10_000_000, max: 1000 }), { nil: undefined }),
      words: fc.subarray(
        ['no-store', 'no-cache', 'must-revalidate', 'proxy-revalidate', 'public', 'immutable'],
        {
          maxLength: 2,
        },
      ),
      isUpper: fc.boolean(),
      shared: fc.boolean(),
    });
    fc.assert(
      fc.property(sound, fc.boolean(), (given, isStale) => {
        // Most lists have neither no-store nor no-cache, or nothing else would be seen.
        const words = isStale ? given.words : given.words.filter((word) => !/^no-/.test(word));
        const said = { ...given, words };
        const next = Math.max(AT_LEAST, remainingBy(said) ?? FALLBACK);
        const found = reading(headersOf(said), said.shared);
        expect(found.next).toBeCloseTo(next, 6);
        const grace = graceBy(said);
        const limit =
          grace === undefined ? undefined : Math.max((remainingBy(said) ?? FALLBACK) + grace, next);
        if (limit === undefined) expect(found.limit).toBeUndefined();
        else expect(found.limit).toBeCloseTo(limit, 6);
      }),
      runs(2000),
    );
  });

  it('that were damaged last no longer than their remaining numbers', () => {
    const sound = 'public, max-age=600, stale-while-revalidate=60, x="a\\"b, c=9"';
    fc.assert(
      fc.property(mutation, (mutate) => {
        const list = mutate(sound, 'no-cache, max-age="86400"');
        const found = reading({ 'cache-control': list });
        expectBounded(found);
        expect(found.next).toBeLessThanOrEqual(mostOf({ 'cache-control': list }));
      }),
      runs(2000),
    );
  });
});

describe('invalid headers', () => {
  const fails = (): never => {
    throw new Error('mine');
  };
  const thrower = new Proxy({}, { get: fails, has: fails });
  const bearers: readonly ((value: unknown) => unknown)[] = [
    (value) => value,
    (value) => ({ 'cache-control': value, expires: value, date: value, age: value }),
    (value) => ({ 'cache-control': [value, 'max-age=60'], age: [[value]] }),
    (value) => ({ get: () => value }),
    (value) => ({ get: value }),
    (value) => new Map([['cache-control', value]]),
    (value) => [['cache-control', value]],
    () => thrower,
    () => ({ get: fails }),
  ];

  it('have no information, and no effect', () => {
    fc.assert(
      fc.property(hostileValue, fc.constantFrom(...bearers), (value, bear) =>
        expectBounded(reading(bear(value))),
      ),
      runs(1000),
    );
  });

  it('reach a value that is served all the same, and come due', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fields, hostileValue), fc.constantFrom(...bearers), async (value, bear) => {
        const clock = new FakeClock({ now: NOW });
        const logger = recordLines();
        let loads = 0;
        const load = async (): Promise<unknown> => {
          loads += 1;
          return loaded(loads, { headers: bear(value) as HeadersLike });
        };
        const { value: member } = fakeValue<unknown>(load, { schedule: httpFreshness(), clock, logger });
        expect(await member.get()).toBe(1);
        const { nextExecuteTime, age, maxStaleness } = member.inspect();
        expect(nextExecuteTime).toBeGreaterThan(NOW);
        expect(age).toBe(0);
        expect(maxStaleness).toBeGreaterThan(0);
        await clock.advance(nextExecuteTime - NOW);
        await member.get();
        await clock.flush();
        expect(member.peek()).toBe(2);
        expect(logger.lines).toEqual([]);
      }),
      runs(300),
    );
  });
});
