import { jwtVerify } from 'jose';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { isJwksError, type JwksOptions, jwks } from '../../../src/jwks/index.ts';
import { jwksUriOf } from '../../../src/jwks/issuer.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Issuer, type SigningKey, signingKey } from '../../support/issuer.ts';
import { thrownBy } from '../../support/settle.ts';

let issuer: Issuer;
let one: SigningKey;

beforeEach(async () => {
  one = await signingKey('ES256', 'one');
  issuer = await Issuer.start(one);
});
afterEach(() => issuer.close());

const OPTIONS: JwksOptions = { allowHttp: true, logger: false, retry: false };

/** Verifies one token, and says what happened. */
async function outcome(
  address: string | { readonly url: string },
  options: JwksOptions = {},
): Promise<unknown> {
  const keys = jwks(address, { ...OPTIONS, ...options });
  try {
    return (await jwtVerify(await issuer.sign(one), keys)).payload.sub;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await keys.member.close();
  }
}

it('asks the metadata of the issuer for the URL of its keys', async () => {
  expect(await outcome(issuer.url)).toBe('alice');
  expect(issuer.take()).toEqual(['/.well-known/openid-configuration', '/keys']);
});

it('asks with each load, so a set that has moved is found', async () => {
  const clock = new FakeClock();
  const two = await signingKey('ES256', 'two');
  const keys = jwks(issuer.url, { ...OPTIONS, clock });
  await jwtVerify(await issuer.sign(one), keys);
  await clock.advance({ seconds: 1 });
  issuer.metadata = { jwks_uri: `${issuer.url}/elsewhere` };
  issuer.published = [two.publicJwk];
  issuer.take();
  await jwtVerify(await issuer.sign(two), keys);
  expect(issuer.take()).toEqual(['/.well-known/openid-configuration', '/elsewhere']);
  await keys.member.close();
});

it('asks no metadata for { url }', async () => {
  expect(await outcome({ url: issuer.jwksUrl })).toBe('alice');
  expect(issuer.take()).toEqual(['/keys']);
});

it('asks as RFC 8414 says where OpenID Connect has nothing, with the path of the issuer after it', async () => {
  issuer.behaviour = ({ url = '' }, response) => {
    const metadata = { issuer: `${issuer.url}/tenant`, jwks_uri: issuer.jwksUrl };
    if (url === '/keys') response.end(JSON.stringify({ keys: issuer.published }));
    else if (url.startsWith('/.well-known/oauth')) response.end(JSON.stringify(metadata));
    else response.writeHead(404).end();
  };
  expect(await outcome(`${issuer.url}/tenant`)).toBe('alice');
  expect(issuer.take()).toEqual([
    '/tenant/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/tenant',
    '/keys',
  ]);
});

it('of an issuer without metadata the error says what to write', async () => {
  issuer.behaviour = (_request, response) => void response.writeHead(404).end();
  const error = await outcome(issuer.url);
  expect(error).toContain('/.well-known/oauth-authorization-server answered 404 Not Found');
  expect(error).toContain('give the URL of its keys: jwks({ url })');
});

it('asks no second URL where the first one fails', async () => {
  issuer.behaviour = 'unavailable';
  expect(await outcome(issuer.url)).toContain('503');
  expect(issuer.take()).toEqual(['/.well-known/openid-configuration']);
});

it('takes an issuer with a slash at its end to the letter', async () => {
  expect(await outcome(`${issuer.url}/`)).toContain(
    `it is the metadata of "${issuer.url}", and must be that of "${issuer.url}/", to the letter`,
  );
  expect(issuer.take()).toEqual(['/.well-known/openid-configuration']);
  issuer.metadata = { issuer: `${issuer.url}/` };
  expect(await outcome(`${issuer.url}/`)).toBe('alice');
});

it.each([
  [{ issuer: 'https://other.example' }, 'it is the metadata of "https://other.example"'],
  [{ issuer: undefined }, 'it is the metadata of undefined'],
  [{ jwks_uri: undefined }, 'its jwks_uri must be a URL, received undefined'],
  [{ jwks_uri: ['https://issuer.example'] }, 'its jwks_uri must be a URL'],
  [{ jwks_uri: '/keys' }, 'its jwks_uri must be a URL, received "/keys"'],
  [{ jwks_uri: 'file:///etc/passwd' }, 'its jwks_uri must be an https: or http: URL'],
  [{ jwks_uri: 'http://a:b@127.0.0.1/keys' }, 'its jwks_uri must be a URL without a user and a password'],
])('refuses metadata that is not its own or leads elsewhere: %o', async (metadata, problem) => {
  issuer.metadata = metadata;
  expect(await outcome(issuer.url)).toContain(problem);
  expect(issuer.take()).toEqual(['/.well-known/openid-configuration']);
});

it('follows no jwks_uri without TLS, unless allowHttp is given', async () => {
  const metadata = { issuer: 'https://issuer.example', jwks_uri: 'http://169.254.169.254/latest/meta-data' };
  expect(() => jwksUriOf(metadata, 'https://issuer.example', { allowHttp: false })).toThrow(
    'its jwks_uri must be an https: URL',
  );
});

