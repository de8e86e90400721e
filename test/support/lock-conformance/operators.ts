import {
  between,
  ensure,
  namesOf,
  present,
  same,
  sameFields,
  sameList,
} from '../../../src/testing/assert.ts';
import { type Case, OUTCOMES, testCase } from '../../../src/testing/lock/case-context.ts';

/** Operations for people: inspect, list, forceRelease. */
export const OPERATORS: readonly Case[] = [
  testCase('inspect: shows a running round', async (context) => {
    const { token, owner } = await context.lease({ host: 'the-host' });
    const record = await context.record();
    sameFields(record, { name: context.name, token, owner, host: 'the-host', state: 'running' });
    sameFields(record, { tookOver: false, holdLeft: 0, finishedAgo: undefined, lastError: undefined });
    context.isLeft(record.leaseLeft, context.long, 'leaseLeft');
    between(record.acquiredAgo, 0, context.long / 2, 'acquiredAgo');
  }),

  testCase('inspect: shows how a round ended', async (context) => {
    for (const outcome of OUTCOMES) {
      const lease = await context.lease({ force: true });
      await context.release(lease, outcome);
      const record = await context.record();
      const { as, holdFor = 0, error } = { holdFor: 0, error: undefined, ...outcome };
      sameFields(record, { state: as, token: lease.token, leaseLeft: 0, lastError: error }, ` after ${as}`);
      between(record.finishedAgo, 0, context.long / 2, 'finishedAgo');
      if (holdFor === 0) same(record.holdLeft, 0, `holdLeft after ${as}`);
      else context.isLeft(record.holdLeft, holdFor, 'holdLeft');
    }
  }),

  testCase('a done round has the confirmation of its release, and the next one none', async (context) => {
    const lease = await context.lease();
    await context.release(lease, { as: 'done', holdFor: context.long, confirms: 'grüße {"a":1}' });
    same((await context.done()).confirms, 'grüße {"a":1}', 'confirms');
    const next = await context.lease({ force: true }, context.other);
    await context.release(next, { as: 'done', holdFor: context.long });
    same((await context.done()).confirms, undefined, 'confirms of the next round');
  }),

  testCase('inspect: shows the error of a failed round until the next round begins', async (context) => {
    const error = `it's "down" \\ 100%\n\tat line 1; \u{1f680} ${'x'.repeat(2000)}`;
    await context.release(await context.lease(), { as: 'failed', holdFor: 0, error });
    same((await context.record()).lastError, error, 'lastError');
    await context.lease();
    same((await context.record()).lastError, undefined, 'lastError of the next round');
  }),

  testCase('inspect: an unknown name has no record, and gets none', async (context) => {
    same(await context.lock.inspect(context.name), undefined, 'inspect');
    same(await context.lock.forceRelease(context.name, 1), false, 'forceRelease');
    same(await context.lock.inspect(context.name), undefined, 'inspect');
    same((await context.lock.list({ prefix: context.name })).length, 0, 'how many are listed');
  }),

  testCase('list: returns all names with the prefix, sorted', async (context) => {
    const names = ['-c', '-a', '-b', '-B', '-a-1', ''].map((end) => context.name + end);
    for (const name of names) await context.lease({ name });
    await context.lease({ name: `x${context.name}` });
    const ended = await context.lease({ name: `${context.name}-d` });
    await context.release(ended, { as: 'failed', holdFor: context.long, error: 'down' });
    const records = await context.listed(names.length + 1, context.name);
    sameList(namesOf(records), [...names, ended.name].sort(), 'the names');
    const last = present(records.at(-1), 'the last record');
    sameFields(last, { state: 'failed', token: ended.token, lastError: 'down' });
    context.isLeft(last.holdLeft, context.long, 'holdLeft');
    const all = await context.other.list({ limit: 1_000_000 });
    const isMissing = (name: string): boolean => !all.some((record) => record.name === name);
    sameList(names.filter(isMissing), [], 'the names that are not listed without a prefix');
  }),

  testCase('list: returns names that go on with the last character of Unicode', async (context) => {
    const last = '\u{10ffff}';
    const names = [context.name, `${context.name}${last}`, `${context.name}${last}z`];
    for (const name of names) await context.lease({ name });
    for (const [from, prefix] of names.slice(0, 2).entries()) {
      const listed = await context.listed(names.length - from, prefix);
      sameList(namesOf(listed).sort(), names.slice(from).sort(), `the names from the one of ${from} on`);
    }
  }),

  testCase('list: returns at most limit records', async (context) => {
    for (const end of ['-1', '-2', '-3']) await context.lease({ name: context.name + end });
    for (const limit of [3, 2]) {
      same((await context.listed(limit, context.name, limit)).length, limit, 'how many are listed');
    }
  }),

  testCase('list: the prefix is text, not a pattern', async (context) => {
    await context.lease({ name: `${context.name}x-end` });
    for (const wild of ['%', '_', '*', '?', '[x]', '\\', '.', '^', '$', '{x}', '#', "'", '"']) {
      const name = `${context.name}${wild}-end`;
      await context.lease({ name });
      const records = await context.listed(1, `${context.name}${wild}`);
      sameList(namesOf(records), [name], `the names that begin with ${wild}`);
    }
  }),

  testCase(
    'forceRelease: ends a lease; extension and release of the holder return false',
    async (context) => {
      const lease = await context.lease();
      same(await context.other.forceRelease(context.name, lease.token), true, 'forceRelease');
      const record = await context.record();
      sameFields(record, { state: 'released', leaseLeft: 0, token: lease.token });
      between(record.finishedAgo, 0, context.long / 2, 'finishedAgo');
      same(await context.lock.extend(lease, context.long), false, 'extend of the holder');
      const isReleased = await context.lock.release(lease, { as: 'done', holdFor: context.long });
      same(isReleased, false, 'release of the holder');
      const next = await context.lease({}, context.other);
      ensure(next.token > lease.token, 'the token must be greater');
      same(await context.lock.extend(lease, context.long), false, 'extend of the old holder');
      await context.untouched(next, 'after an extension of the old holder');
    },
  ),

  testCase('forceRelease: ends a hold', async (context) => {
    for (const as of ['done', 'failed'] as const) {
      const lease = await context.lease();
      await context.release(lease, { as, holdFor: context.long });
      same(await context.other.forceRelease(context.name, lease.token), true, 'forceRelease');
      same((await context.record()).holdLeft, 0, 'holdLeft');
    }
    await context.lease();
  }),

  testCase('forceRelease: changes nothing with another token', async (context) => {
    const old = await context.lease();
    await context.release(old, { as: 'abandoned' });
    const lease = await context.lease();
    for (const token of [old.token, lease.token - 1, lease.token + 1, 0]) {
      same(await context.lock.forceRelease(context.name, token), false, `forceRelease with token ${token}`);
    }
    await context.untouched(lease, 'after forceRelease with another token');
  }),
];
