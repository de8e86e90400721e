import type { Lease, LockProvider } from '../../cluster/lock-contract.ts';
import { between, ensure, same, sameList } from '../assert.ts';
import { sleep } from '../conformance.ts';
import { type Case, PATIENCE_UNITS, testCase } from './case-context.ts';

/** Tokens and mutual exclusion. */
export const TOKENS: readonly Case[] = [
  testCase('token: grows, however the lease before it ended', async (context) => {
    let last = 0;
    const grows = ({ token }: Lease, after: string): void => {
      ensure(Number.isSafeInteger(token), `the token after ${after} is not a safe integer: ${token}`);
      ensure(token > last, `the token after ${after} must be greater: ${last} before, ${token} now`);
      last = token;
    };
    const lease = await context.lease();
    grows(lease, 'nothing');
    await context.release(lease, { as: 'done', holdFor: 0 });
    const second = await context.lease({}, context.other);
    grows(second, 'done');
    await context.release(second, { as: 'failed', holdFor: 0 });
    const third = await context.lease();
    grows(third, 'failed');
    await context.release(third, { as: 'abandoned' });
    const fourth = await context.lease({}, context.other);
    grows(fourth, 'abandoned');
    same(await context.lock.forceRelease(context.name, fourth.token), true, 'forceRelease');
    const fifth = await context.lease({ leaseFor: context.unit });
    grows(fifth, 'forceRelease');
    const sixth = (await context.acquiredAtLast()).lease;
    grows(sixth, 'a takeover');
    await context.release(sixth, { as: 'done', holdFor: context.long });
    grows(await context.lease({ force: true }), 'an ignored hold');
  }),

  testCase('token: the first one is the backend’s clock in microseconds', async (context) => {
    const { lease, now } = await context.acquired();
    between(lease.token / 1000 - now, -1000, 1000, 'the token in milliseconds less now');
  }),

  testCase('exclusion: of competing callers at most one is inside at a time', async (context) => {
    const rounds = 30;
    const tokens: number[] = [];
    let inside = 0;
    let lastAt = performance.now();
    const compete = async (lock: LockProvider): Promise<void> => {
      while (tokens.length < rounds) {
        const answer = await lock.acquire(context.request());
        if (answer.kind !== 'acquired') {
          const isStuck = performance.now() - lastAt > PATIENCE_UNITS * context.unit;
          ensure(!isStuck, `no caller has acquired the lock any more after ${tokens.length} rounds`);
          await sleep(Math.random() * 3);
          continue;
        }
        inside += 1;
        same(inside, 1, 'how many are inside');
        tokens.push(answer.lease.token);
        lastAt = performance.now();
        await sleep(1);
        inside -= 1;
        same(await lock.release(answer.lease, { as: 'done', holdFor: 0 }), true, 'release');
      }
    };
    await Promise.all([context.lock, context.other, context.lock, context.other].map(compete));
    const sorted = [...new Set(tokens)].sort((a, b) => a - b);
    sameList(tokens, sorted, 'the tokens, in the order in which they were given');
  }),
];
