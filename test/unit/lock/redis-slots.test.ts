import { expect, it } from 'vitest';
import { RedisRecords } from '../../../src/redis/redis-records.ts';

const NAMES = ['a', 'b', 'c'];
const EDITS = NAMES.map((name) => ({ op: 'delete', name }) as const);
const DONE = { isDone: true, row: undefined };

const refuse = () => Promise.reject(new Error('CLUSTERDOWN Hash slot not served'));
const hang = () => new Promise<never>(() => {});

/** A client of ioredis whose server is a cluster, each name in another slot: the slots of those names fail. */
function recordsIn(lost: readonly string[], fail: () => Promise<unknown>): RedisRecords {
  const client = {
    status: 'ready',
    options: {},
    connect: async () => {},
    on: () => {},
    async call(_command: string, _script: string, count: string, ...[key]: string[]) {
      if (count !== '1') throw new Error("CROSSSLOT Keys in request don't hash to the same slot");
      return lost.includes(String(key)) ? fail() : [['1', '1767225600000000']];
    },
  };
  return new RedisRecords('store', { client, prefix: '', timeout: 20 });
}

it.each([
  ['answers with an error', refuse, /CLUSTERDOWN/],
  ['does not answer', hang, /no answer within 200 ms/],
])('a slot of a Redis Cluster that %s fails its own names alone', async (_, fail, message) => {
  const records = recordsIn(['b'], fail);
  for (const _ of ['whose slots are found out', 'whose slots are known']) {
    const { answers } = await records.apply(EDITS);
    const failure = expect.objectContaining({ message: expect.stringMatching(message) });
    expect(answers).toEqual([DONE, failure, DONE]);
  }
});

it('where no slot of a Redis Cluster answers, the call rejects', async () => {
  await expect(recordsIn(NAMES, refuse).apply(EDITS)).rejects.toThrow('CLUSTERDOWN');
});
