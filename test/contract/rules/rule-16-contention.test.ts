import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { ManualCluster, warmOne, warmPair } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('rule 16: contention is an answer, an unreachable lock is for policy to decide', () => {
  it('held and done count as no failure, and no reader learns of them', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.readAfter(1025, a);
    expect(await b.value.get()).toBe('one');
    await cluster.clock.flush();
    expect(b.value.inspect()).toMatchObject({ failures: 0, lastError: undefined, running: false });
    a.manual.call(1).resolve('two');
    await cluster.clock.advance(500);
    expect(await b.value.get()).toBe('one');
    await cluster.clock.flush();
    expect(await b.value.get()).toBe('two');
    expect(b.manual.calls).toHaveLength(0);
    expect(b.logger.lines).toEqual([]);
    expect(wordsOf(b.events)).toEqual([
      'stale-served',
      'held',
      'deferred',
      'stale-served',
      'done',
      'adopted',
    ]);
  });

  it('a value loads without the lock, and does not publish; it logs the start and the end of the outage', async () => {
    const { cluster, a } = await warmOne();
    a.link.break('refused', 'acquire');
    for (const [index, brought] of ['two', 'three', 'four'].entries()) {
      await cluster.readAfter(1025, a);
      await cluster.end(a, index + 1, brought);
      expect(a.value.peek()).toBe(brought);
    }
    expect(a.link.take()).not.toContain('write');
    expect(a.manual.call(3).context.token).toBeUndefined();
    const outage = 'warn tickless: backend: lock unavailable, loading without it: ECONNREFUSED';
    expect(a.logger.lines).toEqual([outage]);
    expect(a.value.inspect().lock?.lockError).toMatchObject({ code: 'BACKEND_DOWN' });
    a.link.mend();
    await cluster.reloadAfter(1025, a, 4, 'five');
    expect(a.value.inspect().lock?.lockError).toBeUndefined();
    expect((await cluster.store.read('v'))?.payload).toContain('five');
    await cluster.clock.advance(60_000);
    a.link.break('refused', 'acquire');
    void a.value.refresh();
    await cluster.clock.flush();
    const over = 'warn tickless: backend: available again after 3.1 s and 3 failures';
    expect(a.logger.lines).toEqual([outage, over, outage]);
  });

  it('a value with skip keeps serving what it has, and tries again after the cool-down', async () => {
    const { cluster, a } = await warmOne({ whenBackendDown: 'skip' });
    a.link.break('refused', 'acquire');
    await cluster.clock.advance(1025);
    expect(await a.value.get()).toBe('one');
    await cluster.clock.flush();
    expect(a.manual.calls).toHaveLength(1);
    const { failures, lastError } = a.value.inspect();
    expect([failures, isTicklessError(lastError, 'BACKEND_DOWN')]).toEqual([1, true]);
    expect(isTicklessError(await rejectionOf(a.value.refresh()), 'BACKEND_DOWN')).toBe(true);
    a.link.mend();
    await cluster.clock.advance(2000);
    expect(await a.value.get()).toBe('one');
    await cluster.clock.flush();
    expect(a.manual.calls).toHaveLength(2);
  });

  it('a task is skipped, unless it says load', async () => {
    const cluster = new ManualCluster();
    const careful = cluster.task();
    careful.link.break('refused', 'acquire');
    const error = await rejectionOf(careful.executor.requestStart());
    expect(isTicklessError(error, 'BACKEND_DOWN') && !isTicklessError(error, 'LOAD_FAILED')).toBe(true);
    expect(careful.manual.calls).toHaveLength(0);
    const bold = cluster.task({ whenBackendDown: 'load' });
    bold.link.break('refused', 'acquire');
    const done = bold.executor.requestStart();
    await cluster.clock.flush();
    bold.manual.call(0).resolve('done');
    await done;
  });

  it('one that is unavailable is asked twice, then left alone for a quarter of a second, and for longer after each probe', async () => {
    const { cluster, a } = await warmOne({ schedule: 100 });
    a.link.break('refused', 'acquire');
    for (let read = 0; read < 6; read++) {
      await cluster.readAfter(150, a);
      await cluster.end(a, -1, 'again');
    }
    expect(a.link.take()).toEqual(['acquire', 'acquire', 'acquire']); // at 150 ms twice, at 450 ms as a probe
    await cluster.readAfter(1000, a);
    expect(a.link.take()).toEqual(['acquire']); // the answer to an outage is not a second try each time
  });
});
