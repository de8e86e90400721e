import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { httpFreshness, type Kept, type Loaded, RefreshingValue } from '../../../src/index.ts';
import { httpSource } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { contextOf, startOrigin } from './origin.ts';

const CHANGED = 'Wed, 25 Nov 2026 10:00:00 GMT';
const metaOf = (answer: Loaded<unknown> | Kept): Record<string, unknown> | undefined =>
  (answer as Loaded<unknown>).loadedOptions.meta as Record<string, unknown> | undefined;
const isKept = (answer: Loaded<unknown> | Kept): boolean => 'options' in answer;

/** In place of a validator in the notes of a value, from a store that others may write. */
const UNSENDABLE: readonly unknown[] = [
  '"a"\r\nX-Evil: 1',
  '"a"\n',
  '"\u20ac"',
  '\u0000',
  '"\u007f"',
  5,
  true,
  null,
  { a: 1 },
  ['x'],
  '',
];

/** A server that answers conditional requests as the standard says. */
function startConditional(headers: Record<string, string>, body = '[1]') {
  return startOrigin((request, response) => {
    const { 'if-none-match': match, 'if-modified-since': since } = request.headers;
    const isKnown = match === undefined ? since === headers['last-modified'] : match === headers.etag;
    const isAsked = match !== undefined || since !== undefined;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = isAsked && isKnown ? 304 : 200;
    response.end(response.statusCode === 304 ? undefined : body);
  });
}

