import { expect, it } from 'vitest';
import { redisBackend } from '../../../src/backends/redis.ts';
import { RecordStore } from '../../../src/records/store/record-store.ts';
import { withFields } from '../../support/cell-text.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { redisRecords } from '../../support/redis-records.ts';

const NAMES = ['a', 'b', 'c'];
const EDITS = NAMES.map((name) => ({ op: 'delete', name }) as const);
const DONE = { isDone: true, row: undefined };
const NOW = 1_767_225_600_000;

const refuse = () => Promise.reject(new Error('CLUSTERDOWN Hash slot not served'));
const hang = () => new Promise<never>(() => {});

/** The text of all names there. */
const RECORD = {
  ...{ token: 7, id: 'r', phase: 'leased', at: NOW, changedAt: NOW, until: NOW + 1000 },
  ...{ text: 'text', note: '', older: [] },
};
const TEXT = withFields(withFields(undefined, 'lock', RECORD), 'snapshot', RECORD);

/** A client of ioredis whose server is a cluster, each name in another slot: the slots of those names fail. */
function clientOf(lost: readonly string[], fail: () => Promise<unknown>) {
  return {
    status: 'ready',
    options: {},
    connect: async () => {},
    on: () => {},
    async call(_command: string, _script: string, count: string, ...[key = '', , op]: string[]) {
      if (count !== '1') throw new Error("CROSSSLOT Keys in request don't hash to the same slot");
      if (lost.some((name) => key.endsWith(name))) return fail();
      const now = `${NOW}000`;
      return [op === 'look' ? [now, TEXT] : [now, '1']];
    },
  };
}

const recordsIn = (lost: readonly string[], fail: () => Promise<unknown>) =>
  redisRecords({ client: clientOf(lost, fail), prefix: '', timeout: 20 });

it.each([
  ['answers with an error', refuse, /CLUSTERDOWN/],
  ['does not answer', hang, /no answer within 16 ms, while other slots have answered/],
])('a slot of a Redis Cluster that %s fails its own names alone', async (_, fail, message) => {
  const records = recordsIn(['b'], fail);
  for (const _ of ['whose slots are found out', 'whose slots are known']) {
    const { answers } = await records.apply(EDITS);
    const failure = expect.objectContaining({ message: expect.stringMatching(message) });
    expect(answers).toEqual([DONE, failure, DONE]);
  }
});

it('a check gets the versions of the other slots of a Redis Cluster; a call by hand rejects', async () => {
  const client = clientOf(['b'], refuse);
  const records = new RecordStore(redisRecords({ client, timeout: 20 }), 1, undefined);
  const failure = expect.objectContaining({ message: expect.stringMatching('CLUSTERDOWN') });
  expect(await records.versions(NAMES)).toEqual([7, failure, 7]);
  await expect(storeOf(redisBackend({ client })).versions(NAMES)).rejects.toThrow(
    'the backend is unavailable: CLUSTERDOWN',
  );
});

it('where no slot of a Redis Cluster answers, the call rejects', async () => {
  await expect(recordsIn(NAMES, refuse).apply(EDITS)).rejects.toThrow('CLUSTERDOWN');
});

it('of a silent slot of a Redis Cluster, calls for several names tell before their time is over', async () => {
  const options = { client: clientOf(['b'], hang), timeout: 500 };
  const [lock, store] = [lockOf(redisBackend(options)), storeOf(redisBackend(options))];
  const requests = NAMES.map((name) => ({ name, requestId: 'r', payload: 'text' }));
  const leases = NAMES.map((name) => ({ name, token: 7, requestId: 'r' }));
  const outcome = { as: 'done', holdFor: 0 } as const;
  const orError = <R>(step: Promise<R>): Promise<R | Error> => step.catch((error: Error) => error);
  const answers = Promise.all([
    Promise.all(NAMES.map((name) => orError(store.read(name)))),
    Promise.all(requests.map(({ name, payload }) => orError(store.write(name, payload)))),
    Promise.all(requests.map((request) => orError(lock.acquire(request)))),
    Promise.all(leases.map((lease) => orError(lock.extend(lease, 1000)))),
    Promise.all(leases.map((lease) => orError(lock.release(lease, outcome)))),
  ]);
  const failure = expect.objectContaining({
    message: expect.stringMatching(/^b: the backend is unavailable: no answer within/),
  });
  const [isRead, isWritten] = [{ payload: 'text' }, { kind: 'written' }];
  const isAcquired = { kind: 'acquired' };
  expect(await answers).toMatchObject([
    [isRead, failure, isRead],
    [isWritten, failure, isWritten],
    [isAcquired, failure, isAcquired],
    [true, failure, true],
    [true, failure, true],
  ]);
});
