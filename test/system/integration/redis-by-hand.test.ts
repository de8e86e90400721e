import { Redis } from 'ioredis';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { redisBackend } from '../../../src/backends/redis.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';

// Records that somebody has edited, and what two clients do at a time.

describe('a record in Redis that was edited', () => {
  const client = new Redis(inject('redis').url, { lazyConnect: true });
  const prefix = `by-hand-${process.pid}:`;
  const options = { client, prefix, timeout: 10_000 };
  const lock = lockOf(redisBackend(options));
  const store = storeOf(redisBackend({ ...options, keepVersions: 3 }));
  afterAll(() => client.disconnect());

  it.each([
    ['until', 'abc'],
    ['until', '9e15'],
    ['at', 'z'],
  ])('has its versions still, with %s %s', async (field, value) => {
    const name = `${field} ${value}`;
    const { version } = await store.write(name, 'one');
    await store.write(name, 'two');
    await client.hset(`${prefix}snapshot/${name}`, field, value);
    expect((await store.history?.(name))?.map((one) => one.version)).toContain(version);
    expect(await store.read(name, undefined, version)).toMatchObject({ payload: 'one' });
  });

  it('lists a version whose text is gone with its number, and as damaged', async () => {
    const { version } = await store.write('gone', 'one');
    await store.write('gone', 'two');
    await client.hdel(`${prefix}snapshot/gone`, `at:${version}`, `text:${version}`);
    const [, old] = (await store.history?.('gone')) ?? [];
    expect(old).toMatchObject({ version, bytes: 0 });
  });

  it('is seen without what people have edited in the texts for people, and can be released', async () => {
    const lease = await leaseOf(lock, { name: 'texts' });
    const edit = (field: string, text: string) => client.hset(`${prefix}lock/texts`, field, text);
    await edit('text', '{"owner":5,"host":{}}');
    expect(await lock.inspect('texts')).toMatchObject({ owner: '', host: '' });
    await client.hdel(`${prefix}lock/texts`, 'text');
    expect(await lock.inspect('texts')).toMatchObject({ state: 'running', owner: '', host: '' });
    await lock.release(lease, { as: 'failed', holdFor: 0, error: 'down' });
    await edit('note', '{"state":"weird","error":{}}');
    expect(await lock.inspect('texts')).toMatchObject({ state: 'abandoned', lastError: undefined });
    expect(await lock.forceRelease('texts', lease.token)).toBe(true);
  });

  it('a lock that was forgotten, and is acquired while it is listed, stays in the list', async () => {
    const name = 'forgotten';
    await lock.acquire({ name });
    await client.del(`${prefix}lock/${name}`);
    let removal: Promise<unknown> | undefined;
    const between = {
      ...{ status: 'ready', options: {}, connect: async () => {}, on: () => {} },
      call(command: string, ...args: string[]): Promise<unknown> {
        if (!args.includes('unindex')) return client.call(command, ...args);
        removal = lock.acquire({ name }).then(() => client.call(command, ...args));
        return removal;
      },
    };
    expect(await lockOf(redisBackend({ ...options, client: between })).list({ prefix: name })).toEqual([]);
    await expect.poll(() => removal).toEqual([1]); // its name is removed behind the answer
    expect(await lock.list({ prefix: name })).toMatchObject([{ name, state: 'running' }]);
  });

  it('reads prolong a snapshot that was written again with its token but without a keepFor', async () => {
    await store.write('prolonged', '', 1, undefined, 1000);
    await store.write('prolonged', '', 1);
    await client.pexpire(`${prefix}snapshot/prolonged`, 50_000);
    await store.read('prolonged');
    expect(await client.pttl(`${prefix}snapshot/prolonged`)).toBeGreaterThan(60_000);
  });

  it('a write again for longer is another one', async () => {
    await store.write('again', '1', 5, undefined, 2000);
    await store.write('again', '1', 5, undefined, 60_000);
    expect(await client.pttl(`${prefix}snapshot/again`)).toBeGreaterThan(10_000);
  });
});
