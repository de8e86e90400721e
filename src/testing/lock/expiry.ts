import { ensure, ofKind, same } from '../assert.ts';
import { CLOCK_TOLERANCE, sleep } from '../conformance.ts';
import { always, type Case, OUTCOMES } from './trial.ts';

/** Leases that nobody extended: takeovers, and holders that come late. */
export const EXPIRY: readonly Case[] = [
  always('expiry: a lease that was let expire is taken over, but not before', async (trial) => {
    const begin = performance.now();
    const lease = await trial.lease({ leaseFor: 2 * trial.unit });
    const { lease: next, tookOver } = await trial.acquiredAtLast();
    const waited = performance.now() - begin;
    const least = (2 - CLOCK_TOLERANCE) * trial.unit;
    ensure(waited >= least, `taken over after ${waited} ms, before the lease of ${2 * trial.unit} ms ended`);
    same(tookOver, true, 'tookOver');
    ensure(next.token > lease.token, 'the token must be greater');
    same((await trial.record()).tookOver, true, 'tookOver of the record');
  }),

  always('expiry: after a proper end nobody took over', async (trial) => {
    for (const outcome of [
      { as: 'done', holdFor: 0 },
      { as: 'failed', holdFor: 0 },
      { as: 'abandoned' },
    ] as const) {
      const { lease, tookOver } = await trial.acquired();
      same(tookOver, false, 'tookOver');
      await trial.release(lease, outcome);
    }
    const { lease, tookOver } = await trial.acquired();
    same(tookOver, false, 'tookOver');
    await trial.lock.forceRelease(trial.name, lease.token);
    same((await trial.acquired()).tookOver, false, 'tookOver after forceRelease');
  }),

  always('expiry: a late release does not touch the lease of the next holder', async (trial) => {
    const late = await trial.expire();
    const next = await trial.lease({}, trial.other);
    for (const outcome of OUTCOMES) {
      same(await trial.lock.release(late, outcome), false, `late release as ${outcome.as}`);
      await trial.untouched(next, `after a late release as ${outcome.as}`);
    }
  }),

  always('expiry: a late extension does not touch the lease of the next holder', async (trial) => {
    const late = await trial.expire();
    const next = await trial.lease({}, trial.other);
    same(await trial.lock.extend(late, 2 * trial.long), false, 'late extend');
    same(await trial.lock.extend(late, 1), false, 'late extend');
    await trial.untouched(next, 'after a late extension');
    same(await trial.other.extend(next, trial.long), true, 'extend of the next holder');
  }),

  always(
    'expiry: an expired lease can’t be extended or released, also when nobody took over',
    async (trial) => {
      const late = await trial.expire();
      same(await trial.lock.extend(late, trial.long), false, 'extend of an expired lease');
      for (const outcome of OUTCOMES) {
        same(await trial.lock.release(late, outcome), false, `release as ${outcome.as} of an expired lease`);
      }
      const { state, leaseLeft, token } = await trial.record();
      same(state, 'running', 'the state: nobody has taken over yet');
      same(leaseLeft, 0, 'leaseLeft');
      same(token, late.token, 'token');
      same((await trial.acquired()).tookOver, true, 'tookOver');
    },
  ),

  always('expiry: a request that comes again after its lease has expired gets a new one', async (trial) => {
    const request = trial.request({ leaseFor: trial.unit });
    const { lease } = ofKind(await trial.lock.acquire(request), 'acquired', 'acquire');
    await trial.until('the lease ends', async () => (await trial.record()).leaseLeft === 0);
    const again = ofKind(await trial.lock.acquire(request), 'acquired', 'the same request').lease;
    ensure(again.token > lease.token, 'the token must be greater');
    same(await trial.lock.extend(lease, trial.long), false, 'extend by the old token');
  }),

  always('expiry: the record outlives the lease', async (trial) => {
    const { token, owner } = await trial.expire();
    await sleep(2 * trial.unit);
    const record = await trial.record();
    same(record.token, token, 'token');
    same(record.owner, owner, 'owner');
    same(record.leaseLeft, 0, 'leaseLeft');
  }),
];
