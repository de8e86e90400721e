import { expect, it } from 'vitest';
import { retryAfterMs } from '../../../src/engine/retry-after.ts';
import { type ObjectClient, objectSource } from '../../../src/sources/index.ts';
import { contextOf } from './origin.ts';

it('an answer that comes after the signal, of a client that ignores it, is closed', async () => {
  const control = new AbortController();
  let isClosed = false;
  const body = new ReadableStream<Uint8Array>({
    cancel() {
      isClosed = true;
    },
  });
  let answer: (answer: { Body: { transformToWebStream(): ReadableStream<Uint8Array> } }) => void = () => {};
  const client: ObjectClient = {
    getObject: () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  };
  const load = objectSource({ client, bucket: 'b', key: 'k' })(contextOf(undefined, control.signal));
  control.abort(new Error('enough'));
  await expect(load).rejects.toThrow('enough');
  answer({ Body: { transformToWebStream: () => body } });
  await expect.poll(() => isClosed, { timeout: 2000 }).toBe(true);
});

it('shows nothing of a client that it does not know, nor of an option', () => {
  const stranger = { credentials: 'SECRET' } as unknown as ObjectClient;
  const wrong = { client: stranger, bucket: 'b', key: 'k', credentials: 'SECRET' };
  expect(() => objectSource(wrong)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('SECRET') }),
  );
});

/** A client of an object that answers each request so. */
function answering(answer: Readonly<Record<string, unknown>>) {
  const requests: unknown[] = [];
  const client: ObjectClient = {
    getObject: async (request) => {
      requests.push(request);
      return { Body: { transformToWebStream: () => new Blob(['[1]']).stream() }, ...answer };
    },
  };
  return { requests, source: objectSource({ client, bucket: 'b', key: 'k' }) };
}

it.each(['"a"\r\nX-Evil: 1', '"\u20ac"', '\u0000', 5, { a: 1 }, ['x'], null])(
  'a stored ETag that can not be sent is not: %j',
  async (etag) => {
    const { requests, source } = answering({});
    await source(contextOf({ source: 's3://b/k', etag }));
    await source(contextOf({ source: 's3://b/k', etag: '"1"' }));
    expect(requests).toEqual([
      { Bucket: 'b', Key: 'k' },
      { Bucket: 'b', Key: 'k', IfNoneMatch: '"1"' },
    ]);
  },
);

it('an object whose date is malformed does not say when it was edited', async () => {
  const { source } = answering({ LastModified: new Date('yesterday'), ETag: '"1"' });
  expect(await source(contextOf())).toMatchObject({
    loadedOptions: { meta: { source: 's3://b/k', etag: '"1"' } },
  });
});

it('an object that breaks off is known as such, unless it is compressed', async () => {
  for (const ContentEncoding of [undefined, 'aws-chunked', 'UTF-8', '']) {
    const { source } = answering({ ContentEncoding, ContentLength: 9 });
    await expect(source(contextOf())).rejects.toThrow('broke off after 3 of 9 bytes');
  }
  const { source } = answering({ ContentEncoding: 'aws-chunked, gzip', ContentLength: 9 });
  expect(await source(contextOf())).toMatchObject({ loadedValue: [1] });
});

it('a date in Retry-After counts from the Date of the service', async () => {
  const headers = { date: 'Fri, 20 Nov 2020 12:00:00 GMT', 'retry-after': 'Fri Nov 20 12:02:00 2020' };
  const refusal = Object.assign(new Error('slow down'), {
    name: 'SlowDown',
    $metadata: { httpStatusCode: 503 },
    $response: { headers },
  });
  const client: ObjectClient = { getObject: () => Promise.reject(refusal) };
  const error: unknown = await objectSource({ client, bucket: 'b', key: 'k' })(contextOf()).catch((e) => e);
  expect(retryAfterMs(error, Date.now())).toBe(120_000);
});
