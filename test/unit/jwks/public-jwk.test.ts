import { expect, it } from 'vitest';
import { publicJwkOf } from '../../../src/jwks/public-jwk.ts';

const N = 'n'.repeat(342);
const RSA = { kty: 'RSA', n: N, e: 'AQAB' };
const EC = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };
const OKP = { kty: 'OKP', crv: 'Ed25519', x: 'x' };

it('keeps what verification needs of a key, and nothing else', () => {
  const others = { use: 'sig', key_ops: ['verify'], x5c: ['…'], x5u: 'https://other.example', ext: true };
  expect(publicJwkOf({ ...others, ...RSA, kid: 'one', alg: 'PS256' })).toEqual({
    ...RSA,
    kid: 'one',
    alg: 'PS256',
  });
  expect(publicJwkOf({ ...others, ...EC })).toEqual(EC);
  expect(publicJwkOf({ ...others, ...OKP, alg: 'EdDSA' })).toEqual({ ...OKP, alg: 'EdDSA' });
  expect(publicJwkOf({ ...RSA, crv: 'P-256', x: 'x', y: 5 })).toEqual(RSA);
  expect(publicJwkOf({ ...RSA, e: 'Aw' })).toEqual({ ...RSA, e: 'Aw' }); // 3
  expect(publicJwkOf({ ...OKP, n: null, e: 0, y: [] })).toEqual(OKP);
});

it.each([
  [{ ...RSA, use: 'enc' }],
  [{ ...RSA, key_ops: ['encrypt', 'wrapKey'] }],
  [{ ...RSA, key_ops: [] }],
  [{ ...RSA, alg: 'RSA-OAEP' }],
  [{ ...EC, alg: 'ECDH-ES' }],
  [{ ...EC, crv: 'secp256k1' }],
  [{ ...OKP, crv: 'X25519' }],
  [{ kty: 'AKP', alg: 'ML-DSA-44', pub: 'x' }],
  [{ kty: '__proto__' }],
])('leaves out without a word what is for something else: %o', (jwk) => {
  expect(publicJwkOf(jwk)).toBe(undefined);
});

it.each([
  [null, 'is not an object'],
  [[RSA], 'is not an object'],
  ['RSA', 'is not an object'],
  [{}, 'has no kty'],
  [{ ...RSA, kty: 5 }, 'has no kty'],
  [{ kty: 'oct', k: 'c2VjcmV0' }, 'is a shared secret'],
  [{ kty: 'oct', use: 'enc', k: 'c2VjcmV0' }, 'is a shared secret'],
  [{ ...RSA, d: 'd' }, 'has its private part in it'],
  [{ ...EC, d: '' }, 'has its private part in it'],
  [{ ...OKP, k: 'k' }, 'has its private part in it'],
  [{ ...RSA, kid: 5 }, 'has a kid that is not a string'],
  [{ ...RSA, alg: ['RS256'] }, 'has an alg that is not a string'],
  [{ ...RSA, key_ops: 'verify' }, 'has key_ops that are not an array'],
  [{ ...RSA, n: undefined }, 'has no valid n'],
  [{ ...RSA, n: `=${N}` }, 'has no valid n'],
  [{ ...RSA, n: `${N}===` }, 'has no valid n'],
  [{ ...RSA, n: null }, 'has no valid n'],
  [{ ...EC, crv: ' P-256' }, 'has no valid crv'],
  [{ ...RSA, e: 65537 }, 'has no valid e'],
  [{ ...EC, y: '' }, 'has no valid y'],
  [{ ...EC, crv: ['P-256'] }, 'has no valid crv'],
  [{ ...OKP, x: 'not base64url!' }, 'has no valid x'],
  [{ ...RSA, n: 'n'.repeat(341) }, 'is of less than 2,048 bits'],
  [{ ...RSA, n: 'A'.repeat(400) + 'n'.repeat(171) }, 'is of less than 2,048 bits'],
  [{ ...RSA, alg: 'ES256' }, 'is not of the type that its alg needs'],
  [{ ...EC, alg: 'ES384' }, 'is not of the type that its alg needs'],
  [{ ...EC, alg: 'RS256' }, 'is not of the type that its alg needs'],
])('says what is wrong with a broken key: %o', (jwk, problem) => {
  expect(publicJwkOf(jwk)).toContain(problem);
});

it('takes material with padding, in the standard alphabet and with line breaks, and keeps it as base64url', () => {
  expect(publicJwkOf({ ...RSA, n: `${N}==`, e: 'AQAB' })).toEqual(RSA);
  expect(publicJwkOf({ ...RSA, n: `${'n'.repeat(64)}\r\n${'n'.repeat(278)}\n` })).toEqual(RSA);
  expect(publicJwkOf({ ...RSA, n: `+/${N}` })).toEqual({ ...RSA, n: `-_${N}` });
  expect(publicJwkOf({ ...EC, x: 'x+/=', y: ' y' })).toEqual({ ...EC, x: 'x-_' });
  expect(publicJwkOf({ ...OKP, x: 'x/=' })).toEqual({ ...OKP, x: 'x_' });
  for (const e of ['AQ==', 'AA==', 'A A A B']) {
    expect(publicJwkOf({ ...RSA, e })).toBe('has an exponent with which anyone can sign');
  }
});

it('reads hostile material in a time that is linear', () => {
  const began = performance.now();
  for (const n of ['='.repeat(1e6), `${'='.repeat(1e6)}x`, ' '.repeat(1e6), `x${' ='.repeat(5e5)}x`])
    expect(publicJwkOf({ ...RSA, n })).toBe('has no valid n');
  expect(performance.now() - began).toBeLessThan(5000); // a quarter of an hour where it is quadratic
});

it.each(['AQ', 'AAAB', 'AQAA', 'AA', 'A', 'AQABA'])('takes no exponent that is 1, even, or none: %s', (e) => {
  expect(publicJwkOf({ ...RSA, e })).toBe('has an exponent with which anyone can sign');
});

it('reads own properties only', () => {
  const inherited = JSON.parse('{"__proto__": {"kty": "RSA", "n": "n", "e": "AQAB"}}');
  expect(publicJwkOf(inherited)).toBe('has no kty');
  expect(publicJwkOf(Object.create(RSA))).toBe('is not an object');
});
