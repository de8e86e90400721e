import { between, ensure, same, sameFields } from '../assert.ts';
import { sleep } from '../conformance.ts';
import { type Case, FREEING, OUTCOMES, ROUNDING_MS, testCase } from './case-context.ts';

/** Ends of rounds, and holds of the next round. */
export const RELEASE: readonly Case[] = [
  testCase('release: holds a done round for all owners', async (context) => {
    const lease = await context.lease({ host: 'the-host' });
    await context.release(lease, { as: 'done', holdFor: context.long });
    const first = await context.done();
    const { owner, token, requestId } = lease;
    sameFields(first, { owner, host: 'the-host', token });
    context.isLeft(first.retryAfter, context.long, 'retryAfter');
    between(first.finishedAgo, 0, context.long / 2, 'finishedAgo');
    await sleep(context.unit);
    const second = await context.done({}, context.lock);
    context.hasShrunk(first.retryAfter, second.retryAfter, context.unit, 'retryAfter');
    context.hasGrown(first.finishedAgo, second.finishedAgo, context.unit, 'finishedAgo');
    sameFields(await context.done({ owner }), { token }, ' in the answer to the same owner');
    await context.done({ owner, requestId }, context.lock);
  }),

  testCase('release: the hold ends after holdFor, not before', async (context) => {
    const lease = await context.lease();
    const begin = performance.now();
    await context.release(lease, { as: 'done', holdFor: 2 * context.unit });
    const { tookOver } = await context.acquiredAfter(2, begin, 'the hold');
    same(tookOver, false, 'tookOver');
  }),

  testCase('release: the hold counts from the release, not from the end of the lease', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'done', holdFor: context.unit });
    await context.acquiredAtLast(); // the lease would have lasted much longer
  }),

  testCase('release: without a hold the next round may begin at once', async (context) => {
    for (const outcome of FREEING) {
      const lease = await context.lease();
      await context.release(lease, outcome);
      const next = await context.lease({}, context.other);
      same(await context.other.release(next, { as: 'abandoned' }), true, 'release');
    }
  }),

  testCase('release: keepFor counts from the end of the hold', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'done', holdFor: context.long, keepFor: context.unit });
    await sleep(3 * context.unit);
    same((await context.done()).token, lease.token, 'token');
  }),

  testCase('release: keepFor of a round is over with the next lease', async (context) => {
    const outcome = { as: 'done', holdFor: 0, keepFor: 3 * context.unit } as const;
    const first = await context.lease();
    await context.release(first, outcome);
    same(await context.other.release(first, outcome), true, 'second release');
    const lease = await context.lease({}, context.other);
    ensure(lease.token > first.token, 'the token must be greater');
    await sleep(5 * context.unit);
    await context.untouched(lease, 'after the keepFor of the round before');
    await context.release(lease, { as: 'done', holdFor: 0 });
    await sleep(3 * context.unit);
    same((await context.record()).token, lease.token, 'the token of the record, some time later');
  }),

  testCase('release: a failed round may be tried again after its backoff, not before', async (context) => {
    const lease = await context.lease({ host: 'the-host' });
    const begin = performance.now();
    await context.release(lease, { as: 'failed', holdFor: 5 * context.unit });
    const answer = await context.held();
    sameFields(answer, { isBackoff: true, owner: lease.owner, host: 'the-host', token: lease.token });
    between(answer.retryAfter, Number.MIN_VALUE, 5 * context.unit + ROUNDING_MS, 'retryAfter');
    const { tookOver } = await context.acquiredAfter(5, begin, 'the backoff');
    same(tookOver, false, 'tookOver');
  }),

  testCase('release: a repeat after a lost reply returns true again', async (context) => {
    for (const outcome of OUTCOMES) {
      const lease = await context.lease({ force: true });
      await context.release(lease, outcome);
      const before = await context.record();
      await sleep(context.unit / 2);
      same(await context.other.release(lease, outcome), true, `second release as ${outcome.as}`);
      const after = await context.record();
      same(after.state, outcome.as, 'state');
      if (before.holdLeft > 0)
        context.hasShrunk(before.holdLeft, after.holdLeft, context.unit / 2, 'the hold');
    }
  }),

  testCase('release: a repeat after the next round has begun returns false', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'done', holdFor: 0 });
    const next = await context.lease({}, context.other);
    same(await context.lock.release(lease, { as: 'done', holdFor: 0 }), false, 'late second release');
    await context.untouched(next, 'after a late second release');
  }),

  testCase('release: a second release with another outcome changes nothing', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'done', holdFor: context.long });
    for (const other of [{ as: 'failed', holdFor: 0 }, { as: 'abandoned' }] as const)
      same(await context.lock.release(lease, other), false, `release as ${other.as} after done`);
    await context.done();
  }),

  testCase('force: ignores the hold of a done round', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'done', holdFor: context.long });
    const { lease: next, tookOver } = await context.acquired({ force: true }, context.other);
    ensure(next.token > lease.token, 'the token must be greater');
    same(tookOver, false, 'tookOver');
  }),

  testCase('force: ignores the backoff of a failed round', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'failed', holdFor: context.long });
    await context.acquired({ force: true }, context.other);
  }),

  testCase('force: never ignores a live lease', async (context) => {
    const lease = await context.lease();
    const answer = await context.held({ force: true });
    same(answer.token, lease.token, 'token');
    await context.untouched(lease, 'after a forced acquire');
    same(await context.lock.extend(lease, context.long), true, 'extend');
  }),
];
