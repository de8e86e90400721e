import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3, type S3ClientConfig } from '@aws-sdk/client-s3';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { type ObjectSourceOptions, objectSource } from '../../../src/sources/index.ts';
import { SourceUser } from '../../unit/sources/source-context.ts';
import { BUCKET, startS3rver } from './support/servers.ts';

const server = await startS3rver();
const clients: S3[] = [];
afterAll(async () => {
  for (const each of clients) each.destroy();
  await server.close();
});

function connect(endpoint: string, options: S3ClientConfig = {}): S3 {
  const client = new S3({
    endpoint,
    region: 'eu-west-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    requestChecksumCalculation: 'WHEN_REQUIRED', // s3rver knows no checksums at the end of a body
    maxAttempts: 1,
    ...options,
  });
  clients.push(client);
  return client;
}

describe('a server of the API of S3', () => {
  const client = connect(server.url);
  const put = (Key: string, Body: string) => client.putObject({ Bucket: BUCKET, Key, Body });
  const user = (key: string, options: Partial<ObjectSourceOptions<unknown>> = {}) =>
    new SourceUser(objectSource({ client, bucket: BUCKET, key, ...options }));

  it('sends an object once, until it changes', async () => {
    await put('all/prices.json', '{"a":1}');
    const prices = user('all/prices.json');
    expect(await prices.load()).toEqual({ a: 1 });
    expect(prices.meta).toEqual({
      source: `s3://${BUCKET}/all/prices.json`,
      editedAt: expect.any(Number),
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
    });
    expect(Math.abs((prices.meta?.editedAt ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(await prices.load()).toBe('kept');
    await put('all/prices.json', '{"a":2}');
    expect(await prices.load()).toEqual({ a: 2 });
    expect(await prices.load()).toBe('kept');
  });

  it('does not keep the value of another source', async () => {
    await put('one.json', '1');
    const one = user('one.json');
    await one.load();
    one.previous = { value: 0, loadedAt: 0, meta: { ...one.meta, source: 'https://elsewhere.example' } };
    expect(await one.load()).toBe(1);
  });

  it('is a load of a value, whose value stays when the object goes', async () => {
    await put('stays.json', '[1]');
    const load = objectSource<number[]>({ client, bucket: BUCKET, key: 'stays.json' });
    const value = new RefreshingValue({ name: 'stays', load, retry: false, logger: false });
    expect(await value.get()).toEqual([1]);
    await client.deleteObject({ Bucket: BUCKET, Key: 'stays.json' });
    const message = `s3://${BUCKET}/stays.json does not exist (404 NoSuchKey)`;
    await expect(value.refresh()).rejects.toMatchObject({ cause: { message } });
    expect(value.current).toEqual([1]);
    await value.close();
  });

  it('names a missing bucket, wrong credentials, a wrong format and an object that is too large', async () => {
    await put('large.txt', 'x'.repeat(1000));
    await expect(user('none', { bucket: 'none' }).load()).rejects.toThrow(
      's3://none/none does not exist, nor does its bucket (404 NoSuchBucket)',
    );
    const stranger = connect(server.url, { credentials: { accessKeyId: 'x', secretAccessKey: 'secret' } });
    await expect(user('large.txt', { client: stranger }).load()).rejects.toThrow(
      `s3://${BUCKET}/large.txt was not sent (403 InvalidAccessKeyId)`,
    );
    await expect(user('large.txt').load()).rejects.toThrow(
      `s3://${BUCKET}/large.txt: line 1, column 1, is not JSON`,
    );
    expect(await user('large.txt', { maxBytes: 1000, parse: 'text' }).load()).toHaveLength(1000);
    await expect(user('large.txt', { maxBytes: 999 }).load()).rejects.toThrow(
      `s3://${BUCKET}/large.txt has more than maxBytes (999) bytes`,
    );
  });

  it('keeps an empty object as empty', async () => {
    await put('empty.txt', '');
    expect(await user('empty.txt', { parse: 'text' }).load()).toBe('');
  });
});

/** The service with faults: its protocol, spoken by a server of the test. */
describe('faults at the socket', () => {
  const requests: string[] = [];
  let answer: (response: ServerResponse, request: IncomingMessage) => void;
  const faulty = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(response, request);
  });
  const listening = new Promise<void>((resolve) => faulty.listen(0, '127.0.0.1', resolve));
  afterEach(() => faulty.closeAllConnections());
  afterAll(() => void faulty.close());

  async function user(options: Partial<ObjectSourceOptions<unknown>> = {}) {
    await listening;
    const client = connect(`http://127.0.0.1:${(faulty.address() as AddressInfo).port}`);
    return new SourceUser(objectSource({ client, bucket: 'b', key: 'k', maxBytes: 1000, ...options }));
  }

  it('a throttled request says when to come again', async () => {
    answer = (response) => {
      response.writeHead(503, { 'retry-after': '7', 'content-type': 'application/xml' });
      response.end('<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>');
    };
    const error = await (await user()).load().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 's3://b/k was not sent (503 SlowDown)', retryAfter: '7' });
    expect((error as Error).cause).toMatchObject({ name: 'SlowDown' });
  });

  /** Sends some bytes, and cuts the connection. */
  const cutAfter = (headers: OutgoingHttpHeaders) => (response: ServerResponse) =>
    void response.writeHead(200, headers).write('[1', () => response.destroy());
  const tooMany = 's3://b/k has more than maxBytes (1000) bytes';

  it.each<[what: string, answer: (response: ServerResponse) => void, message: string]>([
    [
      'more bytes than it may have are announced',
      (response) => void response.writeHead(200, { 'content-length': '10000000000' }).write('1'),
      tooMany,
    ],
    [
      'more bytes come, without an end',
      (response) => {
        response.writeHead(200); // chunked
        const more = (): void => void response.write('1'.repeat(400), (error) => !error && more());
        more();
      },
      tooMany,
    ],
    [
      'the connection is cut',
      cutAfter({ 'content-length': '100' }),
      's3://b/k failed after 2 bytes: aborted',
    ],
    ['a chunked body is cut', cutAfter({}), 's3://b/k failed after 2 bytes: aborted'],
    [
      'the checksum is that of other bytes',
      (response) =>
        response.writeHead(200, { 'content-length': '1', 'x-amz-checksum-crc32': 'AAAAAA==' }).end('1'),
      's3://b/k failed after 1 bytes: Checksum mismatch',
    ],
    ['nothing is answered', (response) => void response.destroy(), "s3://b/k can't be read: socket hang up"],
  ])('%s', async (_, faultyAnswer, message) => {
    answer = faultyAnswer;
    await expect((await user()).load()).rejects.toThrow(message);
  });

  it('nothing listens', async () => {
    const client = connect('http://127.0.0.1:1');
    await expect((await user({ client })).load()).rejects.toThrow("s3://b/k can't be read: ");
  });

  it.each<[what: string, answer: (response: ServerResponse) => void]>([
    ['before the answer', () => {}],
    [
      'while the body drips',
      (response) => void response.writeHead(200, { 'content-length': '100' }).write('['),
    ],
  ])('its signal ends it %s, and the connection', async (_, slowAnswer) => {
    const control = new AbortController();
    const reason = new Error('enough');
    const closed = new Promise<void>((resolve) => {
      answer = (response) => {
        response.on('close', resolve);
        slowAnswer(response);
        setTimeout(() => control.abort(reason), 20);
      };
    });
    await expect((await user()).load(control.signal)).rejects.toBe(reason);
    await closed;
  });

  it('asks for the version that it was told, by its ETag', async () => {
    const etags: unknown[] = [];
    answer = (response, request) => {
      etags.push(request.headers['if-none-match']);
      response.writeHead(etags.length === 1 ? 200 : 304, { etag: '"e"', 'x-amz-version-id': 'v1' });
      response.end(etags.length === 1 ? '1' : undefined);
    };
    const one = await user({ versionId: 'v1' });
    expect(await one.load()).toBe(1);
    expect(await one.load()).toBe('kept');
    expect(one.meta).toEqual({ source: 's3://b/k?versionId=v1', etag: '"e"', versionId: 'v1' });
    expect(requests.at(-1)).toContain('versionId=v1');
    expect(etags).toEqual([undefined, '"e"']);
  });
});

it('checks its options at once', () => {
  const code = 'OPTION';
  const client = connect(server.url);
  const good = { client, bucket: 'b', key: 'k' };
  const wrongOnes = [
    { client: {} },
    { bucket: '' },
    { key: 1 },
    { versionId: '' },
    { maxBytes: 0 },
    { etag: 1 },
  ];
  for (const wrong of wrongOnes)
    expect(() => objectSource({ ...good, ...wrong } as never)).toThrow(expect.objectContaining({ code }));
  expect(() => objectSource(undefined as never)).toThrow(expect.objectContaining({ code }));
});
