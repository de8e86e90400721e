import type { Lease, LockProvider } from '../../cluster/lock-contract.ts';
import { between, ensure, same, sameList } from '../assert.ts';
import { sleep } from '../conformance.ts';
import { always, type Case, PATIENCE_UNITS } from './trial.ts';

/** Tokens and mutual exclusion. */
export const TOKENS: readonly Case[] = [
  always('token: grows over each way in which a lease ends', async (trial) => {
    let last = 0;
    const grows = ({ token }: Lease, after: string): void => {
      ensure(Number.isSafeInteger(token), `the token after ${after} is no safe integer: ${token}`);
      ensure(token > last, `the token after ${after} must be greater: ${last} before, ${token} now`);
      last = token;
    };
    const lease = await trial.lease();
    grows(lease, 'nothing');
    await trial.release(lease, { as: 'done', holdFor: 0 });
    const second = await trial.lease({}, trial.other);
    grows(second, 'done');
    await trial.release(second, { as: 'failed', holdFor: 0 });
    const third = await trial.lease();
    grows(third, 'failed');
    await trial.release(third, { as: 'abandoned' });
    const fourth = await trial.lease({}, trial.other);
    grows(fourth, 'abandoned');
    same(await trial.lock.forceRelease(trial.name, fourth.token), true, 'forceRelease');
    const fifth = await trial.lease({ leaseFor: trial.unit });
    grows(fifth, 'forceRelease');
    const sixth = (await trial.acquiredAtLast()).lease;
    grows(sixth, 'a takeover');
    await trial.release(sixth, { as: 'done', holdFor: trial.long });
    grows(await trial.lease({ force: true }), 'a hold that was passed over');
  }),

  always('token: the first one is the engine’s clock in microseconds', async (trial) => {
    const { lease, now } = await trial.acquired();
    between(lease.token / 1000 - now, -1000, 1000, 'the token in milliseconds less now');
  }),

  {
    name: 'token: grows also when the engine has lost its memory',
    needs: 'forget',
    async run(trial) {
      const { token } = await trial.lease();
      await sleep(trial.unit / 10); // the clock of an engine may count milliseconds
      await trial.subject.forget?.(trial.name);
      const next = await trial.lease({}, trial.other);
      ensure(next.token > token, `the token must be greater: ${token} before, ${next.token} now`);
    },
  },

  always('exclusion: many who compete for many rounds are never inside together', async (trial) => {
    const rounds = 30;
    const tokens: number[] = [];
    let inside = 0;
    let lastAt = performance.now();
    const compete = async (lock: LockProvider): Promise<void> => {
      while (tokens.length < rounds) {
        const answer = await lock.acquire(trial.request());
        if (answer.kind !== 'acquired') {
          const isStuck = performance.now() - lastAt > PATIENCE_UNITS * trial.unit;
          ensure(!isStuck, `nobody got it any more after ${tokens.length} rounds`);
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
    await Promise.all([trial.lock, trial.other, trial.lock, trial.other].map(compete));
    const sorted = [...new Set(tokens)].sort((a, b) => a - b);
    sameList(tokens, sorted, 'the tokens, in the order in which they were given');
  }),
];
