import { createHmac } from 'node:crypto';
import { createVerifier } from 'fast-jwt';
import { jwtVerify } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type Jwks, type JwksOptions, jwks } from '../../../src/jwks/index.ts';
import { forged, Issuer, type SigningKey, signingKey } from '../../support/issuer.ts';

let issuer: Issuer;
let one: SigningKey;
let members: Jwks[];

beforeEach(async () => {
  one = await signingKey('RS256', 'one');
  issuer = await Issuer.start(one);
  members = [];
});
afterEach(async () => {
  for (const { member } of members) await member.close({ timeout: 0 });
  await issuer.close();
});

function make(options: JwksOptions = {}, url: string = issuer.jwksUrl): Jwks {
  const keys = jwks({ url }, { allowHttp: true, logger: false, retry: false, ...options });
  members.push(keys);
  return keys;
}

const codeOf = (error: { readonly code?: unknown }): unknown => error.code;
const code = (keys: Jwks, token: string): Promise<unknown> =>
  jwtVerify(token, keys).then(({ payload }) => payload.sub, codeOf);

/** A token whose HMAC has the public key as its secret, which a verifier must not take for one. */
async function signedWithPublicKey(keys: Jwks, alg: string): Promise<string> {
  const pem = await keys.pem({ header: { alg: 'RS256', kid: 'one' } });
  const text = forged({ alg, kid: 'one' }).split('.').slice(0, 2).join('.');
  return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
}

it('has no key for HMAC and for none, with each library, whatever the case', async () => {
  const keys = make();
  const tokens = [
    await signedWithPublicKey(keys, 'HS256'),
    forged({ alg: 'none' }),
    forged({ alg: 'hs256' }),
  ];
  for (const token of tokens) {
    expect(await code(keys, token)).toMatch(/^ERR_TICKLESS_JWKS_ALGORITHM$|^ERR_JWS_INVALID$/);
    await expect(createVerifier({ key: keys.pem })(token)).rejects.toThrow();
    const result = new Promise((resolve) => jsonwebtoken.verify(token, keys.callback, resolve));
    expect(String(await result)).toMatch(/algorithm/);
  }
  await expect(keys({ alg: 'HS256' })).rejects.toThrow('a token with the algorithm "HS256" is not verified');
  await expect(keys()).rejects.toThrow('a token with the algorithm undefined is not verified');
});

it('gives a key for an algorithm of its type and its own only', async () => {
  const ec = await signingKey('ES256', 'ec');
  const { alg: _alg, ...anyAlg } = (await signingKey('RS256', 'any', 'two')).publicJwk;
  issuer.published = [one.publicJwk, ec.publicJwk, anyAlg];
  const keys = make();
  const fits = async (alg: string, kid: string): Promise<unknown> =>
    keys({ alg, kid }).then(({ type }) => type === 'public', codeOf);
  const table = await Promise.all(
    ['one', 'ec', 'any'].map((kid) =>
      Promise.all(['RS256', 'RS512', 'PS256', 'ES256', 'EdDSA'].map((alg) => fits(alg, kid))),
    ),
  );
  const no = 'ERR_TICKLESS_JWKS_NO_KEY';
  expect(table).toEqual([
    [true, no, no, no, no],
    [no, no, no, true, no],
    [true, true, true, no, no],
  ]);
});

it('reads nothing of a header but its own alg and kid', async () => {
  const mallory = await signingKey('RS256', 'mallory');
  const server = await Issuer.start(mallory);
  const keys = make();
  const token = await server.sign(mallory);
  const [, claims, signature] = token.split('.');
  for (const extra of [{ jku: server.jwksUrl }, { jwk: mallory.publicJwk }, { x5u: server.url }]) {
    const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'mallory', ...extra })).toString(
      'base64url',
    );
    expect(await code(keys, `${header}.${claims}.${signature}`)).toBe('ERR_TICKLESS_JWKS_NO_KEY');
  }
  const inherited = JSON.parse('{"__proto__": {"alg": "RS256", "kid": "one"}}');
  await expect(keys(inherited)).rejects.toThrow('algorithm undefined');
  await expect(keys(Object.create({ alg: 'RS256', kid: 'one' }))).rejects.toThrow('algorithm undefined');
  expect(server.take()).toEqual([]);
  await server.close();
});

