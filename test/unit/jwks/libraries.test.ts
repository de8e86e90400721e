import { createVerifier } from 'fast-jwt';
import { jwtVerify } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Jwks, jwks } from '../../../src/jwks/index.ts';
import { forged, Issuer, type SigningKey, signingKey } from '../../support/issuer.ts';

let issuer: Issuer;
let keys: Jwks;

beforeEach(async () => {
  issuer = await Issuer.start();
  keys = jwks(issuer.url, { allowHttp: true, logger: false });
});
afterEach(async () => {
  await keys.member.close();
  await issuer.close();
});

type Verify = (token: string) => Promise<string>;

const withJose: Verify = async (token) => String((await jwtVerify(token, keys)).payload.sub);

const withJsonwebtoken: Verify = (token) =>
  new Promise((resolve, reject) => {
    jsonwebtoken.verify(token, keys.callback, (error, payload) =>
      error === null ? resolve(String((payload as { sub?: string }).sub)) : reject(error),
    );
  });

const withFastJwt: Verify = async (token) => (await createVerifier({ key: keys.pem })(token)).sub;

const LIBRARIES: readonly (readonly [string, Verify, readonly string[]])[] = [
  ['jose', withJose, ['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']],
  ['jsonwebtoken', withJsonwebtoken, ['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512']],
  ['fast-jwt', withFastJwt, ['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA']],
];

it.each(LIBRARIES)(
  '%s verifies with each of its algorithms, and refuses another signature',
  async (_, verify, algorithms) => {
    const signing: SigningKey[] = [];
    for (const alg of algorithms) signing.push(await signingKey(alg, alg, 'one'));
    issuer.published = signing.map(({ publicJwk }) => publicJwk);
    for (const key of signing) {
      const token = await issuer.sign(key);
      expect(await verify(token)).toBe('alice');
      const [header, , signature] = token.split('.');
      const claims = Buffer.from('{"sub":"mallory"}').toString('base64url');
      await expect(verify(`${header}.${claims}.${signature}`)).rejects.toThrow(/signature/i);
    }
    expect(issuer.take()).toEqual(['/.well-known/openid-configuration', '/keys']);
  },
);

it('imports a key once, and keeps it where the set is loaded again without a change', async () => {
  issuer.published = [(await signingKey('ES256', 'one')).publicJwk];
  const header = { alg: 'ES256', kid: 'one' };
  const [key, pem] = [await keys(header), await keys.pem({ header })];
  const set = keys.member.peek();
  await keys.member.refresh();
  expect(keys.member.peek()).toBe(set);
  expect([await keys(header), await keys.pem({ header })]).toEqual([key, pem]);
  expect(await keys(header)).toBe(key);
});

it('reads the kid of a header that is not protected, where the protected one has none', async () => {
  issuer.published = [
    (await signingKey('ES256', 'one')).publicJwk,
    (await signingKey('ES256', 'two')).publicJwk,
  ];
  const two = await keys({ alg: 'ES256', kid: 'two' });
  expect(await keys({ alg: 'ES256' }, { header: { kid: 'two' } })).toBe(two);
  expect(await keys({ alg: 'ES256', kid: 'two' }, { header: { kid: 'one' } })).toBe(two);
});

it.each(LIBRARIES)('%s gets an error that says what is wrong, where no key fits', async (_, verify) => {
  issuer.published = [(await signingKey('ES256', 'one')).publicJwk];
  const error = await verify(forged({ alg: 'ES256', kid: 'two' })).catch((reason) => reason);
  const { message } = error.originalError ?? error; // fast-jwt has it there
  expect(message).toContain(`the key of ${issuer.url} does not fit kid "two" with ES256`);
});