it('sends headers to the origin of the issuer only, wherever the keys are', async () => {
  const other = await Issuer.start(one);
  const seen: unknown[] = [];
  other.behaviour = ({ headers }, response) => {
    seen.push(headers['x-api-key']);
    response.end(JSON.stringify({ keys: other.published }));
  };
  issuer.behaviour = ({ headers }, response) => {
    seen.push(headers['x-api-key']);
    response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: other.jwksUrl }));
  };
  expect(await outcome(issuer.url, { headers: { 'X-Api-Key': 'secret' } })).toBe('alice');
  expect(seen).toEqual(['secret', undefined]);
  expect(await outcome({ url: other.jwksUrl }, { headers: { 'X-Api-Key': 'secret' } })).toBe('alice');
  expect(seen.slice(2)).toEqual(['secret']);
  await other.close();
});

it('asks for a new edition only, also an instance that has taken the keys over', async () => {
  const conditions: unknown[] = [];
  issuer.behaviour = ({ headers }, response) => {
    conditions.push(headers['if-none-match']);
    const isSame = headers['if-none-match'] === '"1"';
    response.writeHead(isSame ? 304 : 200, { etag: '"1"' });
    response.end(isSame ? undefined : JSON.stringify({ keys: issuer.published }));
  };
  const options = { ...OPTIONS, backend: memoryBackend(), name: 'login' };
  const [first, second] = [jwks({ url: issuer.jwksUrl }, options), jwks({ url: issuer.jwksUrl }, options)];
  await first.member.refresh();
  await second.member.get();
  await second.member.refresh();
  expect(conditions).toEqual([undefined, '"1"']);
  expect(second.member.inspect().meta).toMatchObject({ source: issuer.jwksUrl });
  expect((await jwtVerify(await issuer.sign(one), second)).payload.sub).toBe('alice');
  await first.member.close();
  await second.member.close();
});

it('shows no credentials of an address, of metadata or of headers in an error', async () => {
  const shown = (call: () => unknown): string => {
    const error = thrownBy(call) as Error;
    return JSON.stringify([error.message, error]);
  };
  const issuerUrl = 'https://issuer.example';
  const [metadata, options] = [{ issuer: issuerUrl }, { allowHttp: false }];
  for (const text of [
    shown(() => jwks('https://alice:secret@issuer.example')),
    shown(() => jwks({ url: 'https://alice:secret@issuer.example/keys?key=secret' })),
    shown(() => jwks(issuerUrl, { headers: { 'X-Api-Key': 'secret\0' } })),
    shown(() => jwksUriOf({ ...metadata, jwks_uri: 'https://a:secret@b.example' }, issuerUrl, options)),
  ]) {
    expect(text).toMatch(/must be/);
    expect(text).not.toContain('secret');
  }
});

it('says that a set of metadata is no set of keys, with a code', async () => {
  const keys = jwks({ url: `${issuer.url}/.well-known/openid-configuration` }, OPTIONS);
  const error = await keys.member.get().catch((reason) => reason);
  expect(error.message).toContain('it is not a JWK Set: it has no array of keys');
  const causes = [error.cause, error.cause?.cause, error.cause?.cause?.cause];
  expect(causes.find(isJwksError)?.code).toBe('ERR_TICKLESS_JWKS_SET');
  await keys.member.close();
});

it.each([
  ['http://issuer.example', 'issuer must be an https: URL (allowHttp: true takes http: too)'],
  ['issuer.example', 'issuer must be a URL'],
  ['https://a:b@issuer.example', 'issuer must be a URL without a user and a password'],
  ['https://issuer.example?p=1', 'issuer must be without a query and a fragment'],
  ['https://issuer.example#keys', 'issuer must be without a query and a fragment'],
  [new URL('https://issuer.example'), 'issuer must be a text, or an object with a url'],
  [undefined, 'issuer must be a text, or an object with a url'],
  [{ url: 'http://issuer.example/keys' }, 'url must be an https: URL'],
  [{ url: 'https://a:b@issuer.example/keys' }, 'url must be a URL without a user and a password'],
  [{}, 'url must be a URL, received undefined'],
  [{ uri: 'https://issuer.example/keys' }, 'uri is unknown'],
])('refuses an address that it would not ask: %s', (address, problem) => {
  expect(() => jwks(address as never)).toThrow(problem);
});

it.each([
  [{ unknownKey: 0 }, 'unknownKey must be a duration over 0'],
  [{ allowHttp: 'yes' }, 'allowHttp must be true or false'],
  [{ maxBytes: 0 }, 'maxBytes must be a whole number of 1 or more'],
  [{ maxKeys: 1.5 }, 'maxKeys must be a whole number of 1 or more'],
  [{ fetch: 'node' }, 'fetch must be a function'],
  [{ load: () => ({}) }, 'load is unknown'],
  [{ unknownKeys: '1m' }, 'unknownKeys is unknown (did you mean unknownKey?)'],
  [{ maxStaleness: '1m', schedule: '10m' }, 'maxStaleness must be longer than the schedule'],
  [{ name: '' }, 'name must be a string that is not empty'],
])('refuses options that break a rule: %o', (options, problem) => {
  expect(() => jwks('https://issuer.example', options as never)).toThrow(problem);
});

it('has the name of its issuer without the values of a query, and takes options as of any value', () => {
  expect(jwks('https://issuer.example').member.inspect().name).toBe('jwks(https://issuer.example)');
  const keys = jwks({ url: new URL('https://issuer.example/keys?p=secret') });
  expect(keys.member.inspect().name).toBe('jwks(https://issuer.example/keys?p=…)');
  expect(jwks('https://issuer.example', { name: 'login', schedule: undefined }).member.inspect().name).toBe(
    'login',
  );
});
