import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJwksError } from '../../../src/jwks/index.ts';
import { jwksUriOf } from '../../../src/jwks/issuer.ts';
import { examineKeys, selectKey, wantedKey } from '../../../src/jwks/key-set.ts';

const MEMBERS = [
  'kty',
  'kid',
  'alg',
  'crv',
  'n',
  'e',
  'x',
  'y',
  'd',
  'k',
  'use',
  'key_ops',
  '__proto__',
  'constructor',
];
const WORDS = [
  'RSA',
  'EC',
  'OKP',
  'oct',
  'sig',
  'enc',
  'P-256',
  'Ed25519',
  'RS256',
  'ES256',
  'EdDSA',
  'HS256',
  'none',
  'verify',
];
const anything = fc.oneof(
  { arbitrary: fc.constantFrom(...WORDS), weight: 8 },
  { arbitrary: fc.constant('n'.repeat(342)), weight: 4 },
  { arbitrary: fc.constantFrom([], ['verify'], {}, '', 0, null, true), weight: 2 },
  fc.jsonValue(),
);
const RSA = { kty: 'RSA', n: 'n'.repeat(342), e: 'AQAB' };
const EC = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };
const sound = fc.constantFrom(
  {},
  RSA,
  EC,
  { kty: 'OKP', crv: 'Ed25519', x: 'x' },
  { ...EC, kid: 'ES256', d: 'd' },
);
/** A sound key, or none, of which some members are replaced. */
const jwk = fc
  .tuple(sound, fc.dictionary(fc.constantFrom(...MEMBERS), anything, { maxKeys: 3 }))
  .map(([key, others]) => JSON.parse(JSON.stringify({ ...key, ...others })));
const set = fc.oneof(
  fc.jsonValue(),
  fc.record({ keys: fc.array(fc.oneof(jwk, fc.jsonValue()), { maxLength: 8 }) }),
);
const algorithm = fc.oneof(fc.constantFrom('RS256', 'PS512', 'ES256', 'EdDSA'), anything);
const header = fc.oneof(
  fc.jsonValue(),
  fc.record({ alg: algorithm, kid: anything }, { requiredKeys: [] }),
  fc.record({ alg: algorithm }),
);

/** The result, or the `JwksError` that it threw: no other error is expected of what comes from outside. */
function attempt<R>(call: () => R): R | undefined {
  try {
    return call();
  } catch (error) {
    expect(error).toSatisfy(isJwksError);
    expect((error as Error).message.length).toBeLessThan(2000);
    return undefined;
  }
}

it('no document and no header gives a key that is private, shared, for something else, or for another algorithm', () => {
  let found = 0;
  fc.assert(
    fc.property(set, header, (document, given) => {
      const examined = attempt(() => examineKeys(document, 5));
      for (const key of examined?.keys ?? []) {
        expect(['RSA', 'EC', 'OKP']).toContain(key.kty);
        expect(
          Object.keys(key).filter((name) => !['kty', 'kid', 'alg', 'crv', 'n', 'e', 'x', 'y'].includes(name)),
        ).toEqual([]);
        expect(Object.values(key).every((one) => typeof one === 'string')).toBe(true);
      }
      const wanted = attempt(() => wantedKey(given as never));
      if (wanted === undefined || examined === undefined) return;
      expect(wanted.alg).toMatch(/^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/);
      const key = attempt(() => selectKey({ from: 'https://issuer.example', keys: examined.keys }, wanted));
      if (key === undefined) return;
      found += 1;
      expect(key.kty).toBe(/^[RP]S/.test(wanted.alg) ? 'RSA' : wanted.alg.startsWith('ES') ? 'EC' : 'OKP');
      expect([undefined, wanted.alg]).toContain(key.alg);
      if (wanted.kid !== undefined) expect(key.kid).toBe(wanted.kid);
    }),
    { numRuns: 2000, examples: [[{ keys: [EC] }, { alg: 'ES256' }]] },
  );
  expect(found).toBeGreaterThan(0);
});

it('no metadata leads to a URL without TLS or with credentials, nor that of another issuer', () => {
  const uri = fc.oneof(
    fc.webUrl({ validSchemes: ['http', 'https', 'ftp', 'file', 'data'] }),
    fc.constantFrom(
      'https://a:b@issuer.example/keys',
      'javascript:alert(1)',
      '//issuer.example',
      '/keys',
      '',
    ),
    fc.jsonValue(),
  );
  const name = fc.oneof(
    fc.constantFrom('https://issuer.example', 'https://issuer.example/', 'https://ISSUER.example'),
    fc.jsonValue(),
  );
  const metadata = fc.oneof(fc.jsonValue(), fc.record({ issuer: name, jwks_uri: uri }, { requiredKeys: [] }));
  fc.assert(
    fc.property(metadata, (given) => {
      const url = attempt(() => jwksUriOf(given, 'https://issuer.example', { allowHttp: false }));
      if (url === undefined) return;
      const { protocol, username, password } = new URL(url);
      expect([protocol, username, password]).toEqual(['https:', '', '']);
      expect((given as { issuer: string }).issuer).toBe('https://issuer.example');
    }),
    { numRuns: 2000 },
  );
});
