import { between, ensure, ofKind, same } from '../assert.ts';
import { CLOCK_TOLERANCE, sleep } from '../conformance.ts';
import { always, type Case, OUTCOMES, ROUNDING_MS } from './trial.ts';

/** How rounds end, and what holds the next one back. */
export const RELEASE: readonly Case[] = [
  always('release: a round that is done is held for all', async (trial) => {
    const lease = await trial.lease({ host: 'the-host' });
    await trial.release(lease, { as: 'done', holdFor: trial.long });
    const first = await trial.done();
    same(first.owner, lease.owner, 'owner');
    same(first.host, 'the-host', 'host');
    same(first.token, lease.token, 'token');
    trial.isLeft(first.retryAfter, trial.long, 'retryAfter');
    between(first.finishedAgo, 0, trial.long / 2, 'finishedAgo');
    await sleep(trial.unit);
    const second = await trial.done({}, trial.lock);
    trial.hasShrunk(first.retryAfter, second.retryAfter, trial.unit, 'retryAfter');
    trial.hasGrown(first.finishedAgo, second.finishedAgo, trial.unit, 'finishedAgo');
    same((await trial.done({ owner: lease.owner })).token, lease.token, 'token told to the same owner');
    const again = await trial.lock.acquire(trial.request({ owner: lease.owner, requestId: lease.requestId }));
    ofKind(again, 'done', 'the request of the round that is done');
  }),

  always('release: the hold ends by itself, but not before', async (trial) => {
    const lease = await trial.lease();
    const begin = performance.now();
    await trial.release(lease, { as: 'done', holdFor: 2 * trial.unit });
    const { tookOver } = await trial.acquiredAtLast();
    const waited = performance.now() - begin;
    const least = (2 - CLOCK_TOLERANCE) * trial.unit;
    ensure(waited >= least, `begun after ${waited} ms, inside of the hold of ${2 * trial.unit} ms`);
    same(tookOver, false, 'tookOver');
  }),

  always('release: the hold counts from the release, not from the end of the lease', async (trial) => {
    const lease = await trial.lease();
    await trial.release(lease, { as: 'done', holdFor: trial.unit });
    await trial.acquiredAtLast(); // the lease would have lasted much longer
  }),

  always('release: done, failed or abandoned without a hold, anybody may begin at once', async (trial) => {
    for (const outcome of [
      { as: 'done', holdFor: 0 },
      { as: 'failed', holdFor: 0 },
      { as: 'abandoned' },
    ] as const) {
      const lease = await trial.lease();
      await trial.release(lease, outcome);
      const next = await trial.lease({}, trial.other);
      same(await trial.other.release(next, { as: 'abandoned' }), true, 'release');
    }
  }),

  always('release: a failed round is held for its backoff only, then anybody may try it', async (trial) => {
    const lease = await trial.lease({ host: 'the-host' });
    const begin = performance.now();
    await trial.release(lease, { as: 'failed', holdFor: 5 * trial.unit });
    const answer = await trial.held();
    same(answer.isBackoff, true, 'isBackoff');
    same(answer.owner, lease.owner, 'owner');
    same(answer.host, 'the-host', 'host');
    same(answer.token, lease.token, 'token');
    between(answer.retryAfter, Number.MIN_VALUE, 5 * trial.unit + ROUNDING_MS, 'retryAfter');
    const { tookOver } = await trial.acquiredAtLast();
    const waited = performance.now() - begin;
    const least = (5 - CLOCK_TOLERANCE) * trial.unit;
    ensure(waited >= least, `begun after ${waited} ms, inside of the backoff of ${5 * trial.unit} ms`);
    same(tookOver, false, 'tookOver');
  }),

  always('release: told once more, because the answer was lost, answers true again', async (trial) => {
    for (const outcome of OUTCOMES) {
      const lease = await trial.lease({ force: true });
      await trial.release(lease, outcome);
      const before = await trial.record();
      await sleep(trial.unit / 2);
      same(await trial.other.release(lease, outcome), true, `second release as ${outcome.as}`);
      const after = await trial.record();
      same(after.state, outcome.as, 'state');
      if (before.holdLeft > 0) trial.hasShrunk(before.holdLeft, after.holdLeft, trial.unit / 2, 'the hold');
    }
  }),

  always('release: told once more after the next has begun, is late', async (trial) => {
    const lease = await trial.lease();
    await trial.release(lease, { as: 'done', holdFor: 0 });
    const next = await trial.lease({}, trial.other);
    same(await trial.lock.release(lease, { as: 'done', holdFor: 0 }), false, 'late second release');
    await trial.untouched(next, 'after a late second release');
  }),

  always('release: another outcome afterwards changes nothing', async (trial) => {
    const lease = await trial.lease();
    await trial.release(lease, { as: 'done', holdFor: trial.long });
    same(
      await trial.lock.release(lease, { as: 'failed', holdFor: 0 }),
      false,
      'release as failed after done',
    );
    same(await trial.lock.release(lease, { as: 'abandoned' }), false, 'release as abandoned after done');
    await trial.done();
  }),

  always('force: passes over the hold of a round that is done', async (trial) => {
    const lease = await trial.lease();
    await trial.release(lease, { as: 'done', holdFor: trial.long });
    const { lease: next, tookOver } = await trial.acquired({ force: true }, trial.other);
    ensure(next.token > lease.token, 'the token must be greater');
    same(tookOver, false, 'tookOver');
  }),

  always('force: passes over the backoff of a round that failed', async (trial) => {
    const lease = await trial.lease();
    await trial.release(lease, { as: 'failed', holdFor: trial.long });
    await trial.acquired({ force: true }, trial.other);
  }),

  always('force: never passes over a live lease', async (trial) => {
    const lease = await trial.lease();
    const answer = await trial.held({ force: true });
    same(answer.token, lease.token, 'token');
    await trial.untouched(lease, 'after a forced acquire');
    same(await trial.lock.extend(lease, trial.long), true, 'extend');
  }),
];
