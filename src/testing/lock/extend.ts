import { randomId } from '../../cluster/identity.ts';
import { ensure, same } from '../assert.ts';
import { CLOCK_TOLERANCE, sleep, uniqueName } from '../conformance.ts';
import { always, type Case, OUTCOMES } from './trial.ts';

/** Extensions. */
export const EXTEND: readonly Case[] = [
  always('extend: a live lease lasts that long from now on', async (trial) => {
    const { unit, long } = trial;
    const lease = await trial.lease({ leaseFor: 20 * unit });
    same(await trial.lock.extend(lease, long), true, 'extend');
    trial.isLeft((await trial.record()).leaseLeft, long, 'what is left');
    same(await trial.lock.extend(lease, 30 * unit), true, 'extend to less');
    trial.isLeft((await trial.record()).leaseLeft, 30 * unit, 'what is left');
  }),

  always('extend: keeps the others out past the first end, and not past the second', async (trial) => {
    const begin = performance.now();
    const lease = await trial.lease({ leaseFor: 8 * trial.unit });
    await sleep(2 * trial.unit);
    same(await trial.lock.extend(lease, 8 * trial.unit), true, 'extend');
    const { tookOver } = await trial.acquiredAtLast();
    const waited = performance.now() - begin;
    const least = (10 - CLOCK_TOLERANCE) * trial.unit;
    ensure(waited >= least, `taken over after ${waited} ms, before the end of the extension at ${least} ms`);
    same(tookOver, true, 'tookOver');
  }),

  always('extend: leaves all else as it was', async (trial) => {
    const lease = await trial.lease({ host: 'the-host' });
    const before = await trial.record();
    await sleep(trial.unit / 2);
    same(await trial.lock.extend(lease, trial.long), true, 'extend');
    const after = await trial.record();
    same(after.token, lease.token, 'token');
    same(after.owner, lease.owner, 'owner');
    same(after.host, 'the-host', 'host');
    same(after.state, 'running', 'state');
    trial.hasGrown(before.acquiredAgo, after.acquiredAgo, trial.unit / 2, 'acquiredAgo');
  }),

  always('extend: needs the token and the request', async (trial) => {
    const lease = await trial.lease();
    const { name, requestId, token } = lease;
    for (const wrong of [
      { name, requestId, token: token - 1 },
      { name, requestId, token: token + 1 },
      { name, requestId: randomId(), token },
      { name: uniqueName('unknown'), requestId, token },
    ]) {
      same(await trial.lock.extend(wrong, trial.long), false, 'extend of another lease');
      same(await trial.lock.release(wrong, { as: 'done', holdFor: 0 }), false, 'release of another lease');
    }
    await trial.untouched(lease, 'after extensions and releases of others');
  }),

  always('extend: a lease that was released can’t be extended', async (trial) => {
    for (const outcome of OUTCOMES) {
      const lease = await trial.lease({ force: true });
      await trial.release(lease, outcome);
      same(await trial.lock.extend(lease, trial.long), false, `extend after release as ${outcome.as}`);
      same((await trial.record()).leaseLeft, 0, 'leaseLeft');
    }
  }),
];
