import { jwtVerify } from 'jose';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { isTicklessError, RefreshGroup } from '../../../src/index.ts';
import { type Jwks, type JwksOptions, jwks } from '../../../src/jwks/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { type Behaviour, forged, Issuer, type SigningKey, signingKey } from '../../support/issuer.ts';

let issuer: Issuer;
let clock: FakeClock;
let one: SigningKey;
let two: SigningKey;
let members: Jwks[];

beforeEach(async () => {
  one = await signingKey('ES256', 'one');
  two = await signingKey('ES256', 'two');
  issuer = await Issuer.start(one);
  clock = new FakeClock();
  members = [];
});
afterEach(async () => {
  for (const { member } of members) await member.close({ timeout: 0 });
  await issuer.close();
});

function make(options: JwksOptions = {}): Jwks {
  const keys = jwks({ url: issuer.jwksUrl }, { allowHttp: true, logger: false, clock, ...options });
  members.push(keys);
  return keys;
}

const subject = async (token: string, keys: Jwks): Promise<unknown> =>
  (await jwtVerify(token, keys)).payload.sub;
const rejection = (token: string, keys: Jwks): Promise<Error & { readonly code?: string }> =>
  subject(token, keys).then(
    () => expect.unreachable('it is verified'),
    (error) => error,
  );
const codeOf = (error: { readonly code?: unknown }): unknown => error.code;

const FAULTS: readonly Behaviour[] = ['unavailable', 'cut', 'hangs', 'drips', 'garbage', 'empty', 'moved'];

it.each(FAULTS)('verifies with the keys of before while the issuer answers so: %s', async (fault) => {
  const keys = make();
  const token = await issuer.sign(one);
  await subject(token, keys);
  issuer.behaviour = fault;
  issuer.take();
  await clock.advance({ minutes: 11 });
  for (let i = 0; i < 100; i++) expect(await subject(token, keys)).toBe('alice');
  await expect.poll(() => issuer.requests.length).toBe(1);
  await expect // `hangs` and `drips` end at the deadline, which the others do not come to
    .poll(async () => {
      await clock.advance({ seconds: 2 });
      return keys.member.inspect().failures;
    })
    .toBe(1);
  const asked = issuer.take();
  expect(asked.length).toBeLessThanOrEqual(3); // with the two retries of the first failure
  expect(new Set(asked)).toEqual(new Set(['/keys'])); // no redirect is followed
  for (let i = 0; i < 100; i++) expect(await subject(token, keys)).toBe('alice');
  expect(keys.member.inspect().lastError).toBeInstanceOf(Error);
  issuer.behaviour = 'ok';
  issuer.published = [one.publicJwk, two.publicJwk];
  const rotated = await issuer.sign(two);
  await expect
    .poll(async () => {
      await clock.advance({ minutes: 1 });
      return await subject(rotated, keys).catch(codeOf);
    })
    .toBe('alice');
});

it('refuses tokens once the keys are older than maxStaleness, and says why they are', async () => {
  const keys = make({ retry: false });
  const token = await issuer.sign(one);
  await subject(token, keys);
  issuer.behaviour = 'unavailable';
  await clock.advance({ hours: 23, minutes: 59 });
  expect(await subject(token, keys)).toBe('alice');
  await keys.member.refresh().catch(() => undefined);
  await clock.advance({ minutes: 5 });
  const error = await rejection(token, keys);
  expect(error).toSatisfy((error) => isTicklessError(error, 'TOO_STALE'));
  expect([error.message, (error.cause as Error).message]).toEqual([
    expect.stringContaining('maxStaleness is 1 d'),
    expect.stringContaining('503'),
  ]);
  issuer.behaviour = 'ok';
  await clock.advance({ minutes: 5 });
  expect(await subject(token, keys)).toBe('alice');
});

it('rejects while there are no keys yet, at once during a cool-down', async () => {
  issuer.behaviour = 'unavailable';
  const keys = make({ retry: false });
  const token = await issuer.sign(one);
  const errors = await Promise.all(Array.from({ length: 100 }, () => subject(token, keys).catch(codeOf)));
  expect(new Set(errors)).toEqual(new Set(['LOAD_FAILED']));
  expect(await subject(token, keys).catch(codeOf)).toBe('COOLING_DOWN');
  expect(issuer.take()).toHaveLength(1);
});

it('loads once in unknownKey for unknown kids, however many there are', async () => {
  const keys = make();
  const token = await issuer.sign(one);
  await subject(token, keys);
  await clock.advance({ seconds: 5 });
  issuer.take();
  for (let burst = 0; burst < 5; burst++) {
    const codes = await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        subject(forged({ alg: 'ES256', kid: `${burst}/${i}` }), keys).catch(codeOf),
      ),
    );
    expect(new Set(codes)).toEqual(new Set(['ERR_TICKLESS_JWKS_NO_KEY']));
    expect(issuer.take()).toHaveLength(burst === 0 ? 1 : 0);
    await clock.advance({ seconds: 5 });
  }
  await clock.advance({ seconds: 5 });
  await subject(forged({ alg: 'ES256', kid: 'late' }), keys).catch(codeOf);
  expect(issuer.take()).toHaveLength(1);
  expect(await subject(token, keys)).toBe('alice');
  expect(keys.member.peek()?.keys).toHaveLength(1);
});

