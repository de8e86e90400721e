import { inspect, isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SliceBudget } from '../../src/cluster/slice-budget.ts';
import { decodeSnapshot, type Snapshot, withMetadata } from '../../src/cluster/snapshot.ts';
import { encodeBody } from '../../src/cluster/snapshot-body.ts';
import type { Codec } from '../../src/index.ts';
import { defaultCodec } from '../../src/records/store/default-codec.ts';
import { JsonCheck } from '../../src/records/store/json-check.ts';
import { encodeWhole } from '../../src/records/store/whole-text.ts';

/** Text with all that JSON, lines and UTF-8 may stumble over: lone surrogates, line ends, NUL, whole planes. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('\ud800', '\udc00', '\n', '\r', '\u2028', '\0', '"', '\\', '😀', 'é', 'a'),
  }),
);
const name = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toJSON', 'length', '0', ''));

/** Objects whose properties are their own, whatever the name. */
function record(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.array(fc.tuple(name, value), { maxLength: 5 }).map(Object.fromEntries);
}

const jsonValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0), // -0 + 0 is 0
    fc.maxSafeInteger(),
    text,
    fc.array(tie('any'), { maxLength: 5 }),
    record(tie('any')),
  ),
})).any;

const duration = fc.oneof(fc.nat(), fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true }));
const about: fc.Arbitrary<Omit<Snapshot, 'value' | 'isAbsent' | 'digest'>> = fc.record({
  age: duration,
  dueIn: fc.oneof(duration, fc.constant(Infinity)),
  isDueTimeOverridden: fc.boolean(),
  took: duration,
  maxStaleness: fc.oneof(
    fc.constant(undefined),
    fc.constant(Infinity),
    duration.map((ms) => ms + 0.5),
  ),
  tags: fc.oneof(fc.constant(undefined), fc.array(text, { maxLength: 4 })),
  isLimitScheduled: fc.constant(false),
  headers: fc.oneof(fc.constant(undefined), fc.constant({ 'cache-control': 'max-age=10', age: '3' })),
  meta: fc.oneof(fc.constant(undefined), fc.constant({ etag: '"a"', cursor: 3, parts: [1, { of: null }] })),
});

const MAKER = { kind: 'value', name: 'v' } as const;

const BUDGET: SliceBudget = { yields: async () => {}, limit: async (step) => step() };

async function encoded(
  value: unknown,
  metadata: Omit<Snapshot, 'value'>,
  codec: Codec = defaultCodec,
): Promise<string> {
  return withMetadata(await encodeBody(value, metadata.isAbsent, codec, false, BUDGET), metadata, MAKER);
}

const bytes: Codec = {
  format: 'bytes',
  encode: (value) => value as Uint8Array,
  decode: (body) => body,
};

/** All that was not said is there, as undefined: what others have added to `Object.prototype` is not read. */
const UNPINNED = { pinned: undefined, mark: undefined, digest: undefined };

const plain = {
  age: 0,
  dueIn: 1,
  isDueTimeOverridden: false,
  took: 0,
  maxStaleness: undefined,
  tags: undefined,
  meta: undefined,
  headers: undefined,
  isLimitScheduled: false,
};

/** Also for objects with a property `constructor` or `__proto__`, which vitest takes for what they are made of. */
function expectSame(received: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(received, expected)) expect.fail(`${show(received)} is not ${show(expected)}`);
}
const show = (value: unknown): string => inspect(value, { depth: 9 });

describe('a snapshot is decoded as it was encoded', () => {
  it('any JSON value, and an absent key, with all its metadata', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue, about, fc.nat(9), async (json, said, drawn) => {
        const isAbsent = drawn === 0;
        const value = isAbsent ? undefined : json;
        const payload = await encoded(value, { ...said, isAbsent });
        const expected = { ...said, ...UNPINNED, isAbsent, value };
        expectSame(await decodeSnapshot(payload, { codec: defaultCodec }, MAKER, BUDGET), expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('any bytes and any text of a codec, also a part of a larger buffer', async () => {
    const part = fc
      .tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(20))
      .map(([all, from]) => all.subarray(Math.min(from, all.length)));
    await fc.assert(
      fc.asyncProperty(fc.oneof(part, text), about, async (body, said) => {
        const payload = await encoded(body, { ...said, isAbsent: false }, bytes);
        const back = await decodeSnapshot(payload, { codec: bytes }, MAKER, BUDGET);
        expectSame(back, {
          ...said,
          ...UNPINNED,
          isAbsent: false,
          value: typeof body === 'string' ? body : Uint8Array.from(body),
        });
      }),
      { numRuns: 500 },
    );
    const large = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
    const payload = await encoded(large, { ...plain, isAbsent: false }, bytes);
    expectSame((await decodeSnapshot(payload, { codec: bytes }, MAKER, BUDGET)).value, large);
  });
});

/** Whether JSON can keep a value, decided without JSON. */
function isKept(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype && Array.from(value).every(isKept);
  if (prototype !== Object.prototype) return false;
  return Object.values(value).every(isKept);
}

describe('a value is JSON', () => {
  class Rates extends Array<number> {}
  const special = fc.constantFrom<unknown>(
    Rates.of(1, 2),
    Symbol('x'),
    Number.NaN,
    Infinity,
    -Infinity,
    -0,
    () => 1,
    new Error('x'),
    /x/,
    new Rates(),
  );
  const wild = fc.anything({
    key: name,
    maxDepth: 4,
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  } as fc.ObjectConstraints);
  const anything = fc.oneof(
    { weight: 8, arbitrary: wild },
    { weight: 8, arbitrary: jsonValue },
    { weight: 1, arbitrary: special },
    { weight: 1, arbitrary: special.map((value) => [{ inside: value }]) },
  );

  it('exactly where JSON keeps it, whatever the slices of the check', () => {
    let [kept, refused] = [0, 0];
    fc.assert(
      fc.property(anything, fc.integer({ min: 1, max: 9 }), (value, visits) => {
        const check = new JsonCheck(value);
        while (!check.run(visits));
        expect(check.isExact).toBe(isKept(value));
        if (check.isExact) expectSame(JSON.parse(encodeWhole(value)), value);
        if (check.isExact) kept += 1;
        else refused += 1;
      }),
      { numRuns: 5000 },
    );
    expect(Math.min(kept, refused)).toBeGreaterThan(0);
  });

  it('not where JSON.stringify would call a method of it', () => {
    const hidden = Object.defineProperty({ a: 1 }, 'toJSON', { value: () => 'other' });
    expect(defaultCodec.decode(encodeWhole([hidden]))).toEqual([{ a: 1 }]);
  });

  it('nested a thousand deep, and not too deep for the stack', () => {
    const nested = (depth: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value };
      return value;
    };
    expect(encodeWhole(JSON.parse(encodeWhole(nested(1000))))).toBe(JSON.stringify(nested(1000)));
    expect(() => encodeWhole(nested(1_000_000))).toThrow();
  });
});
