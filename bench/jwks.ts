// `node scripts/bench.mjs jwks`: verifications and requests while the keys of an issuer can't be had, and under forged tokens, as
// counts, in half a minute. Each library has an issuer of its own on loopback, and keeps keys for a second; all else is its default.

import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import jwksRsa from 'jwks-rsa';
import { jwks } from '../dist/jwks/index.js';
import { type Behaviour, forged, Issuer, type SigningKey, signingKey } from '../test/support/issuer.ts';
import { table } from './table.ts';

const KEPT_MS = 1000;
const OUTAGE_MS = 10_000;
const EVERY_MS = 50;
/** A verification that takes longer counts as failed. */
const PATIENCE_MS = 1000;
const FORGED = 1000;

/** Verifies one token, or rejects. */
type Verify = (token: string) => Promise<unknown>;

function withJwksRsa(options: Partial<jwksRsa.Options>): (url: string) => Verify {
  return (jwksUri) => {
    const client = jwksRsa({ jwksUri, cacheMaxAge: KEPT_MS, ...options });
    const getKey: jsonwebtoken.GetPublicKeyOrSecret = ({ kid }, done) => {
      client.getSigningKey(kid).then((key) => done(null, key.getPublicKey()), done);
    };
    return (token) =>
      new Promise((resolve, reject) => {
        jsonwebtoken.verify(token, getKey, (error, payload) => (error ? reject(error) : resolve(payload)));
      });
  };
}

const candidates: Readonly<Record<string, (url: string) => Verify>> = {
  tickless: (url) => {
    const keys = jwks({ url }, { allowHttp: true, schedule: KEPT_MS, logger: false });
    return (token) => jwtVerify(token, keys);
  },
  'jose: createRemoteJWKSet': (url) => {
    const keys = createRemoteJWKSet(new URL(url), { cacheMaxAge: KEPT_MS });
    return (token) => jwtVerify(token, keys);
  },
  'jwks-rsa': withJwksRsa({}),
  'jwks-rsa: cacheMaxAgeFallback': withJwksRsa({ cacheMaxAgeFallback: 86_400_000 }),
  'jwks-rsa: cacheMaxAgeFallback, rateLimit': withJwksRsa({
    cacheMaxAgeFallback: 86_400_000,
    rateLimit: true,
  }),
};

const isVerified = (verified: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    verified.then(
      () => true,
      () => false,
    ),
    sleep(PATIENCE_MS, false),
  ]);

/** How many of the tokens are verified while the issuer behaves so, and how often that is asked meanwhile. */
async function during(
  behaviour: Behaviour,
  open: (url: string) => Verify,
  key: SigningKey,
): Promise<[verified: string, requests: number]> {
  const issuer = await Issuer.start(key);
  const verify = open(issuer.jwksUrl);
  const token = await issuer.sign(key);
  await verify(token);
  issuer.behaviour = behaviour;
  issuer.take();
  const verified: Promise<boolean>[] = [];
  for (let elapsed = 0; elapsed < OUTAGE_MS; elapsed += EVERY_MS) {
    verified.push(isVerified(verify(token)));
    await sleep(EVERY_MS);
  }
  const requests = issuer.take().length;
  const ok = (await Promise.all(verified)).filter(Boolean).length;
  await issuer.close();
  return [`${Math.round((100 * ok) / verified.length)} %`, requests];
}

/** How often the issuer is asked for tokens with as many unknown keys, and whether a sound one is verified after them. */
async function underForgedTokens(open: (url: string) => Verify, key: SigningKey): Promise<[number, string]> {
  const issuer = await Issuer.start(key);
  const verify = open(issuer.jwksUrl);
  const token = await issuer.sign(key);
  await verify(token);
  issuer.take();
  for (let i = 0; i < FORGED; i++) await verify(forged({ alg: key.alg, kid: `forged ${i}` })).catch(() => {});
  await sleep(KEPT_MS);
  const requests = issuer.take().length;
  const isSound = await isVerified(verify(token));
  await issuer.close();
  return [requests, isSound ? 'yes' : 'no'];
}

const key = await signingKey('RS256', 'one');
const rows = await Promise.all(
  Object.entries(candidates).map(async ([name, open]) => [
    name,
    ...(await during('unavailable', open, key)),
    ...(await during('hangs', open, key)),
    ...(await underForgedTokens(open, key)),
  ]),
);
console.log(
  table(
    [
      '',
      '503: verified',
      'requests',
      'hangs: verified',
      'requests',
      `${FORGED} forged: requests`,
      'then verified',
    ],
    rows,
  ),
);
process.exit(); // clients that wait for answers of an issuer that is gone
