import { between, ensure, ofKind, same } from '../assert.ts';
import { sleep, uniqueName } from '../conformance.ts';
import { type Acquired, always, type Case, PATIENCE_UNITS } from './trial.ts';

/** What an acquire answers. */
export const ACQUIRE: readonly Case[] = [
  always('acquire: a name that nobody holds is acquired', async (trial) => {
    between(trial.lock.leaseFor, 1, Number.MAX_SAFE_INTEGER, 'leaseFor of the lock');
    const request = trial.request();
    const { lease, tookOver, now } = ofKind(await trial.lock.acquire(request), 'acquired', 'acquire');
    same(lease.name, request.name, 'name');
    same(lease.owner, request.owner, 'owner');
    same(lease.requestId, request.requestId, 'requestId');
    ensure(Number.isSafeInteger(lease.token) && lease.token > 0, `no token: ${lease.token}`);
    trial.isLeft(lease.remaining, trial.long, 'remaining');
    same(tookOver, false, 'tookOver');
    between(now, Date.UTC(2020), Date.UTC(2200), 'now, in epoch milliseconds');
  }),

  always('acquire: held says by whom, for how long, and since when', async (trial) => {
    const lease = await trial.lease({ host: 'the-host' });
    const first = await trial.held();
    same(first.owner, lease.owner, 'owner');
    same(first.host, 'the-host', 'host');
    same(first.token, lease.token, 'token');
    same(first.isBackoff, false, 'isBackoff');
    trial.isLeft(first.retryAfter, trial.long, 'retryAfter');
    between(first.heldFor, 0, trial.long / 2, 'heldFor');
    const sum = first.retryAfter + first.heldFor;
    between(sum, trial.long - trial.unit, trial.long + trial.unit, 'retryAfter + heldFor');
    await sleep(trial.unit);
    const second = await trial.held();
    trial.hasShrunk(first.retryAfter, second.retryAfter, trial.unit, 'retryAfter');
    trial.hasGrown(first.heldFor, second.heldFor, trial.unit, 'heldFor');
    same(second.token, lease.token, 'token');
  }),

  always('acquire: asking does not prolong the lease of the holder', async (trial) => {
    const begin = performance.now();
    await trial.lease({ leaseFor: 2 * trial.unit });
    await trial.acquiredAtLast(); // asks ten times per unit
    between(performance.now() - begin, 0, PATIENCE_UNITS * trial.unit, 'the time until it was free');
  }),

  always('acquire: of 20 at once exactly one gets it, and nobody an error', async (trial) => {
    const asked = Array.from({ length: 20 }, (_, i) => {
      return (i % 2 === 0 ? trial.lock : trial.other).acquire(trial.request());
    });
    const answers = await Promise.all(asked);
    const winners = answers.filter(({ kind }) => kind === 'acquired');
    same(winners.length, 1, 'how many got it');
    const { lease } = winners[0] as Acquired;
    for (const answer of answers) {
      if (answer.kind === 'acquired') continue;
      same(ofKind(answer, 'held', 'acquire').token, lease.token, 'the token that the others are told');
    }
  }),

  always('acquire: a round that is done answers so to 20 at once', async (trial) => {
    const lease = await trial.lease();
    await trial.release(lease, { as: 'done', holdFor: trial.long });
    const answers = await Promise.all(Array.from({ length: 20 }, () => trial.other.acquire(trial.request())));
    for (const answer of answers) same(ofKind(answer, 'done', 'acquire').token, lease.token, 'token');
  }),

  always('acquire: the same request gets the same lease again, and what is left of it', async (trial) => {
    const request = trial.request();
    const first = ofKind(await trial.lock.acquire(request), 'acquired', 'acquire').lease;
    await sleep(trial.unit);
    const second = ofKind(await trial.other.acquire(request), 'acquired', 'the same request').lease;
    same(second.token, first.token, 'token');
    same(second.owner, first.owner, 'owner');
    same(second.requestId, first.requestId, 'requestId');
    trial.hasShrunk(first.remaining, second.remaining, trial.unit, 'remaining');
  }),

  always('acquire: the same request thrice at once gets one lease', async (trial) => {
    const request = trial.request();
    const asked = [trial.lock, trial.other, trial.lock].map((lock) => lock.acquire(request));
    const tokens = (await Promise.all(asked)).map(
      (answer) => ofKind(answer, 'acquired', 'acquire').lease.token,
    );
    same(new Set(tokens).size, 1, 'how many tokens');
  }),

  always('acquire: another request of the same owner is held', async (trial) => {
    const lease = await trial.lease();
    same((await trial.held({ owner: lease.owner })).token, lease.token, 'token');
  }),

  always('acquire: two owners on one host are two', async (trial) => {
    const lease = await trial.lease({ host: 'one-host' });
    const answer = await trial.held({ host: 'one-host' });
    same(answer.owner, lease.owner, 'owner');
  }),

  always('acquire: names do not touch each other', async (trial) => {
    const first = await trial.lease();
    const second = await trial.lease({ name: uniqueName('second') });
    await trial.release(second, { as: 'done', holdFor: trial.long });
    await trial.untouched(first, 'the other name');
  }),

  always('acquire: now is one clock, in all answers', async (trial) => {
    const first = await trial.acquired();
    const second = await trial.held();
    await trial.release(first.lease, { as: 'done', holdFor: trial.long });
    const third = await trial.done();
    const tolerance = PATIENCE_UNITS * trial.unit;
    between(second.now - first.now, -tolerance, tolerance, 'now of held less now of acquired');
    between(third.now - second.now, -tolerance, tolerance, 'now of done less now of held');
  }),
];