it.each([
  ['__proto__'],
  ['constructor'],
  ['hasOwnProperty'],
  [''],
  ['one\0'],
  ['ONE'],
  ['../../etc/passwd'],
  ["' OR 1=1 --"],
  ['x'.repeat(1_000_000)],
])('a kid is a name and nothing else: %.20s', async (kid) => {
  const keys = make();
  await keys.member.get();
  const error = await keys({ alg: 'RS256', kid }).catch((reason) => reason);
  expect([error.code, error.message.length < 300]).toEqual(['ERR_TICKLESS_JWKS_NO_KEY', true]);
});

it.each([[5], [null], [{}], [['one']], [true]])('a kid that is no string fits nothing: %o', async (kid) => {
  const keys = make();
  expect(await keys({ alg: 'RS256', kid } as never).catch(codeOf)).toBe('ERR_TICKLESS_JWKS_ALGORITHM');
  expect(issuer.take()).toEqual([]);
});

it('is not misled by a prototype that someone has polluted', async () => {
  const prototype = Object.prototype as { alg?: string; kid?: string; keys?: unknown };
  const keys = make();
  try {
    prototype.alg = 'RS256';
    prototype.kid = 'one';
    prototype.keys = [];
    await expect(keys({})).rejects.toThrow('algorithm undefined');
    expect((await keys.member.get()).keys).toHaveLength(1);
    issuer.published = [];
    await expect(make().member.get()).rejects.toThrow('no key that verifies signatures');
  } finally {
    delete prototype.alg;
    delete prototype.kid;
    delete prototype.keys;
  }
});

it('takes the one key that fits a token without a kid, and refuses where several do', async () => {
  const ec = await signingKey('ES256', 'ec');
  const nameless = await signingKey('RS256', undefined, 'one');
  issuer.published = [one.publicJwk, ec.publicJwk];
  const keys = make({ unknownKey: '1ms' });
  expect(await code(keys, await issuer.sign(nameless))).toBe('alice');
  issuer.published = [one.publicJwk, (await signingKey('RS256', 'two')).publicJwk];
  await keys.member.refresh();
  expect(await code(keys, await issuer.sign(nameless))).toBe('ERR_TICKLESS_JWKS_SEVERAL_KEYS');
});

it('takes a key that is there twice as one, and refuses two keys with the same kid', async () => {
  issuer.published = [one.publicJwk, { ...one.publicJwk, x5t: 'other' }];
  expect(await code(make(), await issuer.sign(one))).toBe('alice');
  issuer.published = [one.publicJwk, { ...(await signingKey('RS256', 'two')).publicJwk, kid: 'one' }];
  expect(await code(make(), await issuer.sign(one))).toBe('ERR_TICKLESS_JWKS_SEVERAL_KEYS');
});

it('uses the sound keys of a set with broken ones, and says once which those are', async () => {
  const lines: string[] = [];
  const logger = { warn: (line: string) => lines.push(line), error: () => {} };
  const offCurve = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'off' };
  issuer.published = [
    { kty: 'oct', k: 'c2VjcmV0', kid: 'hmac' },
    null,
    offCurve,
    { kty: 'new' },
    one.publicJwk,
  ];
  const keys = make({ logger });
  expect(await code(keys, await issuer.sign(one))).toBe('alice');
  await keys.member.refresh();
  expect(keys.member.peek()?.keys).toEqual([expect.objectContaining({ kid: 'one' })]);
  expect(lines).toEqual([
    expect.stringMatching(
      /keys left out: key "hmac" is a shared secret .*; key 2 is not an object; key "off" is not taken/,
    ),
  ]);
  issuer.published.push({ kty: 'RSA', kid: 'short', n: 'AQAB', e: 'AQAB' });
  await keys.member.refresh();
  expect(lines).toHaveLength(2);
});