describe('a value', () => {
  it('is loaded once, and kept while the source has no other', async () => {
    const headers = { etag: '"1"', 'cache-control': 'max-age=60' };
    const origin = await startConditional(headers);
    const clock = new FakeClock();
    const member = new RefreshingValue({
      name: 'prices',
      load: httpSource<number[]>(`${origin.url}/all.json`),
      schedule: httpFreshness(),
      clock,
    });
    const first: number[] = await member.get();
    expect(first).toEqual([1]);
    expect(await member.refresh()).toBe(first);
    headers.etag = '"2"';
    expect(await member.refresh()).not.toBe(first);
    expect(origin.requests.map((request) => request.headers['if-none-match'])).toEqual([
      undefined,
      '"1"',
      '"1"',
    ]);
    expect(member.inspect().counts).toMatchObject({ kept: 1 });
    expect(member.inspect()).toMatchObject({
      meta: { source: `${origin.url}/all.json`, etag: '"2"' },
      nextExecuteTime: clock.now() + 60_000,
    });
    await member.close();
  });

  it('that was restored elsewhere is asked for conditionally, one of another source is not', async () => {
    const origin = await startConditional({ etag: '"1"', 'last-modified': CHANGED });
    const source = httpSource(`${origin.url}/all.json`);
    const meta = metaOf(await source(contextOf()));
    expect(meta).toEqual({
      source: `${origin.url}/all.json`,
      etag: '"1"',
      lastModified: CHANGED,
      editedAt: Date.parse(CHANGED),
      urlHash: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(isKept(await source(contextOf(JSON.parse(JSON.stringify(meta)))))).toBe(true);
    expect(isKept(await source(contextOf({ ...meta, source: '/etc/prices.json' })))).toBe(false);
    expect(isKept(await source({ signal: contextOf().signal, previous: { value: 1, loadedAt: 0 } }))).toBe(
      false,
    );
    expect(origin.requests.map((request) => request.headers['if-none-match'])).toEqual([
      undefined,
      '"1"',
      undefined,
      undefined,
    ]);
  });

  it('that another instance has loaded is asked for conditionally', async () => {
    const origin = await startConditional({ etag: '"1"' });
    const backend = memoryBackend();
    const clock = new FakeClock();
    const make = () => {
      const load = httpSource<number[]>(origin.url);
      return new RefreshingValue({ name: 'prices', load, schedule: '1m', backend, clock, logger: false });
    };
    const [first, second] = [make(), make()];
    await first.get();
    await second.get();
    expect(origin.requests).toHaveLength(1); // it was adopted
    await second.refresh();
    expect(second.inspect().counts.kept).toBe(1);
    expect(origin.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
    await Promise.all([first, second].map((member) => member.close()));
  });

  it.each([
    ['a weak ETag', { etag: 'W/"1"' }, { 'if-none-match': 'W/"1"' }],
    ['a date alone', { 'last-modified': CHANGED }, { 'if-modified-since': CHANGED }],
    ['an empty ETag and a date', { etag: '', 'last-modified': CHANGED }, { 'if-modified-since': CHANGED }],
  ])('is known again by %s', async (_, headers, conditions) => {
    const origin = await startConditional(headers as Record<string, string>);
    const source = httpSource(origin.url);
    const second = await source(contextOf(metaOf(await source(contextOf()))));
    expect(isKept(second)).toBe(true);
    expect(origin.requests[1]?.headers).toMatchObject(conditions);
  });

  it.each([
    ['nothing', {}],
    ['a date within its last second', { 'last-modified': CHANGED, date: CHANGED }],
    ['a date that is none', { 'last-modified': 'yesterday' }],
    ['a placeholder for a date', { 'last-modified': 'Thu, 01 Jan 1970 00:00:01 GMT' }],
    ['a date of zip', { 'last-modified': 'Tue, 01 Jan 1980 00:00:00 GMT' }],
    [
      'a date after that of its response',
      { 'last-modified': CHANGED, date: 'Tue, 24 Nov 2026 10:00:00 GMT' },
    ],
    ['an ETag of 2,000 characters', { etag: `"${'x'.repeat(2000)}"` }],
  ])('is not known again by %s', async (_, headers) => {
    const origin = await startConditional(headers as Record<string, string>);
    const source = httpSource(origin.url);
    const member = new RefreshingValue({ name: 'prices', load: source });
    await member.get();
    await member.refresh();
    expect(member.inspect().counts).toMatchObject({ loaded: 2, kept: 0 });
    for (const { headers } of origin.requests) {
      expect(headers).not.toHaveProperty('if-none-match');
      expect(headers).not.toHaveProperty('if-modified-since');
    }
  });

  it('says nothing of its edition where its date can not be that of one', async () => {
    for (const date of [
      'Thu, 01 Jan 1970 00:00:01 GMT',
      'Sat, 26 Oct 1985 08:15:00 GMT',
      'Fri, 01 Jan 2100 00:00:00 GMT',
    ]) {
      const origin = await startConditional({ etag: '"1"', 'last-modified': date });
      expect(metaOf(await httpSource(origin.url)(contextOf()))).not.toHaveProperty('editedAt');
    }
  });

  it.each(UNSENDABLE)(
    'is asked for without a stored validator that can not be sent: %j',
    async (validator) => {
      const origin = await startConditional({ etag: '"1"' });
      const source = httpSource(origin.url);
      const meta = metaOf(await source(contextOf()));
      for (const notes of [{ etag: validator }, { etag: undefined, lastModified: validator }]) {
        expect(await source(contextOf({ ...meta, ...notes }))).toMatchObject({ loadedValue: [1] });
        const { headers } = origin.requests.at(-1) as { readonly headers: object };
        expect(Object.keys(headers).filter((name) => name.startsWith('if-'))).toEqual([]);
      }
      expect(isKept(await source(contextOf({ ...meta, lastModified: validator })))).toBe(true);
    },
  );

  it('is of the URL that answered: another query is asked without its validators', async () => {
    const origin = await startConditional({ etag: '"1"' });
    let region = 'eu';
    const source = httpSource(async () => new URL(`/all?region=${region}`, origin.url));
    const meta = metaOf(await source(contextOf()));
    expect(meta).toMatchObject({ source: `${origin.url}/all?region=…` });
    expect(isKept(await source(contextOf(meta)))).toBe(true);
    region = 'us';
    expect(isKept(await source(contextOf(meta)))).toBe(false);
  });

  it('with a name of its own is known again whatever the URL is', async () => {
    const origin = await startConditional({ etag: '"1"' });
    let signature = 0;
    const source = httpSource(() => `${origin.url}/all?signature=${signature++}`, { source: 'prices' });
    const meta = metaOf(await source(contextOf()));
    expect(meta).toMatchObject({ source: 'prices' });
    expect(isKept(await source(contextOf(meta)))).toBe(true);
    expect(origin.requests.map(({ path }) => path)).toEqual(['/all?signature=0', '/all?signature=1']);
  });

  it('of a source that ignores conditions is kept by the option unchanged', async () => {
    const origin = await startOrigin((_, response) => response.end('{"a":1}'));
    const member = new RefreshingValue({ name: 'prices', load: httpSource(origin.url), unchanged: 'deep' });
    const first = await member.get();
    expect(await member.refresh()).toBe(first);
    expect(member.inspect().counts).toMatchObject({ kept: 1 });
  });
});

describe('a request', () => {
  it('has the headers of the option, and those of a Request before them', async () => {
    const origin = await startOrigin((_, response) => response.end('1'));
    const headers = { authorization: 'Bearer option', 'x-one': '1' };
    await httpSource(`${origin.url}/a#part`, { headers })(contextOf());
    const request = new Request(`${origin.url}/b`, { headers: { authorization: 'Bearer request' } });
    await httpSource(() => request, { headers: new Headers(headers) })(contextOf());
    expect(origin.requests).toMatchObject([
      { path: '/a', headers: { authorization: 'Bearer option', 'x-one': '1' } },
      { path: '/b', headers: { authorization: 'Bearer request', 'x-one': '1' } },
    ]);
  });

  it('of a function gets its context, and may have a method and a body, but then no conditions', async () => {
    const bodies: string[] = [];
    const origin = await startOrigin(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      bodies.push(`${request.method} ${request.headers['content-type']} ${body}`);
      response.setHeader('etag', '"1"').end('1');
    });
    const source = httpSource<number>(async ({ previous }) => {
      const body = JSON.stringify({ before: previous?.value ?? null });
      const headers = { 'content-type': 'application/json' };
      return new Request(origin.url, { method: 'POST', body, headers });
    });
    const meta = metaOf(await source(contextOf()));
    expect(isKept(await source(contextOf(meta)))).toBe(false);
    expect(bodies).toEqual([
      'POST application/json {"before":null}',
      'POST application/json {"before":"before"}',
    ]);
    expect(origin.requests[1]?.headers).not.toHaveProperty('if-none-match');
  });

  it('has the credentials of its URL as a header, and nothing shows them', async () => {
    const origin = await startOrigin((_, response) => response.end('1'));
    const url = origin.url.replace('//', '//us%C3%A9r:p%40ss@');
    const meta = metaOf(await httpSource(`${url}/all`)(contextOf()));
    const sent = origin.requests[0]?.headers.authorization;
    expect(sent).toBe(`Basic ${Buffer.from('usér:p@ss').toString('base64')}`);
    expect(meta).toMatchObject({ source: `${origin.url}/all` });
    await httpSource(url, { headers: { Authorization: 'Bearer 1' } })(contextOf());
    expect(origin.requests[1]?.headers.authorization).toBe('Bearer 1');
    await httpSource(origin.url.replace('//', '//user:100%@'))(contextOf());
    expect(origin.requests[2]?.headers.authorization).toBe(
      `Basic ${Buffer.from('user:100%').toString('base64')}`,
    );
  });

  it('checks the integrity of its Request', async () => {
    const origin = await startOrigin((_, response) => response.end('1'));
    const digest = (text: string, algorithm = 'sha256'): string =>
      `${algorithm}-${createHash(algorithm).update(text).digest('base64')}`;
    const load = (integrity: string) => httpSource(() => new Request(origin.url, { integrity }))(contextOf());
    for (const integrity of [
      digest('1'),
      digest('1').replace(/=+$/, ''),
      digest('1').replace(/\+/g, '-').replace(/\//g, '_'),
      `sha256-!!! ${digest('1')}`,
      digest('1', 'sha384'),
      `${digest('2', 'sha512')} ${digest('1', 'sha512')}?option`,
      `${digest('2')} ${digest('1', 'sha512')}`, // the strongest counts
      'md5-unknown',
    ])
      expect(await load(integrity)).toMatchObject({ loadedValue: 1 });
    const forged = `${origin.url}/ sent a body that does not match its integrity`;
    for (const integrity of [
      digest('2'),
      `${digest('1')} ${digest('2', 'sha512')}`,
      'sha256',
      'sha256-',
      'sha256-!!!',
      'SHA384-é',
      'sha256-?option',
      'sha256-AAAA,sha256-BBBB',
      'sha256-!!! sha256-???',
      `${digest('1')}x`,
      `${digest('1')} sha512-`, // it is of the strongest
      `md5-unknown ${digest('2')}`,
    ])
      await expect(load(integrity)).rejects.toThrow(forged);
  });

  it('with integrity is kept, redirected, refused and bounded as any other', async () => {
    const origin = await startOrigin(({ url, headers }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/' }).end('moved');
      else if (url === '/none') response.writeHead(404).end('none');
      else if (headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else response.setHeader('etag', '"1"').end('1111');
    });
    const integrity = `sha256-${createHash('sha256').update('1111').digest('base64')}`;
    const source = (path: string, options = {}) =>
      httpSource(() => new Request(origin.url + path, { integrity }), options);
    const meta = metaOf(await source('/')(contextOf()));
    expect(await source('/')(contextOf(meta))).not.toHaveProperty('loadedValue');
    expect(await source('/moved')(contextOf())).toMatchObject({ loadedValue: 1111 });
    await expect(source('/none')(contextOf())).rejects.toThrow('answered 404');
    await expect(source('/', { maxBytes: 3 })(contextOf())).rejects.toThrow('more than maxBytes (3)');
  });

  it('may have a URL of any length, which is cut where it is shown', async () => {
    const origin = await startOrigin((_, response) => response.end('1'));
    const path = `/${'p'.repeat(2000)}`;
    const query = Array.from({ length: 20 }, (_, i) => `${'q'.repeat(100)}${i}=1`).join('&');
    const meta = metaOf(await httpSource(`${origin.url}${path}`)(contextOf()));
    expect(meta?.source).toBe(`${origin.url}/${'p'.repeat(299)}…`);
    const long = metaOf(await httpSource(`${origin.url}${path}?${query}`)(contextOf()));
    expect(long?.source).toHaveLength(600);
    expect(origin.requests[1]?.path).toBe(`${path}?${query}`);
  });

  it('may be answered with an ETag that does not fit into the notes', async () => {
    const etag = `"${'\\'.repeat(990)}"`;
    const origin = await startOrigin((_, response) => response.setHeader('etag', etag).end('1'));
    const value = new RefreshingValue({ name: 'etag', load: httpSource(origin.url), logger: false });
    expect(await value.get()).toBe(1);
    expect(value.inspect().meta).toEqual({ source: `${origin.url}/` });
    await value.close();
  });

  it('is made by the fetch that is given', async () => {
    const calls: unknown[] = [];
    const source = httpSource<string>('http://prices.example/all', {
      fetch: async (url, { method, headers, redirect }) => {
        calls.push({ url, method, headers, redirect });
        return new Response('"there"');
      },
    });
    expect(await source(contextOf())).toMatchObject({ loadedValue: 'there' });
    expect(calls).toEqual([
      { url: 'http://prices.example/all', method: 'GET', headers: {}, redirect: 'manual' },
    ]);
  });
});

describe('a body', () => {
  const compressed = (body: string) =>
    startOrigin((request, response) => {
      const isGzip = String(request.headers['accept-encoding']).includes('gzip');
      if (isGzip) response.setHeader('content-encoding', 'gzip');
      response.end(isGzip ? gzipSync(body) : body);
    });

  it('is JSON, compressed in transit', async () => {
    const origin = await compressed('{"a":1}');
    expect(await httpSource(origin.url)(contextOf())).toMatchObject({ loadedValue: { a: 1 } });
    expect(origin.requests[0]?.headers['accept-encoding']).toContain('gzip');
  });

  it('of another format is not, unless it is asked for', async () => {
    const origin = await compressed('a,b\n1,2');
    const rows: Loaded<Record<string, string>[]> | Kept = await httpSource(origin.url, { parse: 'csv' })(
      contextOf(),
    );
    expect(rows).toMatchObject({ loadedValue: [{ a: '1', b: '2' }] });
    const headers = { 'Accept-Encoding': 'gzip' };
    const text: Loaded<string> | Kept = await httpSource(origin.url, { parse: 'text', headers })(contextOf());
    expect(text).toMatchObject({ loadedValue: 'a,b\n1,2' });
    const lengths: Loaded<number> | Kept = await httpSource(origin.url, {
      parse: ({ bytes }) => bytes.length,
    })(contextOf());
    expect(lengths).toMatchObject({ loadedValue: 7 });
    expect(origin.requests.map(({ headers }) => headers['accept-encoding'])).toEqual([
      'identity',
      'gzip',
      'identity',
    ]);
  });

  it('of a status that is accepted may be missing', async () => {
    const origin = await startOrigin((_, response) => response.writeHead(204).end());
    const source = httpSource<string>(origin.url, { statuses: [200, 204], parse: 'text' });
    expect(await source(contextOf())).toMatchObject({ loadedValue: '' });
  });
});
