import { describe, expect, it } from 'vitest';
import { isTicklessError, PeriodicExecutor, RefreshGroup } from '../../../src/index.ts';
import { ManualCluster, type TaskInstance, twoTasks } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

/** How often the tasks of all were called. */
function calls(tasks: readonly TaskInstance[]): number {
  return tasks.reduce((sum, { manual }) => sum + manual.calls.length, 0);
}

/** Ends all that run. */
async function endAll(cluster: ManualCluster, tasks: readonly TaskInstance[]): Promise<void> {
  for (const { manual } of tasks) manual.calls.at(-1)?.resolve('done');
  await cluster.clock.flush();
}

describe('a task with a lock', () => {
  it('is executed once per round from many instances, whoever asks and however often', async () => {
    const cluster = new ManualCluster();
    const tasks = Array.from({ length: 5 }, () => cluster.task());
    const first = tasks.map(({ executor }) => executor.requestStart());
    await cluster.clock.flush();
    expect(calls(tasks)).toBe(1);
    await endAll(cluster, tasks);
    await cluster.clock.advance(400);
    await Promise.all(first);
    for (let round = 2; round <= 10; round++) {
      for (let step = 0; step < 15; step++) {
        for (const { executor } of tasks) await executor.requestStart();
        await cluster.clock.advance(100);
        await endAll(cluster, tasks);
      }
    }
    // 13.5 s and a bit, in rounds of 1 s and what it takes to notice
    expect(calls(tasks)).toBeGreaterThanOrEqual(12);
    expect(calls(tasks)).toBeLessThanOrEqual(14);
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('an instance that comes when the round is done knows when it is due, and executes only by execute()', async () => {
    const { cluster, a, b } = twoTasks();
    const first = a.executor.requestStart();
    await cluster.clock.flush();
    a.manual.call(0).resolve('done');
    await first;
    await cluster.clock.advance(300);
    await b.executor.requestStart();
    expect(b.manual.calls).toHaveLength(0);
    expect(wordsOf(b.events)).toEqual(['done', 'adopted']);
    const { isDue, nextExecuteTime, lastEndedAt } = b.executor.inspect();
    expect(isDue).toBe(false);
    expect(nextExecuteTime - cluster.clock.now()).toBe(700);
    expect(cluster.clock.now() - (lastEndedAt as number)).toBe(300);
    const executed = b.executor.execute(); // passes over the hold
    await cluster.clock.flush();
    expect(b.manual.call(0).context.trigger).toBe('forced');
    b.manual.call(0).resolve('done');
    await executed;
  });

  it('requestStart({ wait: true }) and execute() wait for the execution of another instance, which is their answer', async () => {
    const { cluster, a, b } = twoTasks();
    void a.executor.requestStart({ wait: false });
    await cluster.clock.flush();
    const c = cluster.task();
    const waiting = Promise.all([b.executor.requestStart({ wait: true }), c.executor.execute()]);
    await cluster.clock.advance(200);
    expect(await settled(waiting)).toBe('pending');
    a.manual.call(0).resolve('done');
    await cluster.clock.advance(1000);
    await waiting;
    expect(calls([b, c])).toBe(0);
  });

  it('one that does not wait stands by while another executes, and says when it looks again', async () => {
    const { cluster, a, b } = twoTasks();
    void a.executor.requestStart({ wait: false });
    await cluster.clock.flush();
    await b.executor.requestStart({ wait: false });
    await cluster.clock.flush();
    expect(b.executor.inspect().running).toBe(false);
    expect(b.executor.inspect().nextExecuteTime - cluster.clock.now()).toBe(1000);
    b.link.take();
    for (let asked = 0; asked < 20; asked++) await b.executor.requestStart();
    await cluster.clock.flush();
    expect(b.link.take()).toEqual([]);
  });

  it('one that fails is tried by another instance', async () => {
    const { cluster, a, b } = twoTasks();
    const failed = rejectionOf(a.executor.requestStart());
    await cluster.clock.flush();
    const second = b.executor.requestStart({ wait: true });
    a.manual.call(0).reject(new Error('down'));
    expect(isTicklessError(await failed, 'LOAD_FAILED')).toBe(true);
    await cluster.clock.advance(2000);
    b.manual.call(0).resolve('done');
    await second;
    expect(a.executor.inspect().failures).toBe(1);
    await a.executor.requestStart({ wait: true });
    expect([a.executor.inspect().failures, a.manual.calls.length]).toEqual([0, 1]);
  });

  it('one that takes no time at all is executed once, too', async () => {
    const cluster = new ManualCluster();
    let executions = 0;
    const link = cluster.link();
    const made = Array.from(
      { length: 4 },
      () =>
        new PeriodicExecutor(() => ++executions, {
          name: 't',
          schedule: 1000,
          clock: cluster.clock,
          lock: link.lock,
        }),
    );
    const first = Promise.all(made.map((executor) => executor.requestStart()));
    await cluster.clock.advance(100);
    await first;
    expect(executions).toBe(1);
  });

  it('is told its token, and its signal when the lease is lost', async () => {
    const cluster = new ManualCluster();
    const a = cluster.task();
    const failed = rejectionOf(a.executor.requestStart());
    await cluster.clock.flush();
    const { token, signal } = a.manual.call(0).context;
    await cluster.lock.forceRelease('t', token as number);
    await cluster.clock.advance(1000);
    expect(signal.aborted).toBe(true);
    expect(await failed).toMatchObject({ code: 'LEASE_LOST' });
  });
});

describe('a task in the fleet', () => {
  it('is reported by each of its executions, on the instances that have asked the lock too', async () => {
    const cluster = new ManualCluster();
    const links = [cluster.link(), cluster.link()];
    const tasks = links.map(({ lock, store }) => cluster.task({ lock, store }));
    const first = tasks.map(({ executor }) => executor.requestStart());
    await cluster.clock.flush();
    await endAll(
      cluster,
      tasks.filter(({ manual }) => manual.calls.length > 0),
    );
    await cluster.clock.advance(400);
    await Promise.all(first);
    const [member] = (await cluster.store.fleet()).members;
    expect(member).toMatchObject({ name: 't', kind: 'executor', of: 2, behind: [] });
    expect(member?.text).toBe('on 2 instances, last success 400 ms ago');
    await Promise.all(tasks.map(({ executor }) => executor.close()));
    expect((await cluster.store.fleet()).instances).toEqual([]);
  });

  it('its failures are reported', async () => {
    const cluster = new ManualCluster();
    const { clock, store } = cluster;
    const group = new RefreshGroup({
      backend: cluster.link().backend,
      clock,
      logger: false,
      maxStaleness: '1m',
      whenFailing: 'throw',
    });
    let runs = 0;
    const task = group.executor(
      () => {
        runs += 1;
        if (runs === 2) throw new Error('no disk');
      },
      { name: 't', schedule: '1h', retry: false }, // longer than the limit, which is one of values
    );
    await task.requestStart();
    await clock.flush();
    expect((await group.fleet()).members).toMatchObject([{ name: 't', failing: [], oldest: 0 }]);
    await clock.advance(3_600_100);
    await task.requestStart();
    await clock.advance(1);
    expect((await group.fleet()).members).toMatchObject([{ failing: [{ failures: 1, error: 'no disk' }] }]);
    await group.close();
    expect((await store.fleet()).instances).toEqual([]);
  });

  it("a report that can't be left changes nothing", async () => {
    const cluster = new ManualCluster();
    const link = cluster.link();
    link.break('refused', 'check');
    const task = cluster.task({ lock: link.lock, store: link.store });
    for (const call of [0, 1]) {
      const executed = task.executor.requestStart();
      await cluster.clock.flush();
      task.manual.call(call).resolve('done');
      await executed;
      await cluster.clock.advance(1100);
      expect(link.take()).toContain('check');
    }
    expect(task.executor.inspect().failures).toBe(0);
    await task.executor.close();
  });
});