it('verifies with no key that everyone can sign with', async () => {
  const { d, ...rest } = { ...one.publicJwk, d: 'private' };
  issuer.published = [{ ...rest, d }];
  expect(await code(make(), await issuer.sign(one))).toBe('LOAD_FAILED');
});

it.each([
  [{ maxBytes: 1000 }, /maxBytes|is larger than/],
  [{ maxKeys: 49 }, /it has 50 keys, more than maxKeys of 49/],
])('refuses a set beyond its bounds, and the old one stays: %o', async (bounds, problem) => {
  const keys = make(bounds);
  await keys.member.get();
  issuer.published = Array.from({ length: 50 }, (_, i) => ({ ...one.publicJwk, kid: `key ${i}` }));
  await expect(keys.member.refresh()).rejects.toThrow(problem);
  expect(keys.member.peek()?.keys).toHaveLength(1);
});

it('follows no redirect, also none to the same host', async () => {
  issuer.behaviour = 'moved';
  expect(await code(make(), await issuer.sign(one))).toBe('LOAD_FAILED');
  expect(issuer.take()).toEqual(['/keys']);
});

it('shares keys over a backend, and takes none that another name or another issuer has put there', async () => {
  const backend = memoryBackend();
  const first = make({ backend, name: 'login' });
  await first.member.refresh();
  issuer.take();
  const second = make({ backend, name: 'login' });
  expect(await code(second, await issuer.sign(one))).toBe('alice');
  expect(issuer.take()).toEqual([]); // taken over
  const mallory = await signingKey('RS256', 'mallory');
  const other = await Issuer.start(mallory);
  const third = make({ backend, name: 'login' }, other.jwksUrl); // by mistake, or on purpose
  expect(await code(third, await issuer.sign(one))).toBe('ERR_TICKLESS_JWKS_NO_KEY');
  await third.member.refresh();
  const fourth = make({ backend, name: 'login' });
  expect(await code(fourth, await other.sign(mallory))).toBe('ERR_TICKLESS_JWKS_NO_KEY');
  expect(fourth.member.peek()?.keys).toEqual([expect.objectContaining({ kid: 'one' })]);
  await other.close();
});

it('takes no set from elsewhere that is of another issuer, or without a key that verifies', () => {
  const { member } = make();
  const from = issuer.jwksUrl;
  const { keys } = { keys: [{ kty: 'RSA', n: 'n'.repeat(342), e: 'AQAB' }] } as const;
  member.set({ from, keys });
  for (const other of [{ from: `${from}?`, keys }, { from, keys: [] }, { keys }, null, [keys]]) {
    expect(() => member.set(other as never)).toThrow('the schema refuses it');
  }
  expect(member.peek()).toEqual({ from, keys });
});

it('keeps the keys of issuers apart', async () => {
  const mallory = await signingKey('RS256', 'one', 'mallory');
  const other = await Issuer.start(mallory);
  expect(await code(make({}, other.jwksUrl), await issuer.sign(one))).toBe(
    'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  );
  expect(await code(make(), await other.sign(mallory))).toBe('ERR_JWS_SIGNATURE_VERIFICATION_FAILED');
  await other.close();
});

it('keeps nothing of forged tokens', async () => {
  const keys = make();
  await keys.member.get();
  const size = (): number => JSON.stringify(keys.member.inspect()).length;
  await keys({ alg: 'RS256', kid: 'first' }).catch(codeOf);
  const before = size();
  for (let i = 0; i < 2000; i++) await keys({ alg: 'RS256', kid: `${i}${'x'.repeat(1000)}` }).catch(codeOf);
  expect(size()).toBeLessThan(before + 100);
});
