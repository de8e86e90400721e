import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { redisBackend } from '../../../src/backends/redis.ts';
import { isTicklessError, lockedTask } from '../../../src/index.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';

/** A client that never connects, as one whose credentials are wrong. */
class Unconnected extends EventEmitter {
  readonly status = 'reconnecting';
  readonly options = {};
  connect = async (): Promise<void> => {};
  call = (): Promise<unknown> => new Promise(() => {});
}

it('a command that waits for a connection names the reason that the client reports', async () => {
  const client = new Unconnected();
  const lock = lockOf(redisBackend({ client, timeout: 20 }));
  client.on('error', () => {});
  const unavailable = async (): Promise<string> => {
    const error = await rejectionOf(lock.inspect('v'));
    expect(isTicklessError(error, 'BACKEND_DOWN')).toBe(true);
    return (error as Error).message;
  };
  client.emit('error', new Error('WRONGPASS invalid username-password pair'));
  const reason = /no answer within \d+ ms.*: WRONGPASS invalid username-password pair$/;
  expect(await unavailable()).toMatch(reason);
  const task = lockedTask(() => {}, { name: 'v', lock });
  for (const call of [task, task.register])
    expect(await rejectionOf(call())).toMatchObject({ message: expect.stringMatching(reason) });
  client.emit('ready');
  expect(await unavailable()).not.toContain('WRONGPASS');
});

it('a client without a listener to errors still throws', () => {
  const client = new Unconnected();
  lockOf(redisBackend({ client }));
  expect(() => client.emit('error', new Error('WRONGPASS'))).toThrow('WRONGPASS');
});
