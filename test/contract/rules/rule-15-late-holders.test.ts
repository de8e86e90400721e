import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { coldPair, LEASE_MS, ManualCluster, warmPair } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('rule 15: holders that are killed, paused or late', () => {
  it('one that is killed is replaced after its lease, not before', async () => {
    const { cluster, a, b } = coldPair();
    void a.value.get().catch(() => {});
    await cluster.clock.flush();
    a.clock.stop(); // for good
    a.link.break('no-answer', 'extend', 'release', 'write');
    const second = b.value.get();
    await cluster.clock.advance(LEASE_MS - 1);
    expect(b.manual.calls).toHaveLength(0);
    await cluster.clock.advance(1000);
    b.manual.call(0).resolve('of b');
    expect(await second).toBe('of b');
    await cluster.clock.flush();
    expect(wordsOf(b.events)).toContain('took-over');
    expect(b.manual.call(0).context.token).toBeGreaterThan(a.manual.call(0).context.token as number);
  });

  it('a holder that lives keeps its lease for as long as its load takes', async () => {
    const { cluster, a, b } = coldPair();
    const reads = [a.value.get(), b.value.get()];
    await cluster.clock.advance(8 * LEASE_MS);
    expect(b.manual.calls).toHaveLength(0);
    a.manual.call(0).resolve('of a');
    await cluster.clock.advance(1000);
    expect(await Promise.all(reads)).toEqual(['of a', 'of a']);
    expect(wordsOf(b.events)).not.toContain('took-over');
  });

  it('one that was paused past its lease does nothing more with it', async () => {
    const { cluster, a, b } = await warmPair();
    const lost = rejectionOf(a.value.refresh());
    await cluster.clock.flush();
    a.link.take();
    a.clock.stop();
    await cluster.clock.advance(2 * LEASE_MS);
    await cluster.refresh(b, 0, 'of b');
    const before = await cluster.lock.inspect('v');
    a.clock.continue();
    a.manual.call(1).resolve('late');
    const error = await lost;
    expect(isTicklessError(error, 'LEASE_LOST') && error.message).toContain('was paused for too long');
    await cluster.clock.flush();
    expect(a.link.take()).toEqual([]); // neither extended, nor released, nor written
    expect(await cluster.lock.inspect('v')).toEqual(before);
    expect(a.value.peek()).toBe('one');
    expect((await cluster.store.read('v'))?.payload).toContain('of b');
  });

  it("a release or an extension that arrives late leaves the next holder's lease alone", async () => {
    const { lock, clock } = new ManualCluster();
    const first = await lock.acquire({ name: 'v' });
    if (first.kind !== 'acquired') throw new Error(first.kind);
    await clock.advance(LEASE_MS);
    const second = await lock.acquire({ name: 'v' });
    expect(second).toMatchObject({ kind: 'acquired', tookOver: true });
    const before = await lock.inspect('v');
    expect(await lock.release(first.lease, { as: 'done', holdFor: 60_000 })).toBe(false);
    expect(await lock.release(first.lease, { as: 'abandoned' })).toBe(false);
    expect(await lock.extend(first.lease, 60_000)).toBe(false);
    expect(await lock.inspect('v')).toEqual(before);
  });

  it('a lease that has expired is neither extended nor released, also without a next holder', async () => {
    const { lock, clock } = new ManualCluster();
    const first = await lock.acquire({ name: 'v' });
    if (first.kind !== 'acquired') throw new Error(first.kind);
    await clock.advance(LEASE_MS);
    expect(await lock.extend(first.lease, 60_000)).toBe(false);
    expect(await lock.release(first.lease, { as: 'done', holdFor: 60_000 })).toBe(false);
    expect((await lock.acquire({ name: 'v' })).kind).toBe('acquired');
  });

  it('force ignores a hold, never a live lease', async () => {
    const { lock } = new ManualCluster();
    const first = await lock.acquire({ name: 'v' });
    if (first.kind !== 'acquired') throw new Error(first.kind);
    expect((await lock.acquire({ name: 'v', force: true })).kind).toBe('held');
    await lock.release(first.lease, { as: 'done', holdFor: 60_000 });
    expect((await lock.acquire({ name: 'v' })).kind).toBe('done');
    expect((await lock.acquire({ name: 'v', force: true })).kind).toBe('acquired');
  });
});
