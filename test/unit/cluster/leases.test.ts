import { describe, expect, it } from 'vitest';
import type { AcquireRequest } from '../../../src/cluster/lock-contract.ts';
import {
  isTicklessError,
  type LockedContext,
  lockedTask,
  RefreshGroup,
  type RefreshingValue,
} from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { coldOne, LEASE_MS, type Link, ManualCluster, warmOne } from '../../support/cluster.ts';
import { recordLines, wordsOf } from '../../support/events.ts';
import { methodsOf } from '../../support/parts.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

/** A lock that is waited for longer than a lease lasts. */
const patient = (): ManualCluster => new ManualCluster({}, LEASE_MS, 10_000);

describe('a lease whose answer comes when it has expired', () => {
  /** Its first answer comes late by so much. */
  async function late(cluster: ManualCluster, link: Link, byMs: number): Promise<void> {
    const comes = new Promise<void>((resolve) => void cluster.clock.setTimeout(resolve, byMs));
    link.breakOnce(comes, 'acquire');
    await cluster.clock.advance(byMs);
  }

  it('is none: another one is asked for, and nothing is loaded under the first', async () => {
    const cluster = patient();
    const { value, manual, link, events } = cluster.instance();
    const first = value.get();
    await late(cluster, link, LEASE_MS + 1);
    expect(wordsOf(events)).toEqual(['took-over', 'load-started']);
    expect(new Set(link.requestIds()).size).toBe(2);
    expect(manual.calls).toHaveLength(1);
    manual.call(0).resolve('one');
    expect(await first).toBe('one');
  });

  it('runs no locked task either', async () => {
    const cluster = patient();
    const link = cluster.link();
    const tokens: number[] = [];
    const task = ({ token, signal }: LockedContext): void => {
      expect(signal.aborted).toBe(false);
      tokens.push(token);
    };
    const passing = late(cluster, link, LEASE_MS + 1);
    const run = lockedTask(task, { name: 't', lock: link.lock, clock: cluster.clock })();
    await passing;
    expect(await run).toMatchObject({ kind: 'executed', token: tokens[0] });
    expect(link.take()).toEqual(['acquire', 'acquire', 'release']);
  });
});

describe('a lease whose answer comes late', () => {
  /** Has its lock answer so late; asked once more behind its back, as clients do that connect anew. */
  function answeringAfter(cluster: ManualCluster, ms: number) {
    const link = cluster.link();
    async function acquire(request: AcquireRequest): ReturnType<typeof link.lock.acquire> {
      await link.lock.acquire(request);
      await new Promise<void>((resolve) => void cluster.clock.setTimeout(resolve, ms));
      return link.lock.acquire(request);
    }
    return {
      link,
      instance: cluster.instance({
        lock: asLock({ ...methodsOf(link.lock), acquire }, { timeout: 10_000 }),
        store: undefined,
      }),
    };
  }

  it('lasts from its request on, not by what was left of it: it is extended at once, and the load goes on', async () => {
    const cluster = patient();
    const { link, instance } = answeringAfter(cluster, 0.6 * LEASE_MS);
    const { value, manual, events } = instance;
    const first = value.get();
    await cluster.clock.advance(0.6 * LEASE_MS);
    expect(link.take()).toEqual(['acquire', 'acquire', 'extend']);
    await cluster.clock.advance(2 * LEASE_MS);
    manual.call(0).resolve('one');
    expect(await first).toBe('one');
    expect(wordsOf(events)).not.toContain('lost');
  });

  it('and no longer: where it can not be extended it ends with it', async () => {
    const cluster = patient();
    const { link, instance } = answeringAfter(cluster, 0.6 * LEASE_MS);
    link.break('refused', 'extend');
    const failed = rejectionOf(instance.value.get());
    await cluster.clock.advance(LEASE_MS - 1);
    const { signal } = instance.manual.call(0).context;
    expect(signal.aborted).toBe(false);
    await cluster.clock.advance(1);
    expect([signal.aborted, isTicklessError(await failed, 'LEASE_LOST')]).toEqual([true, true]);
  });

  it('an engine that says that less is left is believed', async () => {
    const cluster = patient();
    const { lock } = cluster.link();
    const acquire = async (request: AcquireRequest): ReturnType<typeof lock.acquire> => {
      const answer = await lock.acquire(request);
      return answer.kind === 'acquired' ? { ...answer, lease: { ...answer.lease, remaining: 500 } } : answer;
    };
    const extend = async (): Promise<boolean> => Promise.reject(new Error('ECONNREFUSED'));
    const own = { lock: asLock({ ...methodsOf(lock), acquire, extend }), store: undefined };
    const { value, manual } = cluster.instance(own);
    const failed = rejectionOf(value.get());
    await cluster.clock.advance(499);
    expect(manual.call(0).context.signal.aborted).toBe(false);
    await cluster.clock.advance(1);
    expect(isTicklessError(await failed, 'LEASE_LOST')).toBe(true);
  });
});

