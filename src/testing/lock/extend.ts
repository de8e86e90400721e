import { randomId } from '../../cluster/identity.ts';
import { same, sameFields } from '../assert.ts';
import { sleep, uniqueName } from '../conformance.ts';
import { type Case, OUTCOMES, testCase } from './case-context.ts';

/** Extensions. */
export const EXTEND: readonly Case[] = [
  testCase('extend: a live lease lasts leaseFor from now, also if that is shorter', async (context) => {
    const { unit, long } = context;
    const lease = await context.lease({ leaseFor: 20 * unit });
    same(await context.lock.extend(lease, long), true, 'extend');
    context.isLeft((await context.record()).leaseLeft, long, 'what is left');
    same(await context.lock.extend(lease, 30 * unit), true, 'extend to less');
    context.isLeft((await context.record()).leaseLeft, 30 * unit, 'what is left');
  }),

  testCase('extend: excludes others until the new end, no longer', async (context) => {
    const begin = performance.now();
    const lease = await context.lease({ leaseFor: 8 * context.unit });
    await sleep(2 * context.unit);
    same(await context.lock.extend(lease, 8 * context.unit), true, 'extend');
    const { tookOver } = await context.acquiredAfter(10, begin, 'the extended lease');
    same(tookOver, true, 'tookOver');
  }),

  testCase('extend: changes nothing else', async (context) => {
    const lease = await context.lease({ host: 'the-host' });
    const before = await context.record();
    await sleep(context.unit / 2);
    same(await context.lock.extend(lease, context.long), true, 'extend');
    const after = await context.record();
    const { token, owner } = lease;
    sameFields(after, { token, owner, host: 'the-host', state: 'running' });
    context.hasGrown(before.acquiredAgo, after.acquiredAgo, context.unit / 2, 'acquiredAgo');
  }),

  testCase('extend: the token and the request id must match', async (context) => {
    const lease = await context.lease();
    const { name, requestId, token } = lease;
    for (const wrong of [
      { name, requestId, token: token - 1 },
      { name, requestId, token: token + 1 },
      { name, requestId: randomId(), token },
      { name: uniqueName('unknown'), requestId, token },
    ]) {
      same(await context.lock.extend(wrong, context.long), false, 'extend of another lease');
      same(await context.lock.release(wrong, { as: 'done', holdFor: 0 }), false, 'release of another lease');
    }
    await context.untouched(lease, 'after extensions and releases of others');
  }),

  testCase('extend: a released lease can’t be extended', async (context) => {
    for (const outcome of OUTCOMES) {
      const lease = await context.lease({ force: true });
      await context.release(lease, outcome);
      same(await context.lock.extend(lease, context.long), false, `extend after release as ${outcome.as}`);
      same((await context.record()).leaseLeft, 0, 'leaseLeft');
    }
  }),
];
