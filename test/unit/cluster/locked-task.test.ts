import { describe, expect, it, vi } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  isTicklessError,
  type LockedContext,
  type LockedTaskOptions,
  lockedTask,
} from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { LEASE_MS, Link, ManualCluster } from '../../support/cluster.ts';
import { recordLines } from '../../support/events.ts';
import { optionsIn } from '../../support/option-errors.ts';
import { lockOf, methodsOf } from '../../support/parts.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

/** A locked task that ends when the test says so. */
function manualTask(cluster: ManualCluster, own: Partial<LockedTaskOptions> = {}) {
  const link = cluster.link();
  const calls: { context: LockedContext; resolve(result: string): void; reject(error: unknown): void }[] = [];
  const run = lockedTask(
    (context) => new Promise<string>((resolve, reject) => void calls.push({ context, resolve, reject })),
    { name: 'nightly', lock: link.lock, clock: cluster.clock, ...own },
  );
  return { link, calls, run };
}

describe('lockedTask', () => {
  it('executes on one instance at a time; to the others it says who', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [manualTask(cluster), manualTask(cluster)];
    const executed = a.run();
    await cluster.clock.flush();
    const answer = await b.run();
    expect(answer).toMatchObject({ kind: 'held', retryAfter: LEASE_MS });
    expect(Object.keys(answer).sort()).toEqual(['host', 'kind', 'owner', 'retryAfter']);
    a.calls[0]?.resolve('report sent');
    const token = a.calls[0]?.context.token;
    expect(await executed).toEqual({ kind: 'executed', result: 'report sent', token });
    expect(a.link.take()).toEqual(['acquire', 'release']);
    expect(cluster.clock.timerCount).toBe(0);
    const next = b.run();
    await cluster.clock.flush();
    expect(b.calls[0]?.context.token).toBeGreaterThan(token as number);
    b.calls[0]?.resolve('once more');
    await next;
  });

  it('is not executed again before lockAtLeastFor, counted from its start', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [manualTask(cluster, { lockAtLeastFor: 2000 }), manualTask(cluster)];
    const executed = a.run();
    await cluster.clock.advance(500);
    a.calls[0]?.resolve('done');
    await executed;
    expect(await b.run()).toMatchObject({ kind: 'already-done', retryAfter: 1500 });
    await cluster.clock.advance(1500);
    void b.run();
    await cluster.clock.flush();
    expect(b.calls).toHaveLength(1);
  });

  it('its start is the call of the task, however long the answer of the lock was on its way', async () => {
    const cluster = new ManualCluster();
    const { link, calls, run } = manualTask(cluster, { lockAtLeastFor: 2000, lockAtMostFor: 20_000 });
    const acquireLate: typeof link.lock.acquire = async (request) => {
      const answer = await link.lock.acquire(request);
      await new Promise<void>((resolve) => cluster.clock.setTimeout(resolve, 900));
      return answer;
    };
    const lock = asLock({ ...methodsOf(link.lock), acquire: acquireLate });
    const late = manualTask(cluster, { lock, lockAtLeastFor: 2000, lockAtMostFor: 20_000 });
    const executed = late.run();
    await cluster.clock.advance(900);
    expect(late.calls).toHaveLength(1);
    await cluster.clock.advance(100);
    late.calls[0]?.resolve('done');
    await executed;
    expect(await run()).toMatchObject({ kind: 'already-done', retryAfter: 1900 });
    await cluster.clock.advance(1900);
    void run();
    await cluster.clock.flush();
    expect(calls).toHaveLength(1);
  });

  it('one that took longer than lockAtLeastFor holds nothing back', async () => {
    const cluster = new ManualCluster();
    const a = manualTask(cluster, { lockAtLeastFor: 1000 });
    const executed = a.run();
    await cluster.clock.advance(2000);
    a.calls[0]?.resolve('done');
    await executed;
    expect(await cluster.lock.inspect('nightly')).toMatchObject({ state: 'done', holdLeft: 0 });
  });

  it('lockAtMostFor aborts its signal, and what comes after that is LEASE_LOST', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [manualTask(cluster, { lockAtMostFor: 5000 }), manualTask(cluster)];
    const lost = rejectionOf(a.run());
    await cluster.clock.advance(4999);
    expect(a.link.take()).toEqual(['acquire', 'extend', 'extend']); // and not beyond lockAtMostFor
    expect(a.calls[0]?.context.signal.aborted).toBe(false);
    await cluster.clock.advance(1);
    expect(isTicklessError(a.calls[0]?.context.signal.reason, 'LEASE_LOST')).toBe(true);
    const executed = b.run();
    await cluster.clock.flush();
    a.calls[0]?.resolve('too late');
    const error = await lost;
    expect(isTicklessError(error, 'LEASE_LOST')).toBe(true);
    expect(a.link.take()).toEqual([]);
    b.calls[0]?.resolve('of b');
    expect(await executed).toMatchObject({ kind: 'executed', result: 'of b' });
  });

  it('a task that fails gives the lease back at once, and its own error is the rejection', async () => {
    const cluster = new ManualCluster();
    for (const fail of [
      (): never => {
        throw new Error('down');
      },
      (): Promise<never> => Promise.reject(new Error('down')),
    ]) {
      const { lock } = cluster.link();
      const run = lockedTask(fail, { name: 'n', lock, clock: cluster.clock, lockAtLeastFor: 1000 });
      expect(await rejectionOf(run())).toMatchObject({ message: 'down' });
      expect(await cluster.lock.inspect('n')).toMatchObject({
        state: 'failed',
        holdLeft: 0,
        leaseLeft: 0,
        lastError: 'down',
      });
      expect(cluster.clock.timerCount).toBe(0);
    }
  });

  it('a release that fails does not take the place of the result; it is tried again behind', async () => {
    const cluster = new ManualCluster();
    const a = manualTask(cluster);
    a.link.break('refused', 'release');
    const executed = a.run();
    await cluster.clock.flush();
    a.calls[0]?.resolve('done');
    expect(await executed).toMatchObject({ kind: 'executed', result: 'done' });
    a.link.mend();
    await cluster.clock.advance(100);
    expect((await cluster.lock.inspect('nightly'))?.state).toBe('done');
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('a lost answer to the acquire costs nothing: the same request gives the same lease', async () => {
    const cluster = new ManualCluster();
    const a = manualTask(cluster);
    a.link.breakOnce('answer-lost', 'acquire');
    const executed = a.run();
    await cluster.clock.flush();
    const ids = a.link.requestIds();
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    a.calls[0]?.resolve('done');
    expect(await executed).toMatchObject({ kind: 'executed' });
  });

  it('where the lock can’t be asked it is not executed', async () => {
    const cluster = new ManualCluster();
    const a = manualTask(cluster);
    a.link.break('refused', 'acquire');
    expect(isTicklessError(await rejectionOf(a.run()), 'BACKEND_DOWN')).toBe(true);
    expect(a.calls).toHaveLength(0);
    const strange = { leaseFor: 1, acquire: () => Promise.reject(undefined), extend: a.run, release: a.run };
    const run = lockedTask(() => 1, { name: 'n', lock: asLock(strange as never), clock: cluster.clock });
    expect(isTicklessError(await rejectionOf(run()), 'BACKEND_DOWN')).toBe(true);
  });

  it('passes arguments on, and its name may be a function of them', async () => {
    const cluster = new ManualCluster();
    const { lock } = cluster.link();
    const seen: unknown[] = [];
    const report = lockedTask(
      ({ token }, tenant: string, count: number) => seen.push([token > 0, tenant, count]),
      { name: (tenant) => `report-${tenant}`, lock, clock: cluster.clock, lockAtLeastFor: 1000 },
    );
    const outcomes = [await report('nl', 1), await report('be', 2), await report('nl', 3)];
    expect(outcomes.map(({ kind }) => kind)).toEqual(['executed', 'executed', 'already-done']);
    expect(seen).toEqual([
      [true, 'nl', 1],
      [true, 'be', 2],
    ]);
    expect((await cluster.lock.list()).map(({ name }) => name).sort()).toEqual(['report-be', 'report-nl']);
    const nameless = lockedTask(() => 1, { name: () => '', lock, clock: cluster.clock });
    expect(isTicklessError(await rejectionOf(nameless()), 'OPTION')).toBe(true);
  });

  it('extends its lease while it runs, so that a crash holds the others back for leaseFor only', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [manualTask(cluster, { lockAtMostFor: 60_000 }), manualTask(cluster)];
    const executed = a.run();
    await cluster.clock.advance(50_000);
    expect(a.link.take().filter((step) => step === 'extend').length).toBeGreaterThan(10);
    expect(await b.run()).toMatchObject({ kind: 'held' });
    expect((await cluster.lock.inspect('nightly'))?.leaseLeft).toBeLessThanOrEqual(LEASE_MS);
    a.link.break('no-answer', 'extend'); // its process stands still
    await cluster.clock.advance(LEASE_MS);
    expect(isTicklessError(a.calls[0]?.context.signal.reason, 'LEASE_LOST')).toBe(true);
    void b.run();
    await cluster.clock.flush();
    expect(b.calls).toHaveLength(1);
    a.calls[0]?.resolve('too late');
    expect(isTicklessError(await rejectionOf(executed), 'LEASE_LOST')).toBe(true);
  });

  it('close() waits for runs and their leases, then aborts them, and starts none', async () => {
    const cluster = new ManualCluster();
    const logger = recordLines();
    const a = manualTask(cluster, { logger });
    const executed = a.run();
    await cluster.clock.flush();
    const closed = a.run.close();
    expect(a.run.close({ timeout: 1 })).toBe(closed);
    expect(isTicklessError(await rejectionOf(a.run()), 'CLOSED')).toBe(true);
    expect(await settled(closed)).toBe('pending');
    a.calls[0]?.resolve('done');
    expect(await executed).toMatchObject({ kind: 'executed' });
    expect([await closed, logger.lines]).toEqual([{ drained: true, aborted: [], leases: [] }, []]);
    expect(a.link.take()).toEqual(['acquire', 'release']);
    expect(cluster.clock.timerCount).toBe(0);

    const b = manualTask(cluster);
    const failed = rejectionOf(b.run());
    await cluster.clock.flush();
    const { signal } = (b.calls[0] as (typeof b.calls)[0]).context;
    signal.addEventListener('abort', () => b.calls[0]?.reject(signal.reason));
    const ended = b.run.close({ timeout: 2000 });
    await cluster.clock.advance(1999);
    expect(signal.aborted).toBe(false);
    await cluster.clock.advance(1);
    expect(await ended).toEqual({ drained: false, aborted: [{ name: 'nightly' }], leases: [] });
    expect(isTicklessError(await failed, 'CLOSED')).toBe(true);
    expect((await cluster.lock.inspect('nightly'))?.leaseLeft).toBe(0);
    await lockedTask(() => 1, { name: 'n', lock: cluster.lock }).close();
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('close() tells the run that ignores its signal, and the lease that may still be held', async () => {
    const cluster = new ManualCluster();
    const logger = recordLines();
    const { link, calls, run } = manualTask(cluster, { logger });
    const unsettled = manualTask(cluster, { name: 'other', logger });
    const failed = rejectionOf(run());
    void unsettled.run().catch(() => {});
    await cluster.clock.flush();
    link.break('no-answer', 'release');
    const [closed, left] = [run.close({ timeout: 0 }), unsettled.run.close({ timeout: 0 })];
    calls[0]?.reject(new Error('aborted'));
    await cluster.clock.advance(1000);
    const token = expect.any(Number);
    const [aborted, others] = [[{ name: 'nightly' }], [{ name: 'other' }]];
    expect(await closed).toEqual({ drained: false, aborted, leases: [{ name: 'nightly', token }] });
    expect(await left).toEqual({ drained: false, aborted: others, leases: [{ name: 'other', token }] });
    expect(logger.lines.sort()).toEqual([
      'warn tickless: nightly: closed after 0 ms: aborted 1 run (nightly), left 1 lease (nightly) to expire',
      'warn tickless: other: closed after 0 ms: aborted 1 run (other), left 1 lease (other) to expire',
    ]);
    expect(await run.close()).toBe(await closed);
    expect(logger.lines.length).toBe(2);
    await cluster.clock.advance(2 * LEASE_MS);
    await failed;
  });

  it('close() logs nothing with logger: false', async () => {
    const cluster = new ManualCluster();
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const silent = manualTask(cluster, { logger: false });
    void silent.run().catch(() => {});
    await cluster.clock.flush();
    const left = silent.run.close({ timeout: 0 });
    await cluster.clock.advance(2000);
    expect([(await left).drained, warned.mock.calls]).toEqual([false, []]);
    warned.mockRestore();
    const options = { name: 'n', lock: cluster.lock, logger: {} as never };
    expect((thrownBy(() => lockedTask(() => 1, options)) as Error).message).toMatch(
      /logger must have the methods/,
    );
  });

  it('register() shows a task to operators that has not run, and holds no run back', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [manualTask(cluster), manualTask(cluster)];
    await a.run.register();
    expect(await cluster.lock.list()).toMatchObject([{ name: 'nightly', state: 'registered', holdLeft: 0 }]);
    expect((await cluster.lock.inspect('nightly'))?.owner).not.toContain('registers:');
    const executed = b.run();
    await cluster.clock.flush();
    await a.run.register();
    expect((await cluster.lock.inspect('nightly'))?.state).toBe('running');
    b.calls[0]?.resolve('done');
    expect(await executed).toMatchObject({ kind: 'executed' });
    expect(a.calls).toHaveLength(0);
  });

  it('says which options break a rule, all together', () => {
    const { lock } = new ManualCluster();
    const broken = [
      { name: '', lock },
      { name: 'n' },
      { name: 'n', lock: {} },
      { name: 'n', lock, lockAtMostFor: 0 },
      { name: 'n', lock, lockAtMostFor: Number.POSITIVE_INFINITY },
      { name: 'n', lock, lockAtMostFor: Number.MAX_SAFE_INTEGER },
      { name: 'n\ud800', lock },
      { name: 'n', lock, lockAtMostFor: 1000, lockAtLeastFor: 1001 },
      { name: 'n', lock, lockAtLeastFor: -1 },
      { name: 'n', lock, lockAtMost: 1000 },
      { name: 'n'.repeat(9), lock: { ...lock, acquire() {}, extend() {}, release() {}, longestName: 8 } },
      undefined,
    ];
    for (const options of broken) {
      expect(() => lockedTask(() => 1, options as never), JSON.stringify(options)).toThrow(
        expect.objectContaining({ code: 'OPTION' }),
      );
    }
    expect(() => lockedTask(undefined as never, { name: 'n', lock })).toThrow(/task must be a function/);
    const error = thrownBy(() => lockedTask(() => 1, { name: '', lock: {} as never, lockAtLeastFor: -1 }));
    expect(optionsIn(error).sort()).toEqual(['lock', 'lockAtLeastFor', 'name']);
  });
});