describe('renewal', () => {
  it('ends at the deadline; a load that ignores its signal keeps the lease until it expires', async () => {
    const { cluster, a } = await warmOne({ timeout: 2500 });
    const b = cluster.instance();
    await b.value.get();
    void rejectionOf(a.value.refresh({ here: true }));
    await cluster.clock.advance(2500);
    expect(a.link.take()).toEqual(['acquire', 'extend', 'extend']);
    const fresh = b.value.refresh({ here: true });
    await cluster.clock.advance(LEASE_MS - 501);
    expect(b.manual.calls).toHaveLength(0);
    expect(a.link.take()).toEqual([]);
    await cluster.clock.advance(1000);
    expect(b.manual.calls).toHaveLength(1);
    b.manual.call(0).resolve('two');
    expect(await fresh).toBe('two');
    await cluster.end(a, 1, 'late');
    expect(a.link.take()).toEqual([]);
  });

  it.each<[string, (link: Link, cluster: ManualCluster) => void, number]>([
    ['that fails once is tried again', (link) => link.breakOnce('refused', 'extend'), 2],
    ['whose answer is lost has been done', (link) => link.breakOnce('answer-lost', 'extend'), 1],
    [
      'whose answers come late, by less than half of the lease each, keeps it',
      (link, { clock }) => {
        const late = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 0.45 * LEASE_MS));
        link.fault = (step) => (step === 'extend' ? late() : undefined);
      },
      4,
    ],
  ])('%s, and the load goes on', async (_, disturb, leases) => {
    const { cluster, value, manual, link } = coldOne();
    const first = value.get();
    await cluster.clock.flush();
    disturb(link, cluster);
    await cluster.clock.advance(leases * LEASE_MS);
    expect(manual.call(0).context.signal.aborted).toBe(false);
    manual.call(0).resolve('one');
    expect(await first).toBe('one');
  });
});

describe('retries', () => {
  it('all tries of an execution run under one lease, and count as one', async () => {
    const cluster = new ManualCluster();
    const { value, manual, link } = cluster.instance({
      retry: { retries: 2, minTimeout: 100, factor: 1, randomize: false },
    });
    const first = value.get();
    await cluster.clock.flush();
    manual.call(0).reject(new Error('down'));
    await cluster.clock.advance(100);
    manual.call(1).reject(new Error('down'));
    await cluster.clock.advance(100);
    manual.call(2).resolve('one');
    expect(await first).toBe('one');
    await cluster.clock.flush();
    expect(new Set(manual.calls.map(({ context }) => context.token)).size).toBe(1);
    expect(manual.calls.map(({ context }) => context.attempt)).toEqual([1, 2, 3]);
    expect(link.take()).toEqual(['read', 'acquire', 'write']);
  });

  it('one that ignores its signal keeps the lease until it has settled, with retries to come or without', async () => {
    const { cluster, a } = await warmOne({ retry: { retries: 2, minTimeout: 100, randomize: false } });
    void a.value.refresh({ here: true });
    await cluster.clock.flush();
    a.value.set('by hand', { here: true });
    await cluster.clock.advance(100);
    expect((await cluster.lock.inspect('v'))?.state).toBe('running');
    await cluster.fail(a, 1, new Error('late'));
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'done', leaseLeft: 0 }); // of the round before
  });
});

describe('a load without a deadline that never settles', () => {
  it.each<[string, (value: RefreshingValue<string>) => void]>([
    ['cancelled', (value) => value.cancel('by hand')],
    ['superseded', (value) => value.set('by hand', { here: true })],
  ])('and is %s keeps the lease for 30 s, and until it expires: then all may load', async (_, end) => {
    const { cluster, a } = await warmOne({ timeout: Infinity });
    void a.value.refresh({ here: true }).catch(() => {});
    await cluster.clock.flush();
    end(a.value);
    await cluster.clock.advance(29_000);
    expect((await cluster.lock.inspect('v'))?.leaseLeft).toBeGreaterThan(0);
    await cluster.clock.advance(1000 + LEASE_MS);
    expect((await cluster.lock.inspect('v'))?.leaseLeft).toBe(0);
    const b = cluster.instance();
    await cluster.refresh(b, 0, 'two', { here: true });
    await cluster.refresh(a, 2, 'three', { here: true });
    expect(a.value.peek()).toBe('three');
  });
});