it('finds a key at the first token that names it, and all others with it wait for the same load', async () => {
  const keys = make();
  await subject(await issuer.sign(one), keys);
  await clock.advance({ seconds: 1 });
  issuer.published = [one.publicJwk, two.publicJwk];
  issuer.take();
  const token = await issuer.sign(two);
  const found = await Promise.all(Array.from({ length: 100 }, () => subject(token, keys)));
  expect(new Set(found)).toEqual(new Set(['alice']));
  expect(issuer.take()).toHaveLength(1);
});

it('does not load twice for the first token', async () => {
  const keys = make();
  const code = await subject(forged({ alg: 'ES256', kid: 'unknown' }), keys).catch(codeOf);
  expect([code, issuer.take()]).toEqual(['ERR_TICKLESS_JWKS_NO_KEY', ['/keys']]);
});

it('leaves the issuer alone during a cool-down, and says that the key may be new', async () => {
  const keys = make({ retry: false, unknownKey: '1s', coolDown: '1m' });
  await subject(await issuer.sign(one), keys);
  await clock.advance({ seconds: 1 });
  issuer.behaviour = 'unavailable';
  issuer.take();
  const token = await issuer.sign(two);
  for (let second = 0; second < 20; second++) {
    const error = await rejection(token, keys);
    expect([error.code, error.cause]).toEqual(['ERR_TICKLESS_JWKS_NO_KEY', expect.any(Error)]);
    await clock.advance({ seconds: 1 });
  }
  expect(issuer.take()).toHaveLength(1);
});

it('counts no load that a cool-down has prevented', async () => {
  const keys = make({ retry: false, coolDown: '5s' });
  await subject(await issuer.sign(one), keys);
  await clock.advance({ minutes: 1 });
  issuer.behaviour = 'unavailable';
  await keys.member.refresh().catch(codeOf);
  issuer.take();
  const token = await issuer.sign(two);
  for (let i = 0; i < 3; i++) {
    const error = await rejection(token, keys);
    expect([error.code, error.cause]).toEqual(['ERR_TICKLESS_JWKS_NO_KEY', expect.any(Error)]);
  }
  expect(issuer.take()).toEqual([]);
  issuer.behaviour = 'ok';
  issuer.published = [one.publicJwk, two.publicJwk];
  await clock.advance({ seconds: 6 });
  expect(await subject(token, keys)).toBe('alice');
});

it('verifies no more with a key that was withdrawn, after the next load', async () => {
  issuer.published = [one.publicJwk, two.publicJwk];
  const keys = make();
  const token = await issuer.sign(two);
  await subject(token, keys);
  issuer.published = [one.publicJwk];
  await clock.advance({ minutes: 11 });
  expect(await subject(token, keys)).toBe('alice'); // the load runs behind it
  await expect.poll(() => subject(token, keys).catch(codeOf)).toBe('ERR_TICKLESS_JWKS_NO_KEY');
});

it('finds a new key at the first token also where the keys of another instance were taken over', async () => {
  const backend = memoryBackend();
  await make({ backend, name: 'login' }).member.refresh();
  issuer.published = [two.publicJwk];
  issuer.take();
  await clock.advance({ seconds: 1 });
  const late = make({ backend, name: 'login' });
  expect(await subject(await issuer.sign(two), late)).toBe('alice');
  expect(issuer.take()).toHaveLength(1);
});

it('takes no rule from its group that would make it fail in an outage, or go on for ever', async () => {
  const group = new RefreshGroup({ clock, logger: false, whenTooStale: 'throw', whenFailing: 'throw' });
  const keys = make({ group, retry: false });
  const token = await issuer.sign(one);
  await subject(token, keys);
  issuer.behaviour = 'unavailable';
  await keys.member.refresh().catch(() => undefined);
  expect(await subject(token, keys)).toBe('alice');
  await clock.advance({ days: 2 });
  expect(await rejection(token, keys)).toSatisfy((error) => isTicklessError(error, 'TOO_STALE'));
});

it('loads for no unknown kid where unknownKey is Infinity', async () => {
  const keys = make({ unknownKey: Infinity });
  await subject(await issuer.sign(one), keys);
  issuer.take();
  const code = await subject(forged({ alg: 'ES256', kid: 'unknown' }), keys).catch(codeOf);
  expect([code, issuer.take()]).toEqual(['ERR_TICKLESS_JWKS_NO_KEY', []]);
});

it.each([
  ['max-age=5', 60],
  ['max-age=600, must-revalidate', 600],
  ['max-age=86400', 3600],
  ['no-store', 60],
  ['', 600],
])('is due when the response is no longer fresh, within bounds: %s', async (cacheControl, seconds) => {
  if (cacheControl !== '') issuer.headers = { 'cache-control': cacheControl };
  const keys = make();
  const token = await issuer.sign(one);
  await subject(token, keys);
  issuer.take();
  await clock.advance({ seconds: seconds - 1 });
  await subject(token, keys);
  expect(issuer.take()).toHaveLength(0);
  await clock.advance({ seconds: 2 });
  await subject(token, keys);
  await expect.poll(() => issuer.requests).toHaveLength(1);
  issuer.behaviour = 'cut';
  await clock.advance({ hours: 20 });
  expect(await subject(token, keys)).toBe('alice'); // whatever it says of stale responses
});
