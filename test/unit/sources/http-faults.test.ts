import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { type HttpSourceOptions, httpSource } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf } from '../../support/settle.ts';
import { contextOf, messageOf, startOrigin, startRawOrigin } from './origin.ts';

const load = (url: string, options?: HttpSourceOptions<unknown>) => httpSource(url, options)(contextOf());
const MEGABYTE = 2 ** 20;

describe('a status', () => {
  it('is an error that names it and the URL, without credentials and values of the query', async () => {
    const origin = await startOrigin((_, response) => response.writeHead(404).end('SECRET'));
    const url = `${origin.url.replace('//', '//user:SECRET@')}/all?key=SECRET&SECRET&page=1#SECRET`;
    const error = (await rejectionOf(load(url))) as Error;
    expect(error).toMatchObject({
      message: `${origin.url}/all?key=…&…&page=… answered 404 Not Found`,
      status: 404,
    });
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('SECRET');
  });

  it.each([
    ['503 with Retry-After', 503, { 'retry-after': '120' }, 120_000],
    ['429 with a quota that is used up', 429, { ratelimit: '"hour";r=0;t=900' }, 900_000],
    [
      '403 with a quota that is used up',
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '600' },
      600_000,
    ],
    [
      '503 with a date by the clock of its server',
      503,
      { date: 'Fri, 20 Nov 2020 12:00:00 GMT', 'retry-after': 'Fri Nov 20 12:02:00 2020' },
      120_000,
    ],
  ])('%s makes the cool-down that long', async (_, status, headers, ms) => {
    let isDown = false;
    const origin = await startOrigin((_request, response) => {
      if (isDown) response.writeHead(status, { ...headers, 'set-cookie': 'SECRET' });
      response.end('1');
    });
    const clock = new FakeClock();
    const options = { name: 'prices', schedule: '1s', clock, logger: false, retry: false } as const;
    const member = new RefreshingValue({ ...options, load: httpSource<number>(origin.url) });
    expect(await member.get()).toBe(1);
    isDown = true;
    const error = (await member.refresh().catch((reason: unknown) => reason)) as Error;
    expect(error.message).toContain(`${origin.url}/ answered ${status}`);
    expect(JSON.stringify(error.cause)).not.toContain('SECRET');
    expect(await member.get()).toBe(1); // nothing is lost
    const { nextExecuteTime = 0 } = member.inspect();
    expect(nextExecuteTime - clock.now()).toBe(ms);
  });

  it('304 that was not asked for is an error, also beside the value of another source', async () => {
    const origin = await startOrigin((_, response) => response.writeHead(304).end());
    const message = `${origin.url}/ answered 304 Not Modified`;
    expect(await messageOf(load(origin.url))).toBe(message);
    const meta = { source: '/etc/prices.json', etag: '"1"' };
    expect(await messageOf(httpSource(origin.url)(contextOf(meta)))).toBe(message);
    expect(await messageOf(httpSource(origin.url)(contextOf({ source: `${origin.url}/` })))).toBe(message);
  });

  it('204, and an empty body, are no value', async () => {
    const origin = await startOrigin(({ url }, response) =>
      response.writeHead(url === '/204' ? 204 : 200).end(),
    );
    expect(await messageOf(load(`${origin.url}/204`))).toBe(`${origin.url}/204 answered 204 No Content`);
    expect(await messageOf(load(`${origin.url}/`))).toBe(
      `${origin.url}/ answered 200 OK (without a content type): it is empty, not JSON`,
    );
  });
});

it('the reason of the platform is one line, and is given once', async () => {
  const origin = await startOrigin((_request, response) => response.end());
  const member = new RefreshingValue({
    name: 'prices',
    load: httpSource(origin.url.replace('http:', 'https:')),
    retry: false,
  });
  const { message, cause } = (await member.get().catch((error: Error) => error)) as Error;
  const reason = ((cause as Error).cause as Error).message.trim();
  expect(message).toBe(`prices: load failed: ${(cause as Error).message}`);
  expect(message).toMatch(/\S$/);
  expect(message.split(reason)).toHaveLength(2);
});

/** A server of such a body. */
const encoded = (coding: string, body: string | Buffer) =>
  startOrigin((_, response) => response.setHeader('content-encoding', coding).end(body));

