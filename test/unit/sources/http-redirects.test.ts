import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Kept, Loaded } from '../../../src/index.ts';
import { type HttpFetch, type HttpResponse, httpSource } from '../../../src/sources/index.ts';
import { localhostCertificate } from './localhost-certificate.ts';
import { contextOf, messageOf, type Origin, startHttpsOrigin, startOrigin } from './origin.ts';

/** A server that redirects `/302/<URL>` to that URL, and answers with the path elsewhere. */
const redirecting = (etag = '"1"') => startOrigin(listener(etag));

function listener(etag: string): Parameters<typeof startOrigin>[0] {
  return ({ url = '', headers }, response) => {
    const [, status, location] = /^\/(30\d)\/(.*)$/.exec(url) ?? [];
    if (status !== undefined) response.writeHead(Number(status), { location }).end('moved');
    else if (headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.setHeader('etag', etag).end(JSON.stringify(url));
  };
}

const loadedOf = async (answer: Promise<Loaded<unknown> | Kept>): Promise<unknown> =>
  ((await answer) as Loaded<unknown>).loadedValue;
const metaOf = async (answer: Promise<Loaded<unknown> | Kept>) =>
  ((await answer) as Loaded<unknown>).loadedOptions.meta as Record<string, unknown>;
const load = (url: string, headers: Record<string, string> = {}) => httpSource(url, { headers })(contextOf());
const SECRETS = {
  authorization: 'Bearer SECRET',
  cookie: 'id=SECRET',
  'x-api-key': 'SECRET',
  accept: 'application/json',
};

/** `fetch` over `node:https`, which trusts our certificate. */
const trusting: HttpFetch = (url, { headers, method, signal }) =>
  new Promise((resolve, reject) => {
    const options = { ca: localhostCertificate.cert, headers, method, signal };
    const request = httpsRequest(url, options, (response) => {
      const { statusCode: status = 0, statusMessage: statusText = '' } = response;
      const get = (name: string): string | null => (response.headers[name.toLowerCase()] as string) ?? null;
      const body = Readable.toWeb(response) as unknown as HttpResponse['body'];
      resolve({ status, statusText, headers: { get }, body });
    });
    request.on('error', reject).end();
  });

describe('a redirect', () => {
  it.each(['301', '302', '303', '307', '308'])(
    '%s is followed, on the same host with all headers',
    async (status) => {
      const origin = await redirecting();
      expect(await loadedOf(load(`${origin.url}/${status}//there?a=1`, SECRETS))).toBe('/there?a=1');
      for (const { headers } of origin.requests) expect(headers).toMatchObject(SECRETS);
      expect(origin.requests).toHaveLength(2);
    },
  );

  it.each([
    ['POST', '301', 'GET'],
    ['POST', '302', 'GET'],
    ['PUT', '302', 'PUT'],
    ['DELETE', '303', 'GET'],
    ['POST', '307', 'POST'],
    ['POST', '308', 'POST'],
  ])('of a %s without a body by %s is a %s, as on the platform', async (method, status, expected) => {
    const methods: (string | undefined)[] = [];
    const origin = await startOrigin((request, response) => {
      methods.push(request.method);
      listener('"1"')(request, response);
    });
    const url = `${origin.url}/${status}//there`;
    expect(await loadedOf(httpSource(() => new Request(url, { method }))(contextOf()))).toBe('/there');
    await fetch(url, { method });
    expect(methods).toEqual([method, expected, method, expected]);
  });

  it('to a path in UTF-8 is followed', async () => {
    const location = Buffer.from('/caf\u00e9').toString('latin1');
    const origin = await startOrigin(({ url }, response) => {
      if (url === '/') response.writeHead(302, { location }).end();
      else response.end(JSON.stringify(url));
    });
    expect(await loadedOf(load(origin.url))).toBe('/caf%C3%A9');
  });

  it('to another host is followed without what may be a credential, also if it leads back', async () => {
    const [first, other] = [await redirecting(), await redirecting()];
    const back = `${other.url}/307/${first.url}/there`;
    expect(await loadedOf(load(`${first.url}/302/${back}`, SECRETS))).toBe('/there');
    expect(first.requests[0]?.headers).toMatchObject(SECRETS);
    for (const { headers } of [other.requests[0], first.requests[1]] as Origin['requests']) {
      expect(headers).toMatchObject({ accept: 'application/json' });
      expect(JSON.stringify(headers)).not.toContain('SECRET');
    }
  });

  it('with credentials in its URL is followed without them', async () => {
    const [first, other] = [await redirecting(), await redirecting()];
    expect(await loadedOf(load(`${first.url}/302/${other.url.replace('//', '//user:pass@')}/there`))).toBe(
      '/there',
    );
    expect(other.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('from https to http is not followed', async () => {
    const plain = await redirecting();
    const secure = await startHttpsOrigin(listener('"1"'));
    const source = (path: string) => httpSource(`${secure.url}${path}`, { fetch: trusting })(contextOf());
    expect(await loadedOf(source('/302//there'))).toBe('/there');
    expect(await messageOf(source(`/302/${plain.url}/there?key=SECRET`))).toMatch(
      new RegExp(
        `^${secure.url}/302/.* redirects to another scheme, which is not followed: ${plain.url}/there\\?key=…$`,
      ),
    );
    expect(plain.requests).toHaveLength(0);
  });

  it.each([
    'https://127.0.0.1:1/there',
    'ftp://127.0.0.1/there',
    'data:application/json,1',
    'file:///etc/passwd',
  ])('from http to %s is not followed', async (location) => {
    const origin = await redirecting();
    expect(await messageOf(load(`${origin.url}/302/${location}`))).toContain(
      'another scheme, which is not followed',
    );
  });

  it('in a loop ends', async () => {
    const origin = await startOrigin((_, response) => response.writeHead(302, { location: '/again' }).end());
    expect(await messageOf(load(`${origin.url}/again?key=SECRET`))).toBe(
      `${origin.url}/again?key=… redirects more than 20 times`,
    );
    expect(origin.requests).toHaveLength(21);
  });

  it('without a URL to go to is an error of its status', async () => {
    const origin = await startOrigin(({ url }, response) =>
      response.writeHead(302, url === '/bad' ? { location: 'http://[' } : {}).end(),
    );
    expect(await messageOf(load(origin.url))).toBe(`${origin.url}/ answered 302 Found`);
    expect(await messageOf(load(`${origin.url}/bad`))).toBe(`${origin.url}/bad answered 302 Found`);
  });

  it('that a Request does not follow is an error that names where it leads', async () => {
    const origin = await redirecting();
    const url = `${origin.url}/302//there?key=SECRET`;
    for (const init of [
      { redirect: 'manual' },
      { redirect: 'error' },
      { method: 'POST', body: 'x' },
    ] as const) {
      const message = await messageOf(httpSource(() => new Request(url, init))(contextOf()));
      expect(message).toBe(
        `${origin.url}/302//there?key=… answered 302 Found, a redirect to ${origin.url}/there?key=… that is not followed`,
      );
    }
    expect(origin.requests).toHaveLength(3);
  });

  it('asks the URL that answered before conditionally, and no other one', async () => {
    let latest = '/v1';
    const origin = await startOrigin(({ url, headers }, response) => {
      if (url === '/latest') return response.writeHead(302, { location: latest }).end();
      if (headers['if-none-match'] === '"1"') return response.writeHead(304).end();
      return response.setHeader('etag', '"1"').end(JSON.stringify(url));
    });
    const source = httpSource(`${origin.url}/latest`);
    const meta = await metaOf(source(contextOf()));
    expect(await source(contextOf(meta))).toHaveProperty('options'); // kept
    latest = '/v2';
    expect(await loadedOf(source(contextOf(meta)))).toBe('/v2');
    expect(origin.requests.map(({ path, headers }) => `${path} ${headers['if-none-match']}`)).toEqual([
      '/latest undefined',
      '/v1 undefined',
      '/latest undefined',
      '/v1 "1"',
      '/latest undefined',
      '/v2 undefined',
    ]);
  });
});
