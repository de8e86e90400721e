import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type Codec, RefreshingValue } from '../../../src/index.ts';
import { defaultCodec } from '../../../src/records/store/default-codec.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const decoded = (value: unknown): unknown =>
  defaultCodec.decode(defaultCodec.encode(value) as string | Uint8Array);

const ring: { self?: unknown } = {};
ring.self = ring;

const resizable = Reflect.construct(ArrayBuffer, [2, { maxByteLength: 4 }]) as ArrayBuffer;

function given(..._: unknown[]): unknown {
  // biome-ignore lint/complexity/noArguments: what the test is about
  return arguments;
}

function withoutParent(): unknown {
  function Bare() {}
  Bare.prototype = Object.create(null, { constructor: { value: Bare } });
  return Object.assign(Object.create(Bare.prototype), { a: 1 });
}

/** Alone, and in a value that is encoded in parts. */
async function isRefused(value: unknown, line: string): Promise<void> {
  expect(() => defaultCodec.encode(value)).toThrow(line);
  const large = [Array.from({ length: 40_000 }, (_, index) => [index]), value];
  await expect((async () => defaultCodec.encode(large, async () => {}))()).rejects.toThrow("can't keep a");
}

describe('the default codec', () => {
  it.each<[string, unknown, 'json' | 'devalue']>([
    ['JSON', { a: [1, 'x', null, true] }, 'json'],
    ['a Map of records', new Map([['1012', { city: 'Amsterdam' }]]), 'devalue'],
    ['a Set', { of: new Set([1, 'a']) }, 'devalue'],
    ['a Date', [new Date(0), new Date(Number.NaN)], 'devalue'],
    ['a BigInt', { n: 2n ** 70n }, 'devalue'],
    [
      'typed arrays',
      [Uint8Array.of(1, 255), Float64Array.of(0.1, Number.NaN), new ArrayBuffer(3)],
      'devalue',
    ],
    ['undefined', { a: undefined, b: [undefined] }, 'devalue'],
    ['numbers', [Number.NaN, Infinity, -Infinity, -0], 'devalue'],
    ['undefined alone', undefined, 'devalue'],
    ['a ring', ring, 'devalue'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), 'devalue'],
    ['boxed primitives', [Object(1), Object('ab'), Object(true), Object(2n)], 'devalue'],
    [
      'a pattern, a view, an address',
      [/a/gi, new DataView(new ArrayBuffer(2)), new URL('http://a/b')],
      'devalue',
    ],
    ['an object without a prototype in others', { a: [Object.create(null)] }, 'devalue'],
  ])('keeps %s', (_, value, how) => {
    const text = defaultCodec.encode(value) as string;
    expect(text.startsWith('devalue:') ? 'devalue' : 'json').toBe(how);
    expect(decoded(value)).toStrictEqual(value);
  });

  it('keeps values of another realm', () => {
    expect(decoded(runInNewContext('({ a: [1, { b: 2 }] })'))).toStrictEqual({ a: [1, { b: 2 }] });
    expect(decoded(runInNewContext('new Map([[1, [/a/g]]])'))).toStrictEqual(new Map([[1, [/a/g]]]));
  });

  it.each<[string, unknown, string]>([
    ['a Buffer', Buffer.from('1012'), "the default codec can't keep a Buffer; give"],
    ['a Buffer in others', { rows: [{ hash: Buffer.alloc(3) }] }, 'a Buffer (at .rows[0].hash); give'],
    ['a view of another class', new (class Bytes extends Uint8Array {})(2), 'a Bytes; give'],
    ['an array of another class', class Rows extends Array {}.from([1]), 'a Rows; give'],
    [
      'a Map of another class',
      [new (class Rows extends Map<number, number> {})([[1, 2]])],
      'a Rows (at [0]); give',
    ],
    ['a Set of another class', new (class Codes extends Set<number> {})([1]), 'a Codes; give'],
    ['a Date of another class', { at: new (class Day extends Date {})() }, 'a Day (at .at); give'],
    ['a URL of another class', new (class Link extends URL {})('http://a/'), 'a Link; give'],
    ['an object of a class', { of: [new (class Rate {})()] }, 'a Rate (at .of[0]); give'],
    ['a function', { f: () => 1 }, 'a function (at .f); give'],
    ['a symbol', Symbol('s'), 'a symbol; give'],
    ['a Promise', new Map([[1, Promise.resolve()]]), 'a Promise'],
    ['a Promise with a property', { of: Object.assign(Promise.resolve(), { id: 1 }) }, 'a Promise (at .of)'],
    ['a symbol as a key', { a: 1, [Symbol('s')]: 2 }, 'a symbol as a key; give'],
    ['a symbol as a key in others', [{ a: { [Symbol('s')]: 2 } }], 'a symbol as a key (at [0].a); give'],
    [
      'a symbol as a key of an array',
      { a: Object.assign([1], { [Symbol('s')]: 2 }) },
      'a symbol as a key (at .a); give',
    ],
    [
      'an object that says to be a Map',
      {
        a: new (class Fake {
          readonly [Symbol.toStringTag] = 'Map';
        })(),
      },
      'a Fake (at .a)',
    ],
    ['an instance of a class that extends null', { a: withoutParent() }, 'a Bare (at .a)'],
    [
      'a symbol as a key of a Map in it',
      new Map([[1, { [Symbol('s')]: 2 }]]),
      'a symbol as a key (at .get(1)); give',
    ],
  ])('refuses %s', (_, value, line) => isRefused(value, line));

  it.each<[string, unknown, what: string, place?: string]>([
    ['a Map with a property', Object.assign(new Map(), { total: 3 }), 'a Map'],
    ['a Set with a symbol', [Object.assign(new Set(), { [Symbol('s')]: 3 })], 'a Set', ' (at [0])'],
    ['a Date with a property', Object.assign(new Date(0), { zone: 'UTC' }), 'a Date'],
    ['a URL with a property', Object.assign(new URL('http://a/'), { a: 1 }), 'a URL'],
    ['a typed array with a symbol', Object.assign(new Uint8Array(2), { [Symbol('s')]: 1 }), 'a Uint8Array'],
    ['a pattern that is in use', Object.assign(/a/g, { lastIndex: 3 }), 'a RegExp'],
    ['a buffer that can grow', resizable, 'an ArrayBuffer'],
    ['a view of a buffer that can grow', { of: new Uint8Array(resizable) }, 'an ArrayBuffer'],
    ['an array without a prototype', Object.setPrototypeOf([1], null), 'an Array'],
    [
      'an array that is none by its prototype',
      { a: Object.setPrototypeOf([1], Object.prototype) },
      'an Array',
      ' (at .a)',
    ],
    ['the arguments of a function', { a: given(1, 2) }, 'an Arguments', ' (at .a)'],
    ['a proxy of a Map', { a: new Proxy(new Map(), {}) }, 'a Map', ' (at .a)'],
  ])('refuses %s', (_, value, what, place = '') =>
    isRefused(value, `${what} that would come back changed${place}`),
  );

  it.each([class Rows extends Array {}, class Rows extends Map {}, class Rows extends Set {}])(
    'refuses a large one of another class: %s',
    async (Rows) => {
      const rows = new Rows();
      for (let at = 0; at < 40_000; at++) {
        if (rows instanceof Map) rows.set(at, { at });
        else if (rows instanceof Set) rows.add({ at });
        else rows.push({ at });
      }
      await expect((async () => defaultCodec.encode(rows, async () => {}))()).rejects.toThrow(
        "can't keep a Rows",
      );
    },
  );

  it('takes no property that is not enumerable for one, whatever its key', () => {
    expect(decoded(Object.defineProperty({ a: 1 }, Symbol('s'), { value: 1 }))).toStrictEqual({ a: 1 });
  });

  it('reads the JSON of earlier versions', () => {
    expect(defaultCodec.decode('{"a":[1,"devalue:",null]}')).toEqual({ a: [1, 'devalue:', null] });
    expect(decoded('devalue:[1]')).toBe('devalue:[1]');
  });

  it.each([
    ['a prototype', 'devalue:[{"__proto__":1},{"isAdmin":2},true]'],
    ['a prototype as JSON', '{"__proto__":{"isAdmin":true}}'],
    ['another kind of object', 'devalue:[["constructor",1],"alert(1)"]'],
    ['an index that does not exist', 'devalue:[[7]]'],
    ['an index that is none', 'devalue:[["Map",-9,-9]]'],
    ['a sparse array of a billion', 'devalue:[[-7,1000000000,0,1],1]'],
    ['no end', 'devalue:[[1],'],
    [
      'a depth beyond the stack',
      `devalue:[${Array.from({ length: 200_000 }, (_, i) => `[${i + 1}]`).join(',')},1]`,
    ],
  ])('does no harm with %s', (_, text) => {
    let value: unknown;
    try {
      value = defaultCodec.decode(text);
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
    expect((value as { isAdmin?: unknown } | undefined)?.isAdmin).toBeUndefined();
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
  });
});

it('a codec may decode asynchronously, as it may encode', async () => {
  const clock = new FakeClock();
  const codec: Codec = {
    format: 'slow/1',
    encode: async (value) => JSON.stringify(value),
    decode: async (text) => ({ decoded: JSON.parse(text as string) }),
  };
  const backend = memoryBackend({ clock, codec });
  const of = (load: string): RefreshingValue<unknown> =>
    new RefreshingValue<unknown>({ name: 'v', load: async () => load, clock, backend });
  await of('one').get();
  await clock.flush();
  expect(await of('two').get()).toEqual({ decoded: 'one' });
});
