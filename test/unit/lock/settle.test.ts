import { describe, expect, it } from 'vitest';
import { FileRecords } from '../../../src/backends/files/file-records.ts';
import type { ClaimAnswer, SnapshotChange } from '../../../src/cluster/backend-steps.ts';
import { confirmationText } from '../../../src/cluster/confirmation.ts';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import { RecordLock } from '../../../src/records/lock/record-lock.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import type { Records } from '../../../src/records/records.ts';
import { RecordStore } from '../../../src/records/store/record-store.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const RECORDS: Readonly<Record<string, () => Records>> = {
  memory: () => memoryRecords(new FakeClock()),
  files: () => new FileRecords({ directory: temporaryDirectory() }),
};

function partsOn(records: Records) {
  const store = new RecordStore(records, 1, undefined);
  const lock = new RecordLock(records, '', store);
  const claim = (requestId: string, newerThan?: number, force = false): Promise<ClaimAnswer> =>
    lock.acquire({ name: 'v', owner: 'o', host: 'h', requestId, leaseFor: 1000, force, newerThan });
  const lease = async (requestId: string, newerThan?: number): Promise<Lease> => {
    const answer = await claim(requestId, newerThan);
    if (answer.kind !== 'acquired') throw new Error(`the lease is not there: ${answer.kind}`);
    return answer.lease;
  };
  return { store, lock, claim, lease };
}

const write = (payload: string): SnapshotChange => ({
  as: 'write',
  payload,
  rejected: undefined,
  keepFor: undefined,
});
const done = { as: 'done', holdFor: 60_000 } as const;
const TIMES = {
  age: 0,
  dueIn: 1000,
  took: 1,
  isDueTimeOverridden: false,
  maxStaleness: undefined,
  isLimitScheduled: false,
  tags: undefined,
  meta: undefined,
  headers: undefined,
};

describe.each(Object.keys(RECORDS))('a round with one record, %s', (kind) => {
  const open = () => partsOn((RECORDS[kind] as () => Records)());

  it('is a claim and a change that ends its lease; another instance is told of the snapshot with its claim', async () => {
    const { lock, claim, lease } = open();
    const held = await lease('a', 0);
    expect(await claim('b', 0)).toMatchObject({ kind: 'held', token: held.token });
    const { token: version } = held;
    expect(await lock.settle(held, done, write('one'))).toEqual({
      written: { kind: 'written', version },
      isReleased: true,
    });
    expect(await claim('b', 0)).toMatchObject({ kind: 'done', newer: { version, payload: 'one' } });
    expect((await claim('b', version)).newer).toBe(undefined);
    expect(await claim('b', 0, true)).toMatchObject({ kind: 'acquired', newer: { version, payload: '' } });
  });

  it('is done once where its answer was lost, also with another age in the text', async () => {
    const { lock, store, lease } = open();
    const held = await lease('a');
    const { token: version } = held;
    const settled = { written: { kind: 'written', version }, isReleased: true };
    expect(await lock.settle(held, done, write('one, 1 ms old'))).toEqual(settled);
    expect(await lock.settle(held, done, write('one, 9 ms old'))).toEqual(settled);
    const next = await lease('b').catch(() => undefined);
    expect([next, (await store.read('v'))?.version]).toEqual([undefined, version]);
  });

  it('confirms a version once, where its answer was lost', async () => {
    const { lock, claim, store, lease } = open();
    const first = await lease('a');
    await lock.settle(first, { as: 'done', holdFor: 0 }, write('one'));
    const { token: version } = first;
    const held = await lease('b');
    const confirm = (age: number) => {
      const text = confirmationText({ ...TIMES, age, version, round: held.token });
      return lock.settle(held, { ...done, confirms: text }, { as: 'confirm', version, text });
    };
    for (const age of [1, 9])
      expect(await confirm(age)).toEqual({ written: { kind: 'written', version }, isReleased: true });
    expect((await store.read('v'))?.confirmation?.text).toContain(`"round":${held.token}`);
    expect(await claim('c', version)).toMatchObject({ kind: 'done', token: held.token });
  });

  it('does not confirm a version that was replaced, and keeps its lease', async () => {
    const { lock, claim, lease } = open();
    const held = await lease('a');
    const text = confirmationText({ ...TIMES, version: 7, round: held.token });
    const { written, isReleased } = await lock.settle(held, done, { as: 'confirm', version: 7, text });
    expect([written.kind, isReleased]).toEqual(['refused', false]);
    expect((await claim('b')).kind).toBe('held');
  });
});

it('a round whose lease is over writes nothing', async () => {
  const { lock, store, lease } = partsOn(memoryRecords(new FakeClock()));
  const held = await lease('a');
  await lock.forceRelease('v', held.token);
  const settled = await lock.settle(held, done, write('late'));
  expect(settled).toEqual({ written: { kind: 'lost', version: 0 }, isReleased: false });
  expect(await store.read('v')).toBe(undefined);
});

it('a round that another one has overtaken is refused, and tells its version', async () => {
  const { lock, store, lease } = partsOn(memoryRecords(new FakeClock()));
  const held = await lease('a');
  await lock.forceRelease('v', held.token);
  const next = await lease('b');
  await lock.settle(next, done, write('newer'));
  const settled = await lock.settle(held, done, write('late'));
  expect(settled).toEqual({ written: { kind: 'refused', version: next.token }, isReleased: false });
  expect((await store.read('v'))?.payload).toBe('newer');
});