describe('a lock or a store that hangs', () => {
  const never = (): Promise<never> => new Promise(() => {});

  it('keeps no run from its end where it is the store: the run is not recorded', async () => {
    const link = new Link(memoryRecords(systemClock), { timeout: 50 });
    link.break('no-answer', 'read', 'write');
    const task = lockedTask(() => 'done', { name: 'n', backend: link.backend, lockAtMostFor: 60_000 });
    expect(await task()).toMatchObject({ kind: 'executed', result: 'done' });
    await task.close();
  });

  it('rejects a registration where it is the lock', async () => {
    const lock = asLock(
      { acquire: never, extend: never, release: never, inspect: never, list: never },
      { timeout: 50 },
    );
    const task = lockedTask(() => 'done', { name: 'n', lock });
    await expect(task.register()).rejects.toThrow('the backend is unavailable: no answer within 50 ms');
  });
});

it('a registration of another instance keeps no run from its turn', async () => {
  const lock = lockOf(memoryBackend());
  const released = new Deferred<void>();
  const registering = asLock({
    ...methodsOf(lock),
    release: async (...args) => {
      await released.promise;
      return lock.release(...args);
    },
  });
  const one = lockedTask(() => 'one', { name: 'n', lock: registering });
  const registered = one.register();
  await expect.poll(() => lock.inspect('n')).toBeDefined();
  const run = lockedTask(() => 'other', { name: 'n', lock })();
  setTimeout(() => released.resolve(), 20);
  expect(await run).toMatchObject({ kind: 'executed', result: 'other' });
  await registered;
});