describe('a load that is superseded in the pause between two tries', () => {
  it('has settled: the lease is given back at once, and the successor begins', async () => {
    const { cluster, a } = await warmOne({ retry: { retries: 2, minTimeout: 1000, randomize: false } });
    void a.value.refresh({ here: true });
    await cluster.clock.flush();
    await cluster.fail(a, 1, new Error('down'));
    a.value.set('by hand', { here: true });
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.advance(10);
    expect(a.link.take().slice(0, 3)).toEqual(['acquire', 'release', 'acquire']);
    a.manual.call(2).resolve('two');
    expect(await refreshed).toBe('two');
    await cluster.clock.flush();
    expect(cluster.clock.timerCount).toBe(0);
  });
});

describe('giving the lease back', () => {
  it('is tried again where it fails, and the reader has long been served', async () => {
    const { cluster, value, manual, link } = coldOne();
    const first = value.get();
    await cluster.clock.flush();
    link.break('refused', 'write', 'release');
    manual.call(0).resolve('one');
    expect(await first).toBe('one');
    await cluster.clock.advance(750); // after 100, 300 and 700 ms
    expect(link.take()).toEqual(['read', 'acquire', 'write', 'write', ...Array(4).fill('release')]);
    link.mend();
    await cluster.clock.advance(800);
    expect(link.take()).toEqual(['release']);
    expect((await cluster.lock.inspect('v'))?.state).toBe('done');
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('that never succeeds is left to expire', async () => {
    const { cluster, value, manual, link } = coldOne();
    const first = value.get();
    await cluster.clock.flush();
    link.break('refused', 'release');
    manual.call(0).resolve('one');
    await first;
    await cluster.clock.advance(LEASE_MS);
    link.take();
    await cluster.clock.advance(10 * LEASE_MS);
    expect(link.take()).toEqual([]);
    expect(cluster.clock.timerCount).toBe(0);
    expect((await cluster.lock.acquire({ name: 'v' })).kind).toBe('acquired');
  });

  for (const [name, supersede] of Object.entries({
    'invalidate, with drop': (value: RefreshingValue<string>) => value.invalidate({ drop: true, here: true }),
    set: (value: RefreshingValue<string>) => value.set('by hand', { here: true }),
  })) {
    it(`comes after the load has settled where ${name} superseded it, not before`, async () => {
      const { cluster, a } = await warmOne();
      const controller = new AbortController();
      await cluster.clock.advance(1030);
      a.value.get({ patience: 1, signal: controller.signal }).catch(() => {});
      await cluster.clock.flush();
      controller.abort();
      a.link.take();
      supersede(a.value);
      await cluster.clock.advance(100);
      expect(a.manual.call(1).context.signal.aborted).toBe(true);
      expect(a.link.take()).toEqual([]);
      expect((await cluster.lock.inspect('v'))?.state).toBe('running');
      await cluster.end(a, 1, 'late');
      expect(a.link.take()[0]).toBe('release');
    });
  }

  it('the successor of a superseded load waits for that, and is one load', async () => {
    const { cluster, a } = await warmOne();
    void a.value.refresh({ here: true });
    await cluster.clock.flush();
    a.value.set('by hand', { here: true });
    const refreshed = a.value.refresh({ here: true });
    await cluster.clock.advance(500);
    expect(a.manual.calls).toHaveLength(2);
    await cluster.fail(a, 1, new Error('aborted'));
    expect(a.manual.calls).toHaveLength(3);
    a.manual.call(2).resolve('three');
    expect(await refreshed).toBe('three');
  });

  it('one that is granted after the load was superseded is given back at once', async () => {
    const { cluster, value, link, manual } = coldOne();
    const answer = link.hold('acquire');
    void value.get().catch(() => {});
    await cluster.clock.flush();
    value.set('by hand', { here: true });
    answer.resolve();
    await cluster.clock.flush();
    expect(manual.calls).toHaveLength(0);
    expect((await cluster.lock.inspect('v'))?.state).toBe('abandoned');
  });
});

describe('close', () => {
  it('waits until what was loaded is published and the lease given back', async () => {
    const { cluster, value, manual, link } = coldOne();
    const first = value.get();
    await cluster.clock.flush();
    const answer = link.hold('write');
    manual.call(0).resolve('one');
    await first;
    const closed = value.close();
    await cluster.clock.flush();
    expect(await settled(closed)).toBe('pending');
    answer.resolve();
    expect(await closed).toEqual({ drained: true, aborted: [], leases: [] });
    expect((await cluster.lock.inspect('v'))?.state).toBe('done');
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('aborts a load that takes too long, and gives the lease back when that has settled', async () => {
    const { cluster, value, manual } = coldOne();
    const first = rejectionOf(value.get());
    await cluster.clock.flush();
    const closed = value.close({ timeout: 1000 });
    await cluster.clock.advance(1000);
    expect(isTicklessError(await first, 'CLOSED')).toBe(true);
    expect(await settled(closed)).toBe('pending');
    manual.call(0).reject(new Error('aborted'));
    expect(await closed).toEqual({ drained: false, aborted: [{ name: 'v' }], leases: [] });
    expect((await cluster.lock.inspect('v'))?.state).toBe('abandoned');
  });

  it('tells which lease is left, in one line, where the lock does not answer or the load ignores its signal', async () => {
    for (const fault of ['no-answer', undefined] as const) {
      const { cluster, value, manual, link, logger } = coldOne({ timeout: 10 * LEASE_MS });
      void value.get().catch(() => {});
      await cluster.clock.flush();
      const { token } = (await cluster.lock.inspect('v')) as { token: number };
      if (fault !== undefined) link.break(fault, 'release');
      const closed = value.close({ timeout: 0 });
      if (fault !== undefined) manual.call(0).reject(new Error('aborted'));
      await cluster.clock.advance(1000);
      expect(await closed).toEqual({
        drained: false,
        aborted: [{ name: 'v' }],
        leases: [{ name: 'v', token }],
      });
      expect(value.close()).toBe(closed);
      expect(logger.lines.filter((line) => line.includes('closed'))).toEqual([
        'warn tickless: v: closed after 0 ms: aborted 1 load (v), left 1 lease (v) to expire',
      ]);
    }
  });

  it('tells the leases that are left of all members of a group, with their keys, in one line', async () => {
    const cluster = new ManualCluster();
    const { lock, store } = cluster.link();
    const logger = recordLines();
    const group = new RefreshGroup({
      clock: cluster.clock,
      backend: { lock, store },
      logger,
      retry: false,
    });
    const never = (): Promise<never> => new Promise(() => {});
    void group
      .value({ name: 'v', load: never })
      .get()
      .catch(() => {});
    void group
      .cache({ name: 'c', load: never, backend: 'group' })
      .get('k')
      .catch(() => {});
    void group
      .executor(never, { name: 't' })
      .requestStart()
      .catch(() => {});
    await cluster.clock.flush();
    const closed = group.close({ timeout: 0 });
    await cluster.clock.advance(1000);
    const cutOff = [{ name: 'v' }, { name: 'c', key: 'k' }, { name: 't' }];
    expect(await closed).toEqual({
      drained: false,
      aborted: cutOff,
      leases: cutOff.map((one) => ({ ...one, token: expect.any(Number) })),
    });
    expect(logger.lines.filter((line) => line.includes('closed'))).toEqual([
      'warn tickless: group: closed after 0 ms: aborted 3 loads (v, c["k"], t), left 3 leases (v, c["k"], t) to expire',
    ]);
  });

  it('does not wait for ever for a load that ignores its signal', async () => {
    const { cluster, value, link } = coldOne({ timeout: 10 * LEASE_MS });
    void value.get().catch(() => {});
    await cluster.clock.flush();
    const closed = value.close({ timeout: 0 });
    await cluster.clock.advance(1000);
    await closed;
    await cluster.clock.advance(9 * LEASE_MS); // nobody else loads while it may still be at it: until its deadline
    expect((await cluster.lock.inspect('v'))?.leaseLeft).toBeGreaterThan(0);
    await cluster.clock.advance(2 * LEASE_MS);
    const extended = link.commands.length;
    expect((await cluster.lock.inspect('v'))?.leaseLeft).toBe(0);
    expect(cluster.clock.timerCount).toBe(0);
    await cluster.clock.advance(LEASE_MS);
    expect(link.commands).toHaveLength(extended);
  });

  it('nor for a store that does not answer', async () => {
    const { cluster, value, manual, link } = coldOne();
    const first = value.get();
    await cluster.clock.flush();
    link.break('no-answer', 'write');
    manual.call(0).resolve('one');
    await first;
    const closed = value.close({ timeout: 2000 });
    await cluster.clock.advance(3000);
    await closed;
  });
});

describe('an answer of a lock that is none', () => {
  it.each([{}, undefined, Number.NaN, Object.create(null)])(
    'with the token %o counts as a lock that can not be asked',
    async (token) => {
      const cluster = new ManualCluster();
      const { lock } = cluster.link();
      const lease = { name: 'v', requestId: 'r', owner: 'o', remaining: 1000, token: token as number };
      const acquire = async () => ({ kind: 'acquired', lease, tookOver: false, now: 0 }) as const;
      const own = { lock: asLock({ ...methodsOf(lock), acquire }), store: undefined };
      const { value, manual } = cluster.instance(own);
      const read = value.get();
      await cluster.clock.advance(5000);
      manual.call(0).resolve('without the lock');
      expect(await read).toBe('without the lock');
      expect(value.inspect().lock?.lockError?.message).toContain('acquire() returned');
    },
  );
});
