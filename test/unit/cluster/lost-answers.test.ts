import { describe, expect, it } from 'vitest';
import type { LockProvider } from '../../../src/cluster/lock-contract.ts';
import { isTicklessError } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { coldOne, LEASE_MS, ManualCluster, warmOne, warmPair } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { methodsOf, partsOn, recordsWith } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('answers that are lost', () => {
  it('an acquire is repeated with the same request, and gives the same lease', async () => {
    const { cluster, value, manual, link, events } = coldOne();
    link.breakOnce('answer-lost', 'acquire');
    const first = value.get();
    await cluster.clock.flush();
    expect(link.take()).toEqual(['read', 'acquire', 'acquire']);
    manual.call(0).resolve('one');
    expect(await first).toBe('one');
    await cluster.clock.flush();
    expect(wordsOf(events)).not.toContain('took-over');
    expect((await cluster.store.read('v'))?.version).toBe(manual.call(0).context.token);
  });

  it('an acquire that is carried out and stays without an answer is repeated behind a reload, as a probe', async () => {
    const { cluster, a } = await warmOne();
    await cluster.clock.advance(1030);
    a.link.take();
    a.link.breakOnce(new Promise(() => {}), 'acquire');
    a.value.current;
    await cluster.clock.advance(1000);
    expect(a.link.take()).toEqual(['acquire', 'acquire', 'extend']); // half of the lease is over
    expect(a.manual.call(1).context.token).toBeGreaterThan(0);
    await cluster.end(a, 1, 'two');
    expect((await cluster.store.read('v'))?.version).toBe(a.manual.call(1).context.token);
  });

  it('but once only, also where timers fire early', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    const setTimeout = (callback: () => void, ms: number) => clock.setTimeout(callback, ms - 0.7);
    const early = { now: () => clock.now(), monotonic: () => clock.monotonic(), setTimeout };
    const [a] = await cluster.warm(1, { clock: early });
    await clock.advance(1030);
    a.link.take();
    a.link.break('no-answer', 'acquire');
    a.value.current;
    await clock.advance(1900);
    expect(a.manual.calls).toHaveLength(1);
    await clock.advance(100);
    expect(a.link.take()).toEqual(['acquire', 'acquire']);
    expect(a.manual.call(1).context.token).toBeUndefined();
  });

  it('where both are lost, the next round asks with that request once more: it does not wait for itself', async () => {
    const { cluster, a } = await warmOne({ whenBackendDown: 'skip' });
    a.link.break('answer-lost', 'acquire');
    await rejectionOf(a.value.refresh({ here: true }));
    const lost = a.link.requestIds();
    a.link.mend();
    await cluster.clock.advance(1500);
    a.link.take();
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.flush();
    // Half of the lease is over: it is extended at once.
    expect(a.link.commands.map(({ step }) => step)).toEqual(['acquire', 'extend']);
    expect(new Set([...lost, ...a.link.requestIds()]).size).toBe(1);
    a.manual.call(1).resolve('two');
    expect(await refreshed).toBe('two');
  });

  it('a request that was answered is not used again', async () => {
    const { cluster, a } = await warmOne();
    for (const index of [1, 2]) await cluster.refresh(a, index, 'again', { here: true });
    await cluster.clock.flush();
    const [one, two] = a.link.requestIds();
    expect(one).not.toBe(two);
  });

  it('a write is repeated with the same token, and is written', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.clock.advance(1030);
    a.link.breakOnce('answer-lost', 'write');
    await cluster.reload(a, 1, 'two');
    expect(a.link.take()).toEqual(['acquire', 'write', 'write']);
    expect(wordsOf(a.events)).toContain('published');
    expect(wordsOf(a.events)).not.toContain('publish-refused');
    await cluster.read(b);
    expect(b.value.peek()).toBe('two');
  });

  it.each([
    ['while its lease lasts', LEASE_MS - 1000, [0, LEASE_MS - 1000]],
    ['not when its lease is over', LEASE_MS, [0]],
  ])('a write is repeated %s', async (_, brokenFor, writtenAt) => {
    const { cluster, a } = await warmOne();
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.flush();
    const publishedAt = cluster.clock.monotonic();
    const writes: number[] = [];
    const broken = new Promise<void>((_, reject) => {
      cluster.clock.setTimeout(() => reject(new Error('ECONNRESET')), brokenFor);
    });
    a.link.fault = (step) => {
      if (step !== 'write') return undefined;
      writes.push(cluster.clock.monotonic() - publishedAt);
      return writes.length === 1 ? broken : undefined;
    };
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(10 * LEASE_MS);
    expect(await refreshed).toBe('two');
    expect(writes).toEqual(writtenAt);
    const types = wordsOf(a.events);
    expect([types.includes('published'), types.includes('lost')]).toEqual(
      writtenAt.length === 2 ? [true, false] : [false, true],
    );
  });

  it('one that can’t be written holds nothing back: the next instance loads', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.clock.advance(1030);
    a.link.break('refused', 'write');
    await cluster.reload(a, 1, 'two');
    expect(a.value.peek()).toBe('two');
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'done', holdLeft: 0 });
    await cluster.read(b);
    expect(b.manual.calls).toHaveLength(1);
  });

  it('a read at a cold start: the claim has the snapshot', async () => {
    const cluster = new ManualCluster();
    await cluster.warm(1);
    const b = cluster.instance();
    b.link.break('refused', 'read');
    const read = b.value.get();
    expect(await read).toBe('one'); // it came with the answer of the lock
    expect(b.manual.calls).toHaveLength(0);
    expect(b.logger.lines).toEqual([
      'warn tickless: backend: store unavailable, loads are not shared: ECONNREFUSED',
    ]);
  });

  it('a claim: it is made again, and has the snapshot', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.reloadAfter(1030, a, 1, 'two');
    b.link.breakOnce('answer-lost', 'acquire');
    await cluster.read(b);
    expect([b.value.peek(), b.manual.calls.length]).toEqual(['two', 0]);
    expect(b.link.take()).toEqual(['acquire', 'acquire']);
    expect(await cluster.refresh(b, 0, 'three')).toBe('three');
    expect(b.link.take()).toEqual(['acquire', 'write']);
    expect(b.logger.lines).toEqual([]);
  });
});