describe('a body', () => {
  it.each([
    ['HTML in place of JSON', '<html>SECRET', 'text/html; charset=utf-8', 'line 1, column 1, is not JSON'],
    [
      'JSON that ends too early',
      '{"a":\n"SECRET',
      'application/json',
      'the JSON ends too early, at line 2, column 8',
    ],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'application/json', 'byte 1 is not UTF-8'],
  ])('of %s is an error that quotes nothing of it', async (_, body, type, problem) => {
    const origin = await startOrigin((_request, response) =>
      response.setHeader('content-type', type).end(body),
    );
    const error = (await rejectionOf(load(origin.url))) as Error;
    expect(error.message).toBe(`${origin.url}/ answered 200 OK (${type}): ${problem}`);
    expect(`${error.stack} ${(error.cause as Error).stack}`).not.toContain('SECRET');
  });

  it('that our own function refuses is an error with its message', async () => {
    const origin = await startOrigin((_, response) => response.end('1'));
    const cause = new RangeError('no prices');
    const refusing = (): Promise<never> => Promise.reject(cause);
    await expect(load(origin.url, { parse: refusing })).rejects.toMatchObject({
      message: `${origin.url}/ answered 200 OK (without a content type): no prices`,
      cause,
    });
  });

  it('of 10 GB is refused before it is read', async () => {
    let sent = 0;
    const origin = await startOrigin((_, response) => {
      response.writeHead(200, { 'content-length': 10 * 1024 ** 3 });
      const chunk = Buffer.alloc(MEGABYTE / 4);
      const send = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on('drain', send);
      send();
    });
    expect(await messageOf(load(origin.url))).toBe(
      `${origin.url}/ announces 10737418240 bytes, more than maxBytes (67108864)`,
    );
    expect(sent).toBeLessThan(64 * MEGABYTE);
  });

  it('that announces nothing is cut at maxBytes', async () => {
    let sent = 0;
    const origin = await startOrigin((_, response) => {
      const chunk = Buffer.alloc(MEGABYTE / 4, '1');
      const send = (): void => {
        do sent += chunk.length;
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', send);
      send();
    });
    expect(await messageOf(load(origin.url, { maxBytes: MEGABYTE }))).toBe(
      `${origin.url}/ sends more than maxBytes (1048576)`,
    );
    expect(sent).toBeLessThan(64 * MEGABYTE);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(64 * MEGABYTE, ' '))],
    ['br', brotliCompressSync(Buffer.alloc(64 * MEGABYTE, ' '))],
  ])('that is a bomb of %s is cut at maxBytes', async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(100_000);
    const origin = await encoded(encoding, bomb);
    expect(await messageOf(load(origin.url, { maxBytes: 100_000 }))).toBe(
      `${origin.url}/ sends more than maxBytes (100000)`,
    );
  });

  it('of just maxBytes is none too long', async () => {
    const origin = await startOrigin((_, response) => response.end('[1, 2]'));
    expect(await load(origin.url, { maxBytes: 6 })).toMatchObject({ loadedValue: [1, 2] });
    expect(await messageOf(load(origin.url, { maxBytes: 5 }))).toContain('announces 6 bytes');
  });

  it('that is truncated gzip is an error for JSON, and others are asked for uncompressed', async () => {
    const rows = JSON.stringify(
      Array.from({ length: 1000 }, (_, i) => `row ${i}`),
      undefined,
      1,
    );
    const whole = gzipSync(rows);
    const origin = await startOrigin((request, response) => {
      if (!String(request.headers['accept-encoding']).includes('gzip')) return response.end(rows);
      return response.setHeader('content-encoding', 'gzip').end(whole.subarray(0, whole.length - 100));
    });
    expect(await messageOf(load(origin.url))).toMatch(/broke off|JSON ends too early/);
    expect(await load(origin.url, { parse: 'text' })).toMatchObject({ loadedValue: rows });
  });

  it('that is compressed although none was asked for is an error, unless the headers of the source ask for it', async () => {
    const rows = gzipSync('a,b\n1,2\n');
    const origin = await encoded('gzip', rows);
    for (const parse of ['csv', 'text', 'ndjson', () => 1] as const) {
      expect(await messageOf(load(origin.url, { parse }))).toBe(
        `${origin.url}/ is compressed (gzip) although that was not asked for, and a part could pass for the whole; headers: { 'accept-encoding': 'gzip' } takes it`,
      );
    }
    const headers = { 'accept-encoding': 'gzip' };
    expect(await load(origin.url, { parse: 'csv', headers })).toMatchObject({
      loadedValue: [{ a: '1', b: '2' }],
    });
  });

  it.each([
    'identity',
    'aws-chunked',
    'none',
    'binary',
    'UTF-8',
    'utf-8, aws-chunked',
    'Identity',
    'gzipped',
    '',
  ])('with a coding that compresses nothing is taken: %s', async (coding) => {
    const origin = await encoded(coding, 'a');
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      const options = { parse: 'text', headers } as const;
      expect(await load(origin.url, options)).toMatchObject({ loadedValue: 'a' });
    }
  });

  it.each([
    ['x-gzip', 'x-gzip'],
    ['GZIP', 'gzip'],
    ['aws-chunked, gzip', 'gzip'],
    ['br', 'br'],
    ['compress', 'compress'],
    ['zstd', 'zstd'],
  ])('with a coding that compresses is refused where none was asked for: %s', async (coding, shown) => {
    const origin = await encoded(coding, 'a');
    expect(await messageOf(load(origin.url, { parse: 'text' }))).toContain(
      `is compressed (${shown}) although`,
    );
  });

  it('that breaks off is known as such, whatever its coding is called', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Encoding: aws-chunked\r\nContent-Length: 9\r\n\r\n';
    const url = await startRawOrigin(`${head}a,b`);
    expect(await messageOf(load(url, { parse: 'text' }))).toContain('broke off after 3');
  });

  it('that is damaged gzip is an error', async () => {
    const damaged = gzipSync('[1]'.padEnd(1000));
    damaged[damaged.length - 6] = (damaged.at(-6) as number) ^ 0xff;
    const origin = await encoded('gzip', damaged);
    expect(await messageOf(load(origin.url))).toContain(`${origin.url}/ broke off`);
  });

  it('that is shorter than it says is an error', async () => {
    const url = await startRawOrigin('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1]');
    expect(await messageOf(load(url))).toMatch(`${url}/ broke off after 3 bytes: `);
    const fetch = async () => new Response('[1]', { headers: { 'content-length': '100' } });
    expect(await messageOf(load(url, { fetch }))).toBe(`${url}/ broke off after 3 of 100 bytes`);
  });

  it('that is longer than it says ends where it says', async () => {
    const url = await startRawOrigin('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[1][2]');
    expect(await load(url)).toMatchObject({ loadedValue: [1] });
  });
});

