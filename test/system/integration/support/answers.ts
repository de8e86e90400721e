import { expect } from 'vitest';
import type { Store } from '../../../../src/cluster/store-contract.ts';
import type { Lock } from '../../../../src/records/lock/create-lock.ts';
import { leaseOf } from '../../../support/lease.ts';

/** A lock without records, and a store that keeps older versions. */
export interface Steps {
  readonly lock: Lock;
  readonly store: Store;
}

/** Each step has the answer that it has by default. */
export async function expectAnswers({ lock, store }: Steps): Promise<void> {
  const lease = await leaseOf(lock, { name: 'a', leaseFor: 60_000 });
  expect(await lock.acquire({ name: 'a' })).toMatchObject({ kind: 'held', token: lease.token });
  expect(await lock.extend(lease, 60_000)).toBe(true);
  expect(await lock.extend({ ...lease, token: lease.token - 1 }, 60_000)).toBe(false);
  expect(await lock.inspect('a')).toMatchObject({ state: 'running', token: lease.token });
  expect(await lock.release(lease, { as: 'done', holdFor: 60_000 })).toBe(true);
  expect(await lock.acquire({ name: 'a' })).toMatchObject({ kind: 'done' });
  expect(await lock.acquire({ name: 'a', force: true })).toMatchObject({ kind: 'acquired' });
  expect(await lock.inspect('none')).toBeUndefined();
  await lock.acquire({ name: 'b' });
  expect((await lock.list()).map(({ name }) => name)).toEqual(['a', 'b']);

  const first = await store.write('a', 'first', lease.token);
  expect(first).toEqual({ kind: 'written', version: lease.token });
  expect(await store.write('a', 'late', lease.token - 1)).toEqual({ kind: 'refused', version: lease.token });
  const second = await store.write('a', 'second');
  if (second.kind !== 'written') throw new Error(second.kind);
  expect(second.version).toBeGreaterThan(first.version);
  const read = await store.read('a');
  expect(read).toMatchObject({ payload: 'second', version: second.version });
  expect(read?.age).toBeGreaterThanOrEqual(0);
  expect(read?.age).toBeLessThan(60_000);
  expect(await store.read('a', second.version)).toBeUndefined();
  expect((await store.history('a')).map(({ version }) => version)).toEqual([second.version, first.version]);
  expect(await store.confirm('a', second.version, 'note')).toMatchObject({ version: second.version });
  await store.write('b', 'other');
  const report = { instance: 'i', text: '[]', keepFor: 60_000 };
  expect(await store.versions(['a', 'b', 'none'], report)).toEqual([second.version, expect.any(Number), 0]);
  expect(await store.delete('a')).toBe(true);
  expect(await store.delete('a')).toBe(false);
}
