import { Redis } from 'ioredis';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { RedisCells } from '../../../src/backends/redis/redis-cells.ts';
import { redisBackend } from '../../../src/backends/redis.ts';
import { SwappedRecords } from '../../../src/records/cells/swapped-records.ts';
import type { Part } from '../../../src/records/names.ts';
import { readOf } from '../../../src/records/read-of.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { editRecord } from './support/backends.ts';

// Records that somebody has edited, and what two clients do at a time.

describe('a record in Redis that was edited', () => {
  const client = new Redis(inject('redis').url, { lazyConnect: true });
  const prefix = `by-hand-${process.pid}:`;
  const options = { client, prefix, timeout: 10_000 };
  const lock = lockOf(redisBackend(options));
  const store = storeOf(redisBackend({ ...options, keepVersions: 3 }));
  afterAll(() => client.disconnect());

  const edit = (part: Part, name: string, fields: object): Promise<void> =>
    editRecord(client, `${prefix}name/${name}`, part, () => fields);

  it.each([
    ['until', 'abc'],
    ['until', 9e15],
    ['at', 'z'],
  ])('has its versions still, with %s %s', async (field, value) => {
    const name = `${field} ${value}`;
    const { version } = await store.write(name, 'one');
    await store.write(name, 'two');
    await edit('snapshot', name, { [field]: value });
    expect((await store.history(name)).map((one) => one.version)).toContain(version);
    expect(await store.read(name, undefined, version)).toMatchObject({ payload: 'one' });
  });

  it('lists a version whose text is gone with its number', async () => {
    const { version } = await store.write('gone', 'x'.repeat(5000));
    const fields = await client.hkeys(`${prefix}name/gone`);
    await store.write('gone', 'two');
    await client.hdel(`${prefix}name/gone`, ...fields.filter((field) => field.startsWith('long:')));
    const [, old] = await store.history('gone');
    expect(old).toMatchObject({ version, bytes: 5000 });
    expect(await store.read('gone', undefined, version)).toMatchObject({ damage: expect.any(String) });
  });

  it('without its text, or with another one in place of it, is damaged', async () => {
    for (const [field, act] of [
      ['missing', () => client.hdel(`${prefix}name/missing`, 'record')],
      ['other', () => client.hset(`${prefix}name/other`, 'record', '[]')],
    ] as const) {
      const lease = await leaseOf(lock, { name: field });
      await act();
      expect(await lock.extend(lease)).toBe(false);
      expect(await lock.acquire({ name: field })).toMatchObject({ kind: 'acquired' });
    }
  });

  it('keys of another type are the error of all names that have one, also of the first that are looked at', async () => {
    for (const name of ['one', 'two']) await client.set(`${prefix}name/${name}`, 'x');
    const records = new SwappedRecords(new RedisCells(options), Infinity);
    const reads = ['one', 'two'].map((name) => readOf(`snapshot/${name}`));
    await expect(records.apply(reads)).rejects.toThrow(/^WRONGTYPE /);
  });

  it('is seen without what people have edited in the texts for people, and can be released', async () => {
    const lease = await leaseOf(lock, { name: 'texts' });
    await edit('lock', 'texts', { text: '{"owner":5,"host":{}}' });
    expect(await lock.inspect('texts')).toMatchObject({ owner: '', host: '' });
    await edit('lock', 'texts', { text: '' });
    expect(await lock.inspect('texts')).toMatchObject({ state: 'running', owner: '', host: '' });
    await lock.release(lease, { as: 'failed', holdFor: 0, error: 'down' });
    await edit('lock', 'texts', { note: '{"state":"weird","error":{}}' });
    expect(await lock.inspect('texts')).toMatchObject({ state: 'abandoned', lastError: undefined });
    expect(await lock.forceRelease('texts', lease.token)).toBe(true);
  });

  it('a lock that was forgotten is not listed, and is again after the next acquire', async () => {
    const name = 'forgotten';
    await lock.acquire({ name });
    await client.del(`${prefix}name/${name}`);
    expect(await lock.list({ prefix: name })).toEqual([]);
    await lock.acquire({ name });
    expect(await lock.list({ prefix: name })).toMatchObject([{ name, state: 'running' }]);
  });

  it('long texts are in the hash of their record, as long as it names them', async () => {
    const longest = async (): Promise<number> =>
      (await client.hkeys(`${prefix}name/longs`)).filter((field) => field.startsWith('long:')).length;
    const versions: number[] = [];
    for (const text of ['a', 'b', 'c', 'd', 'e'])
      versions.push((await store.write('longs', text.repeat(5000))).version);
    expect(await longest()).toBe(3);
    expect(await store.read('longs', undefined, versions[2])).toMatchObject({ payload: 'c'.repeat(5000) });
    await store.write('longs', 'brief', undefined, undefined, 1000);
    expect(await longest()).toBe(0);
    await store.delete('longs');
    expect(await client.exists(`${prefix}name/longs`)).toBe(0);
  });

  it('reads prolong a snapshot that was written again with its token but without a keepFor', async () => {
    await store.write('prolonged', '', 1, undefined, 1000);
    await store.write('prolonged', '', 1);
    await client.pexpire(`${prefix}name/prolonged`, 50_000);
    await store.read('prolonged');
    expect(await client.pttl(`${prefix}name/prolonged`)).toBeGreaterThan(60_000);
  });

  it('a write again for longer is another one', async () => {
    await store.write('again', '1', 5, undefined, 2000);
    await store.write('again', '1', 5, undefined, 60_000);
    expect(await client.pttl(`${prefix}name/again`)).toBeGreaterThan(10_000);
  });
});