describe('a connection', () => {
  it.each([
    ['before a byte', '', /gave no answer/],
    ['within the status line', 'HTTP/1.1 20', /gave no answer/],
    ['within the headers', 'HTTP/1.1 200 OK\r\nContent-Le', /gave no answer/],
    ['behind the headers', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', /broke off after 0 bytes/],
    [
      'within a chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n[1',
      /broke off after \d bytes/,
    ],
    [
      'between chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n',
      /broke off after 3 bytes/,
    ],
    ['by what is no HTTP', 'SSH-2.0-OpenSSH\r\n', /gave no answer/],
  ])('that is cut %s is an error', async (_, answer, message) => {
    const url = await startRawOrigin(answer);
    const error = (await rejectionOf(load(`${url}/?key=SECRET`))) as Error;
    expect(error.message).toMatch(message);
    expect(error.message).toContain(`${url}/?key=…`);
    expect(error.cause).toBeInstanceOf(Error);
    expect(`${error.stack} ${(error.cause as Error).stack}`).not.toContain('SECRET');
  });

  it('that is refused is an error with the reason', async () => {
    expect(await messageOf(load('http://127.0.0.1:1/all'))).toMatch(
      /^http:\/\/127.0.0.1:1\/all gave no answer: /,
    );
    expect(await messageOf(load('http://nowhere.invalid/all'))).toMatch(/gave no answer: .*nowhere.invalid/);
  });

  it('whose error repeats the URL shows no value of its query', async () => {
    const url = 'http://prices.example/all?key=SECRET';
    const shown = async (error: unknown): Promise<Error> =>
      load(url, { fetch: () => Promise.reject(error) }).catch(
        (reason: unknown) => reason as Error,
      ) as Promise<Error>;
    const deep = new TypeError('fetch failed', { cause: new Error(`no route to ${url}`) });
    expect(await shown(deep)).toMatchObject({ message: 'http://prices.example/all?key=… gave no answer' });
    expect(await shown(deep)).not.toHaveProperty('cause');
    const coded = Object.assign(new Error(`cannot reach ${url}`), { code: 'ECONNREFUSED' });
    expect((await shown(coded)).message).toBe('http://prices.example/all?key=… gave no answer: ECONNREFUSED');
    const several = Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' }); // of one address each
    expect(await shown(new TypeError('fetch failed', { cause: several }))).toMatchObject({
      message: 'http://prices.example/all?key=… gave no answer: ETIMEDOUT',
      cause: several,
    });
    for (const error of [new AggregateError([new Error(`no route to ${url}`)], 'all failed'), `no ${url}`]) {
      const hidden = await shown(error);
      expect(hidden.message).toBe('http://prices.example/all?key=… gave no answer');
      expect(hidden).not.toHaveProperty('cause');
    }
    expect((await shown(undefined)).message).toBe('http://prices.example/all?key=… gave no answer');
  });
});

describe('the signal', () => {
  const aborted = (signal: AbortSignal, url: string, options?: HttpSourceOptions<unknown>) =>
    httpSource(url, options)(contextOf(undefined, signal)).catch((reason: unknown) => reason);

  it('ends a request before it begins', async () => {
    const origin = await startOrigin((_, response) => response.end('1'));
    const reason = new Error('closed');
    expect(await aborted(AbortSignal.abort(reason), origin.url)).toBe(reason);
    expect(origin.requests).toHaveLength(0);
  });

  it.each(['while it waits for an answer', 'while the body drips'])('ends a request %s', async (stage) => {
    const controller = new AbortController();
    const reason = new Error('deadline');
    const origin = await startOrigin((_, response) => {
      if (stage.includes('drips')) response.write('[1,');
      setImmediate(() => setTimeout(() => controller.abort(reason), 10));
    });
    expect(await aborted(controller.signal, origin.url)).toBe(reason);
  });

  it.each(['before it is read', 'while it is read'])(
    'ends the body of a fetch that does not heed it, %s',
    async (when) => {
      const controller = new AbortController();
      const reason = new Error('deadline');
      const cancelled: unknown[] = [];
      const body = new ReadableStream<Uint8Array>(
        {
          pull: () => new Promise(() => controller.abort(reason)), // and it never comes
          cancel: () => void cancelled.push(when),
        },
        { highWaterMark: when.startsWith('before') ? 1 : 0 },
      );
      const fetch = async () => new Response(body);
      expect(await aborted(controller.signal, 'http://prices.example', { fetch })).toBe(reason);
      expect(cancelled).toHaveLength(1);
    },
  );

  it('of a Request counts too', async () => {
    const controller = new AbortController();
    const reason = new Error('stopped');
    const origin = await startOrigin(() => controller.abort(reason));
    const source = httpSource(() => new Request(origin.url, { signal: controller.signal }));
    await expect(source(contextOf())).rejects.toBe(reason);
  });

  it('is that of the deadline: a slow drip ends with it, and the old value stays', async () => {
    let isSlow = false;
    const timers = new Set<NodeJS.Timeout>();
    const origin = await startOrigin((_, response) => {
      if (!isSlow) return response.end('[1]');
      response.write('[');
      const timer = setInterval(() => response.write(' '), 5);
      timers.add(timer);
      return response.on('close', () => clearInterval(timer));
    });
    const options = { name: 'prices', timeout: 60, retry: false, logger: false } as const;
    const member = new RefreshingValue({ ...options, load: httpSource<number[]>(origin.url) });
    const first = await member.get();
    isSlow = true;
    await expect(member.refresh()).rejects.toMatchObject({ code: 'TIMED_OUT' });
    expect(await member.get()).toBe(first);
  });
});

it('an answer that is refused, and one that is given up, leave no connection behind', async () => {
  const refusals = ['500', '302', 'announces', 'too-long', 'aborted'];
  const origin = await startOrigin(({ url = '' }, response) => {
    if (url.includes('302')) response.writeHead(302, { location: 'ftp://there' });
    else if (url.includes('500')) response.writeHead(500);
    else if (url.includes('announces')) response.writeHead(200, { 'content-length': 1e10 });
    response.write('not JSON'.repeat(url.includes('aborted') ? 1 : 200_000)); // and it does not end
  });
  const refused = [...refusals, ...refusals].map(async (path) => {
    const signal = path === 'aborted' ? AbortSignal.timeout(20) : undefined;
    return messageOf(httpSource(`${origin.url}/${path}`, { maxBytes: 1e6 })(contextOf(undefined, signal)));
  });
  expect(await Promise.all(refused)).not.toContain('no error');
  await expect.poll(origin.connections).toBe(0); // Node before 24 takes three seconds
});

it('the function of a URL may fail, or return none', async () => {
  const error = new Error('no token');
  await expect(httpSource(() => Promise.reject(error))(contextOf())).rejects.toBe(error);
  for (const wrong of [undefined, '/all', 'ftp://prices.example', 5]) {
    const message = await messageOf(httpSource(() => wrong as string)(contextOf()));
    expect(message).toMatch(/^the function of httpSource returned (something|a URL) that is n/);
  }
});
