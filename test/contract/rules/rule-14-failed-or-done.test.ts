import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { coldPair, warmOne, warmPair } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { rejectionOf } from '../../support/settle.ts';

describe('rule 14: failed lets others try the same round, done holds it', () => {
  it('another instance tries after the backoff, not before; this one after its own cool-down', async () => {
    const { cluster, a, b } = await warmPair({ random: () => 0.999, coolDown: { initial: 1000, max: 8000 } });
    await cluster.readAfter(1025, a);
    await cluster.fail(a, 1, new Error('down'));
    expect(await cluster.lock.inspect('v')).toMatchObject({
      state: 'failed',
      lastError: 'v: load failed: down',
    });

    b.value.current; // it is due here too
    await cluster.readAfter(900, b);
    expect(b.manual.calls).toHaveLength(0);
    expect(wordsOf(b.events)).toContain('held');
    await cluster.reloadAfter(100, b, 0, 'two');
    expect(b.value.peek()).toBe('two');
    await cluster.read(a);
    expect([a.value.peek(), a.value.inspect().failures]).toEqual(['two', 0]);
  });

  it('a cold instance that waits for one which fails tries when the backoff is over', async () => {
    const { cluster, a, b } = coldPair();
    const [first, second] = [rejectionOf(a.value.get()), b.value.get()];
    await cluster.clock.flush();
    a.manual.call(0).reject(new Error('down'));
    expect(isTicklessError(await first, 'LOAD_FAILED')).toBe(true);
    expect(isTicklessError(await rejectionOf(a.value.get()), 'COOLING_DOWN')).toBe(true);
    await cluster.clock.advance(400);
    expect(b.manual.calls).toHaveLength(0);
    await cluster.clock.advance(2000);
    b.manual.call(0).resolve('of b');
    expect(await second).toBe('of b');
  });

  it('refresh ignores the backoff and the hold of a round that is done', async () => {
    const { cluster, a, b } = await warmPair({ schedule: { hours: 1 } });
    const done = b.value.refresh();
    await cluster.clock.flush();
    b.manual.call(0).reject(new Error('down'));
    await rejectionOf(done);
    await cluster.clock.flush();
    expect(await cluster.refresh(a, 1, 'two')).toBe('two');
  });

  it('done holds the round until the next due time for all instances', async () => {
    const { cluster, a, b } = await warmPair({ schedule: { minutes: 10 } });
    const restarted = cluster.instance({ schedule: 10 }); // thinks that it is due sooner
    expect(await restarted.value.get()).toBe('one');
    for (let minute = 0; minute < 9; minute++) {
      await cluster.clock.advance({ minutes: 1 });
      for (const { value } of [a, b, restarted]) value.current;
      await cluster.clock.flush();
    }
    expect([a, b, restarted].map((each) => each!.manual.calls.length)).toEqual([1, 0, 0]);
    await cluster.readAfter({ minutes: 1 }, restarted);
    expect(restarted.manual.calls).toHaveLength(1);
  });

  it('a load past its deadline has failed: the lease is given back when it has settled', async () => {
    const { cluster, a } = await warmOne({ timeout: 500 });
    const timedOut = rejectionOf(a.value.refresh());
    await cluster.clock.advance(500);
    expect(await timedOut).toMatchObject({ code: 'TIMED_OUT' });
    expect(a.link.take()).toEqual(['acquire']);
    await cluster.fail(a, 1, new Error('aborted'));
    expect(a.link.take()).toEqual(['release']);
    expect((await cluster.lock.inspect('v'))?.state).toBe('failed');
  });

  it('one that was given up without a result holds nothing back, but for the hold that it has ignored', async () => {
    const { cluster, a, b } = await warmPair();
    void a.value.refresh();
    await cluster.clock.flush();
    a.value.set('by hand', { here: true });
    await cluster.fail(a, 1, a.manual.call(1).context.signal.reason);
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'done', leaseLeft: 0 });
    await cluster.readAfter(1025, b);
    expect(b.manual.calls).toHaveLength(1);
  });
});
