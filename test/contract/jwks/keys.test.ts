import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Jwks, type JwksOptions, jwks } from '../../../src/jwks/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Issuer, type SigningKey, signingKey } from '../../support/issuer.ts';

// What issuers publish, and what the libraries that verify take of it: RFC 7517, RFC 7518, and the leniency that jose and jwks-rsa have.

async function start(...published: readonly unknown[]): Promise<Issuer> {
  const issuer = await Issuer.start();
  issuer.published = [...published];
  onTestFinished(() => issuer.close());
  return issuer;
}

function keysOf({ jwksUrl: url }: Issuer, options: JwksOptions = {}): Jwks {
  return jwks({ url }, { allowHttp: true, logger: false, retry: false, ...options });
}

const subject = async (token: string, keys: Jwks): Promise<unknown> =>
  (await jwtVerify(token, keys)).payload.sub;

type Member = Record<string, unknown>;

const padded = (text: unknown): string => `${text}${'='.repeat((4 - (String(text).length % 4)) % 4)}`;
const standard = (text: unknown): string => padded(text).replaceAll('-', '+').replaceAll('_', '/');
const folded = (text: unknown): string => String(text).replace(/.{64}/g, '$&\r\n');
const eachPart = (change: (text: unknown) => string) => (key: Member) =>
  Object.fromEntries(
    Object.entries(key).map(([name, value]) => [
      name,
      ['n', 'e', 'x', 'y'].includes(name) ? change(value) : value,
    ]),
  );

/** As issuers write a key. */
const TAKEN: [string, (key: Member) => Member][] = [
  ['as the standard says', (key) => key],
  ['with padding', eachPart(padded)],
  ['in the standard alphabet', eachPart(standard)],
  ['in lines', eachPart(folded)],
  ['kid: null', (key) => ({ ...key, kid: null })],
  ['alg: null', (key) => ({ ...key, alg: null })],
  ['use: null', (key) => ({ ...key, use: null })],
  ['key_ops: null', (key) => ({ ...key, key_ops: null })],
  ['d: null', (key) => ({ ...key, d: null })],
  [
    'all of the private part null',
    (key) => ({ ...key, d: null, p: null, q: null, dp: null, dq: null, qi: null }),
  ],
  ['certificates null', (key) => ({ ...key, x5c: null, x5t: null, x5u: null })],
  ['without kid, alg and use', ({ kid: _kid, alg: _alg, use: _use, ...key }) => key],
  ['with members that are not known', (key) => ({ ...key, iat: 5, revoked: false, 'x5t#S256': 'x' })],
  ['for verification only', (key) => ({ ...key, key_ops: ['verify'] })],
];

/** Not for this token. */
const REFUSED: [string, (key: Member) => Member][] = [
  ['use: enc', (key) => ({ ...key, use: 'enc' })],
  ['key_ops without verify', (key) => ({ ...key, key_ops: ['encrypt'] })],
  ['of another algorithm', (key) => ({ ...key, alg: key.kty === 'RSA' ? 'RS512' : 'ES512' })],
  ['of an algorithm with a secret', (key) => ({ ...key, alg: 'HS256' })],
  ['without its material', ({ n: _n, x: _x, ...key }) => key],
];

describe.each(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])('a key of %s', (alg) => {
  /** What the two say of a token that names the key, unless that has no name. */
  async function outcomes(change: (key: Member) => Member): Promise<[ours: unknown, peers: unknown]> {
    const key = await signingKey(alg, 'one');
    const member = change({ ...key.publicJwk });
    const issuer = await start(member);
    const token = await issuer.sign(typeof member.kid === 'string' ? key : { ...key, kid: undefined });
    const keys = keysOf(issuer);
    const outcome = (verified: Promise<unknown>): Promise<unknown> =>
      verified.then(
        () => 'verified',
        () => 'refused',
      );
    const peer = outcome(
      Promise.resolve().then(() =>
        jwtVerify(token, createLocalJWKSet({ keys: [member] } as unknown as JSONWebKeySet)),
      ),
    );
    return [await outcome(subject(token, keys)), await peer];
  }

  it.each(TAKEN)('is taken: %s', async (_, change) => {
    const [ours] = await outcomes(change); // jose takes all of them, where the platform does
    expect(ours).toBe('verified');
  });

  it.each(REFUSED)('is refused: %s', async (_, change) => {
    expect(await outcomes(change)).toEqual(['refused', 'refused']);
  });
});

it('a private part that is there is refused, however the rest is written', async () => {
  const key = await signingKey('ES256', 'one');
  for (const d of ['AAAA', '', 'AAAA==', 0, false, {}]) {
    const issuer = await start({ ...key.publicJwk, d, kid: null, use: null });
    await expect(subject(await issuer.sign(key), keysOf(issuer))).rejects.toThrow(/private part/);
  }
});

it('the same key in two spellings is one', async () => {
  const key = await signingKey('RS256', 'one');
  const issuer = await start(key.publicJwk, eachPart(standard)({ ...key.publicJwk }), {
    ...key.publicJwk,
    d: null,
  });
  const keys = keysOf(issuer);
  expect(await subject(await issuer.sign(key), keys)).toBe('alice');
  expect(keys.member.peek()?.keys).toHaveLength(1);
});

