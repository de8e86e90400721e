import { expect, it } from 'vitest';
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