describe('what never answers', () => {
  it('a release: nobody waits for it', async () => {
    const { cluster, value, manual, link } = coldOne();
    link.break('no-answer', 'release');
    expect(await cluster.load({ value, manual }, 'one')).toBe('one');
    await cluster.clock.advance(1030);
    expect(await value.get()).toBe('one');
  });
});

describe('locks of others and records that misbehave', () => {
  const strange: Record<string, () => unknown> = {
    'throw an error': () => {
      throw new Error('strange');
    },
    'throw undefined': () => {
      throw undefined;
    },
    'reject with null': () => Promise.reject(null),
    'reject with a symbol': () => Promise.reject(Symbol('strange')),
    'answer with undefined': () => undefined,
    'answer with a text': () => 'yes',
    'have a then that throws': () => ({
      then() {
        throw new Error('strange');
      },
    }),
  };
  for (const [what, does] of Object.entries(strange)) {
    it(`that ${what}: values are loaded and served`, async () => {
      const cluster = new ManualCluster();
      const lock = { leaseFor: 1000, acquire: does, extend: does, release: does } as unknown as LockProvider;
      const records = recordsWith(cluster.records, { apply: does, list: does, editions: does } as never);
      for (const own of [{ lock: asLock(lock), store: undefined }, partsOn(records)]) {
        const { value, manual } = cluster.instance(own);
        expect(await cluster.load({ value, manual }, 'one')).toBe('one');
        await cluster.clock.advance(1030);
        expect(await value.get()).toBe('one');
        await cluster.clock.flush();
        await cluster.end({ manual }, 1, 'two');
        expect(value.peek()).toBe('two');
        expect(value.inspect().failures).toBe(0);
        expect(value.inspect().lock?.lockError).toMatchObject({ code: 'BACKEND_DOWN' });
      }
    });
  }

  for (const kind of ['held', 'done'] as const) {
    it(`a lock that answers ${kind} whatever it is asked does not keep the process busy`, async () => {
      const cluster = new ManualCluster();
      const answer = {
        kind,
        retryAfter: 10,
        heldFor: 1,
        finishedAgo: 1,
        owner: 'o',
        host: 'h',
        token: 1,
        isBackoff: true,
        now: cluster.clock.now(),
      };
      let asked = 0;
      const acquire = async (): Promise<typeof answer> => {
        asked += 1;
        if (asked > 10_000) throw new Error('too often');
        return answer;
      };
      const lock = asLock({ ...methodsOf(cluster.link().lock), acquire } as unknown as LockProvider);
      const { value } = cluster.instance({ lock, store: undefined, timeout: 1000 });
      const forced = rejectionOf(value.refresh({ here: true }));
      await cluster.clock.advance(1000);
      expect(isTicklessError(await forced, 'TIMED_OUT')).toBe(true);
      expect(asked).toBeLessThanOrEqual(150);
    });
  }
});