it('a set that is not modified keeps the lifetime of its response, and its validators', async () => {
  const key = await signingKey('ES256', 'one');
  const issuer = await start(key.publicJwk);
  const seen: unknown[] = [];
  issuer.behaviour = (request, response) => {
    seen.push(request.headers['if-none-match']);
    const isKnown = request.headers['if-none-match'] !== undefined;
    if (isKnown) response.writeHead(304, { etag: 'W/"2"' }).end();
    else
      response
        .writeHead(200, { etag: 'W/"1"', 'cache-control': 'max-age=900' })
        .end(JSON.stringify({ keys: issuer.published }));
  };
  const clock = new FakeClock();
  const keys = keysOf(issuer, { clock });
  await subject(await issuer.sign(key), keys);
  for (let i = 0; i < 3; i++) await keys.member.refresh();
  expect((keys.member.inspect().nextExecuteTime as number) - clock.now()).toBe(900_000);
  expect(seen).toEqual([undefined, 'W/"1"', 'W/"2"', 'W/"2"']);
});

describe('a key that was replaced under its name', () => {
  /** Before and after, of one name. */
  const pairOf = async (alg: string): Promise<[SigningKey, SigningKey]> => [
    await signingKey(alg, 'one', 'before'),
    await signingKey(alg, 'one', 'after'),
  ];

  it.each(['RS256', 'RS512', 'PS256', 'PS384', 'ES256', 'ES384', 'ES512', 'EdDSA'])(
    'is asked for when a signature fails: %s',
    async (alg) => {
      const [before, after] = await pairOf(alg);
      const issuer = await start(before.publicJwk);
      const keys = keysOf(issuer);
      for (let i = 0; i < 3; i++) expect(await subject(await issuer.sign(before), keys)).toBe('alice');
      expect(issuer.take()).toHaveLength(1);
      issuer.published = [after.publicJwk];
      expect(await subject(await issuer.sign(after), keys)).toBe('alice');
      expect(issuer.take()).toHaveLength(1);
      for (let i = 0; i < 100; i++)
        await expect(subject(await issuer.sign(before), keys)).rejects.toThrow('signature');
      expect(issuer.take()).toEqual([]); // within unknownKey
    },
  );

  it('is asked for once by all tokens that come meanwhile, and once in unknownKey', async () => {
    const [before, after] = await pairOf('ES256');
    const issuer = await start(before.publicJwk);
    const clock = new FakeClock();
    const keys = keysOf(issuer, { clock, schedule: '1h' });
    await subject(await issuer.sign(before), keys);
    await clock.advance(1);
    issuer.published = [after.publicJwk];
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, i) => issuer.sign(after, { i })));
    expect(new Set(await Promise.all(tokens.map((token) => subject(token, keys))))).toEqual(
      new Set(['alice']),
    );
    expect(issuer.take()).toHaveLength(2);
    issuer.published = [before.publicJwk];
    const returned = await issuer.sign(before);
    await expect(subject(returned, keys)).rejects.toThrow('signature');
    await clock.advance('29s');
    await expect(subject(returned, keys)).rejects.toThrow('signature');
    expect(issuer.take()).toEqual([]);
    await clock.advance('1s');
    expect(await subject(returned, keys)).toBe('alice');
    expect(issuer.take()).toHaveLength(1);
  });

  it('counts together with unknown keys: forged tokens cause one load, and the good ones verify', async () => {
    const [before, other] = await pairOf('ES256');
    const issuer = await start(before.publicJwk);
    const clock = new FakeClock();
    const keys = keysOf(issuer, { clock, schedule: '1h' });
    const good = await issuer.sign(before);
    await subject(good, keys);
    await clock.advance(1);
    issuer.take();
    for (let i = 0; i < 200; i++) {
      await expect(subject(await issuer.sign(other, { i }), keys)).rejects.toThrow('signature');
      await expect(subject(await issuer.sign({ ...other, kid: `forged ${i}` }), keys)).rejects.toThrow();
    }
    expect(issuer.take()).toHaveLength(1);
    expect(await subject(good, keys)).toBe('alice');
  });

  it('is not asked for where unknownKey is Infinity, nor for a signature that is none', async () => {
    const [before, after] = await pairOf('ES256');
    const issuer = await start(before.publicJwk);
    const never = keysOf(issuer, { unknownKey: Number.POSITIVE_INFINITY });
    const keys = keysOf(issuer);
    const good = await issuer.sign(before);
    for (const one of [never, keys]) await subject(good, one);
    issuer.published = [after.publicJwk];
    issuer.take();
    await expect(subject(await issuer.sign(after), never)).rejects.toThrow('signature');
    const [header, claims] = good.split('.');
    await expect(subject(`${header}.${claims}.A`, keys)).rejects.toThrow();
    expect(issuer.take()).toEqual([]);
  });

  it('is asked for in vain while the issuer is down: the signature is refused, and the good ones verify', async () => {
    const [before, after] = await pairOf('ES256');
    const issuer = await start(before.publicJwk);
    const keys = keysOf(issuer);
    const good = await issuer.sign(before);
    await subject(good, keys);
    issuer.behaviour = 'unavailable';
    await expect(subject(await issuer.sign(after), keys)).rejects.toThrow('signature');
    expect(await subject(good, keys)).toBe('alice');
  });

  it('is found for jsonwebtoken and fast-jwt, which hand over no signature, as their documents here say', async () => {
    const [before, after] = await pairOf('ES256');
    const issuer = await start(before.publicJwk);
    const clock = new FakeClock();
    const keys = keysOf(issuer, { clock, schedule: '1h' });
    const header = { alg: 'ES256', kid: 'one' };
    const pem = await keys.pem({ header });
    issuer.published = [after.publicJwk];
    issuer.take();
    for (let i = 0; i < 100; i++) await keys.member.get({ maxStaleness: '30s' });
    expect(issuer.take()).toEqual([]);
    await clock.advance('31s');
    for (let i = 0; i < 100; i++) await keys.member.get({ maxStaleness: '30s' });
    expect(issuer.take()).toHaveLength(1);
    expect(await keys.pem({ header })).not.toBe(pem);
  });
});
