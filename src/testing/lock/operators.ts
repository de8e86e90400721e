import { between, ensure, present, same, sameList } from '../assert.ts';
import { always, type Case, OUTCOMES } from './trial.ts';

/** What operators see and do. */
export const OPERATORS: readonly Case[] = [
  always('inspect: shows a running round', async (trial) => {
    const { token, owner } = await trial.lease({ host: 'the-host' });
    const record = await trial.record();
    same(record.name, trial.name, 'name');
    same(record.token, token, 'token');
    same(record.owner, owner, 'owner');
    same(record.host, 'the-host', 'host');
    same(record.state, 'running', 'state');
    same(record.tookOver, false, 'tookOver');
    trial.isLeft(record.leaseLeft, trial.long, 'leaseLeft');
    same(record.holdLeft, 0, 'holdLeft');
    between(record.acquiredAgo, 0, trial.long / 2, 'acquiredAgo');
    same(record.finishedAgo, undefined, 'finishedAgo');
    same(record.lastError, undefined, 'lastError');
  }),

  always('inspect: shows how a round ended', async (trial) => {
    for (const outcome of OUTCOMES) {
      const lease = await trial.lease({ force: true });
      await trial.release(lease, outcome);
      const record = await trial.record();
      same(record.state, outcome.as, 'state');
      same(record.token, lease.token, 'token');
      same(record.leaseLeft, 0, `leaseLeft after ${outcome.as}`);
      between(record.finishedAgo, 0, trial.long / 2, 'finishedAgo');
      const holdFor = outcome.as === 'abandoned' ? 0 : outcome.holdFor;
      if (holdFor === 0) same(record.holdLeft, 0, `holdLeft after ${outcome.as}`);
      else trial.isLeft(record.holdLeft, holdFor, 'holdLeft');
      const error = outcome.as === 'failed' ? outcome.error : undefined;
      same(record.lastError, error, `lastError after ${outcome.as}`);
    }
  }),

  always('inspect: keeps the error of a round that failed, until the next begins', async (trial) => {
    const error = `it's "down" \\ 100%\n\tat line 1; \u{1f680} ${'x'.repeat(2000)}`;
    await trial.release(await trial.lease(), { as: 'failed', holdFor: 0, error });
    same((await trial.record()).lastError, error, 'lastError');
    await trial.lease();
    same((await trial.record()).lastError, undefined, 'lastError of the next round');
  }),

  always('inspect: knows nothing of a name that was never acquired, and leaves it so', async (trial) => {
    same(await trial.lock.inspect(trial.name), undefined, 'inspect');
    same(await trial.lock.forceRelease(trial.name, 1), false, 'forceRelease');
    same(await trial.lock.inspect(trial.name), undefined, 'inspect');
    same((await trial.lock.list({ prefix: trial.name })).length, 0, 'how many are listed');
  }),

  always('list: the records of all names with the prefix, in their order', async (trial) => {
    const names = ['-c', '-a', '-b', '-B', '-a-1', ''].map((end) => trial.name + end);
    for (const name of names) await trial.lease({ name });
    await trial.lease({ name: `x${trial.name}` });
    const ended = await trial.lease({ name: `${trial.name}-d` });
    await trial.release(ended, { as: 'failed', holdFor: trial.long, error: 'down' });
    const records = await trial.other.list({ prefix: trial.name });
    sameList(
      records.map(({ name }) => name),
      [...names, ended.name].sort(),
      'the names',
    );
    const last = present(records.at(-1), 'the last record');
    same(last.state, 'failed', 'state');
    same(last.token, ended.token, 'token');
    same(last.lastError, 'down', 'lastError');
    trial.isLeft(last.holdLeft, trial.long, 'holdLeft');
    const all = await trial.other.list({ limit: 1_000_000 });
    ensure(
      names.every((name) => all.some((record) => record.name === name)),
      'without a prefix all are listed',
    );
  }),

  always('list: no more than the limit', async (trial) => {
    for (const end of ['-1', '-2', '-3']) await trial.lease({ name: trial.name + end });
    const records = await trial.lock.list({ prefix: trial.name, limit: 2 });
    same(records.length, 2, 'how many are listed');
    same((await trial.lock.list({ prefix: trial.name, limit: 3 })).length, 3, 'how many are listed');
  }),

  always('list: the prefix is text, not a pattern', async (trial) => {
    await trial.lease({ name: `${trial.name}x-end` });
    for (const wild of ['%', '_', '*', '?', '[x]', '\\', '.', '^', '$', '{x}', '#', "'", '"']) {
      const name = `${trial.name}${wild}-end`;
      await trial.lease({ name });
      const names = (await trial.lock.list({ prefix: `${trial.name}${wild}` })).map((record) => record.name);
      sameList(names, [name], `the names that begin with ${wild}`);
    }
  }),

  always('forceRelease: ends a lease, and the holder learns of it', async (trial) => {
    const lease = await trial.lease();
    same(await trial.other.forceRelease(trial.name, lease.token), true, 'forceRelease');
    const record = await trial.record();
    same(record.state, 'released', 'state');
    same(record.leaseLeft, 0, 'leaseLeft');
    same(record.token, lease.token, 'token');
    between(record.finishedAgo, 0, trial.long / 2, 'finishedAgo');
    same(await trial.lock.extend(lease, trial.long), false, 'extend of the holder');
    same(
      await trial.lock.release(lease, { as: 'done', holdFor: trial.long }),
      false,
      'release of the holder',
    );
    const next = await trial.lease({}, trial.other);
    ensure(next.token > lease.token, 'the token must be greater');
    same(await trial.lock.extend(lease, trial.long), false, 'extend of the old holder');
    await trial.untouched(next, 'after an extension of the old holder');
  }),

  always('forceRelease: ends a hold', async (trial) => {
    for (const as of ['done', 'failed'] as const) {
      const lease = await trial.lease();
      await trial.release(lease, { as, holdFor: trial.long });
      same(await trial.other.forceRelease(trial.name, lease.token), true, 'forceRelease');
      same((await trial.record()).holdLeft, 0, 'holdLeft');
    }
    await trial.lease();
  }),

  always('forceRelease: with another token than the present one changes nothing', async (trial) => {
    const old = await trial.lease();
    await trial.release(old, { as: 'abandoned' });
    const lease = await trial.lease();
    for (const token of [old.token, lease.token - 1, lease.token + 1, 0]) {
      same(await trial.lock.forceRelease(trial.name, token), false, `forceRelease with token ${token}`);
    }
    await trial.untouched(lease, 'after forceRelease with another token');
  }),
];
