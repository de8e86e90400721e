import fc, { type Arbitrary } from 'fast-check';
import { expect } from 'vitest';

/** JSON that attacks, or breaks careless code. */
const evilTexts: readonly string[] = [
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"__proto__":null}',
  '{"toString":1,"valueOf":2,"toJSON":3,"then":4}',
  '{"hasOwnProperty":0,"length":-1}',
  '["__proto__","polluted",true]',
  '{"a":1,"a":2}',
  '[1e999,-1e999,1e-999,-0,9007199254740993,123456789012345678901234567890]',
  '"\\u0000\\ud800\\u2028</script>"',
];

/** A value from JSON: hostile, of a wrong type, or an extreme number. */
export const hostileJson: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...evilTexts).map((text) => JSON.parse(text) as unknown),
  fc.constantFrom<unknown>(null, true, false, '', '0', '1', 'NaN', [], {}, [[]], 'Infinity', '__proto__'),
  fc.constantFrom(
    0,
    -0,
    1,
    -1,
    0.5,
    1e-300,
    -1e308,
    1e308,
    8.64e15,
    8.64e15 + 1,
    2 ** 31,
    2 ** 53,
    2 ** 53 - 1,
    -(2 ** 53),
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The same, and values that only a driver or user code returns. */
export const hostileValue: Arbitrary<unknown> = fc.oneof(
  hostileJson,
  fc.constantFrom<unknown>(undefined, Number.NaN, Infinity, -Infinity, 5n, new Date(Number.NaN), new Map()),
  fc.string({ unit: 'binary' }),
);

/** Texts of other programs. */
export const foreignText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...evilTexts,
    '',
    '\0',
    '\ufeff',
    'null',
    '<html>502 Bad Gateway</html>',
    'a:1:{i:0;s:1:"x";}',
  ),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string(),
  fc.string({ unit: 'binary' }),
);

/** No input has changed the prototypes. */
export function expectUnpolluted(): void {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(([] as unknown as Record<string, unknown>).polluted).toBeUndefined();
}

/** A readable report: one line of a reasonable length. */
export function expectReadable(line: string): void {
  expect(line.length).toBeGreaterThan(10);
  expect(line.length).toBeLessThan(6000);
  expect(line).not.toMatch(/[\r\n]|\[object /);
}
