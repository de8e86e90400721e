import { between, ofKind, same, sameFields } from '../assert.ts';
import { sleep, uniqueName } from '../conformance.ts';
import { type Acquired, type Case, PATIENCE_UNITS, testCase } from './case-context.ts';

/** Answers of an acquire. */
export const ACQUIRE: readonly Case[] = [
  testCase('acquire: a free name is acquired', async (context) => {
    between(context.lock.leaseFor, 1, Number.MAX_SAFE_INTEGER, 'leaseFor of the lock');
    const request = context.request();
    const { lease, tookOver, now } = await context.acquired(request);
    const { name, owner, requestId } = request;
    sameFields(lease, { name, owner, requestId });
    between(lease.token, 1, Number.MAX_SAFE_INTEGER, 'token');
    same(Number.isInteger(lease.token), true, 'whether the token is whole');
    context.isLeft(lease.remaining, context.long, 'remaining');
    same(tookOver, false, 'tookOver');
    between(now, Date.UTC(2020), Date.UTC(2200), 'now, in epoch milliseconds');
  }),

  testCase('acquire: held returns the owner, the remaining and the elapsed time', async (context) => {
    const lease = await context.lease({ host: 'the-host' });
    const first = await context.held();
    sameFields(first, { owner: lease.owner, host: 'the-host', token: lease.token, isBackoff: false });
    context.isLeft(first.retryAfter, context.long, 'retryAfter');
    between(first.heldFor, 0, context.long / 2, 'heldFor');
    const sum = first.retryAfter + first.heldFor;
    between(sum, context.long - context.unit, context.long + context.unit, 'retryAfter + heldFor');
    await sleep(context.unit);
    const second = await context.held();
    context.hasShrunk(first.retryAfter, second.retryAfter, context.unit, 'retryAfter');
    context.hasGrown(first.heldFor, second.heldFor, context.unit, 'heldFor');
    same(second.token, lease.token, 'token');
  }),

  testCase('acquire: a caller that gets held does not extend the lease', async (context) => {
    const begin = performance.now();
    await context.lease({ leaseFor: 2 * context.unit });
    await context.acquiredAtLast(); // asks ten times per unit
    between(performance.now() - begin, 0, PATIENCE_UNITS * context.unit, 'the time until it was free');
  }),

  testCase(
    'acquire: of 20 concurrent callers exactly one acquires, and none gets an error',
    async (context) => {
      const requests = Array.from({ length: 20 }, (_, i) => {
        return (i % 2 === 0 ? context.lock : context.other).acquire(context.request());
      });
      const answers = await Promise.all(requests);
      const winners = answers.filter(({ kind }) => kind === 'acquired');
      same(winners.length, 1, 'how many acquired');
      const { lease } = winners[0] as Acquired;
      for (const answer of answers) {
        if (answer.kind === 'acquired') continue;
        same(ofKind(answer, 'held', 'acquire').token, lease.token, 'the token in the answer of the others');
      }
    },
  ),

  testCase('acquire: 20 concurrent callers get done for a done round', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'done', holdFor: context.long });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => context.other.acquire(context.request())),
    );
    for (const answer of answers) same(ofKind(answer, 'done', 'acquire').token, lease.token, 'token');
  }),

  testCase('acquire: a repeated request gets the same lease with its remaining time', async (context) => {
    const request = context.request();
    const first = await context.lease(request);
    await sleep(context.unit);
    const second = await context.lease(request, context.other);
    const { token, owner, requestId } = first;
    sameFields(second, { token, owner, requestId });
    context.hasShrunk(first.remaining, second.remaining, context.unit, 'remaining');
  }),

  testCase('acquire: three concurrent repeats of a request get one lease', async (context) => {
    const request = context.request();
    const requests = [context.lock, context.other, context.lock].map((lock) => lock.acquire(request));
    const tokens = (await Promise.all(requests)).map(
      (answer) => ofKind(answer, 'acquired', 'acquire').lease.token,
    );
    same(new Set(tokens).size, 1, 'how many tokens');
  }),

  testCase('acquire: another request of the same owner gets held', async (context) => {
    const lease = await context.lease();
    same((await context.held({ owner: lease.owner })).token, lease.token, 'token');
  }),

  testCase('acquire: two owners on one host exclude each other', async (context) => {
    const lease = await context.lease({ host: 'one-host' });
    const answer = await context.held({ host: 'one-host' });
    same(answer.owner, lease.owner, 'owner');
  }),

  testCase('acquire: locks of different names are independent', async (context) => {
    const first = await context.lease();
    const second = await context.lease({ name: uniqueName('second') });
    await context.release(second, { as: 'done', holdFor: context.long });
    await context.untouched(first, 'the other name');
  }),

  testCase('acquire: now is the same clock in all answers', async (context) => {
    const first = await context.acquired();
    const second = await context.held();
    await context.release(first.lease, { as: 'done', holdFor: context.long });
    const third = await context.done();
    const tolerance = PATIENCE_UNITS * context.unit;
    between(second.now - first.now, -tolerance, tolerance, 'now of held less now of acquired');
    between(third.now - second.now, -tolerance, tolerance, 'now of done less now of held');
  }),
];
