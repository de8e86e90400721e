import { ensure, same, sameFields } from '../assert.ts';
import { sleep } from '../conformance.ts';
import { type Case, FREEING, OUTCOMES, testCase } from './case-context.ts';

/** Expired leases: takeovers, and late holders. */
export const EXPIRY: readonly Case[] = [
  testCase('expiry: an expired lease is taken over, and not before its end', async (context) => {
    const begin = performance.now();
    const lease = await context.lease({ leaseFor: 2 * context.unit });
    const { lease: next, tookOver } = await context.acquiredAfter(2, begin, 'the lease');
    same(tookOver, true, 'tookOver');
    ensure(next.token > lease.token, 'the token must be greater');
    same((await context.record()).tookOver, true, 'tookOver of the record');
  }),

  testCase('expiry: tookOver is false after a release', async (context) => {
    for (const outcome of FREEING) {
      const { lease, tookOver } = await context.acquired();
      same(tookOver, false, 'tookOver');
      await context.release(lease, outcome);
    }
    const { lease, tookOver } = await context.acquired();
    same(tookOver, false, 'tookOver');
    await context.lock.forceRelease(context.name, lease.token);
    same((await context.acquired()).tookOver, false, 'tookOver after forceRelease');
  }),

  testCase('expiry: a late release does not change the lease of the next holder', async (context) => {
    const late = await context.expire();
    const next = await context.lease({}, context.other);
    for (const outcome of OUTCOMES) {
      same(await context.lock.release(late, outcome), false, `late release as ${outcome.as}`);
      await context.untouched(next, `after a late release as ${outcome.as}`);
    }
  }),

  testCase('expiry: a late extension does not change the lease of the next holder', async (context) => {
    const late = await context.expire();
    const next = await context.lease({}, context.other);
    same(await context.lock.extend(late, 2 * context.long), false, 'late extend');
    same(await context.lock.extend(late, 1), false, 'late extend');
    await context.untouched(next, 'after a late extension');
    same(await context.other.extend(next, context.long), true, 'extend of the next holder');
  }),

  testCase(
    'expiry: an expired lease can’t be extended or released, also before a takeover',
    async (context) => {
      const late = await context.expire();
      same(await context.lock.extend(late, context.long), false, 'extend of an expired lease');
      for (const outcome of OUTCOMES) {
        same(
          await context.lock.release(late, outcome),
          false,
          `release as ${outcome.as} of an expired lease`,
        );
      }
      const record = await context.record();
      sameFields(record, { state: 'running', leaseLeft: 0, token: late.token }, ' before a takeover');
      same((await context.acquired()).tookOver, true, 'tookOver');
    },
  ),

  testCase('expiry: a request repeated after its lease has expired gets a new lease', async (context) => {
    const request = context.request({ leaseFor: context.unit });
    const lease = await context.lease(request);
    await context.expired();
    const again = await context.lease(request);
    ensure(again.token > lease.token, 'the token must be greater');
    same(await context.lock.extend(lease, context.long), false, 'extend by the old token');
  }),

  testCase('expiry: the record outlives the lease', async (context) => {
    const { token, owner } = await context.expire();
    await sleep(2 * context.unit);
    sameFields(await context.record(), { token, owner, leaseLeft: 0 });
  }),
];
