import { LONGEST_LEASE_MS } from '../../../src/cluster/longest-lease.ts';
import { between, namesOf, rejects, same, sameList } from '../../../src/testing/assert.ts';
import { AWKWARD_NAMES, namesFrom, UNSTORABLE_TEXTS, uniqueName } from '../../../src/testing/conformance.ts';
import { type Case, testCase } from '../../../src/testing/lock/case-context.ts';

/** Names, and invalid arguments. */
export const NAMES: readonly Case[] = [
  testCase('names: any text is a name, distinct from all others', async (context) => {
    const names = namesFrom(context.name, AWKWARD_NAMES);
    const tokens = new Map<string, number>();
    for (const name of names) tokens.set(name, (await context.lease({ name })).token);
    for (const name of names) {
      const record = await context.record(name);
      same(record.name, name, 'name of the record');
      same(record.token, tokens.get(name), `token of ${JSON.stringify(name)}`);
      same((await context.held({ name })).token, tokens.get(name), `token of ${JSON.stringify(name)}`);
    }
    const listed = await context.listed(names.length, context.name);
    sameList(namesOf(listed).sort(), names.toSorted(), 'the names listed');
  }),

  testCase('names: up to longestName bytes long, no longer', async (context) => {
    const { longestName } = context.lock;
    const longest = context.name.padEnd(longestName ?? 5000, 'x');
    const neighbour = `${longest.slice(0, -1)}y`;
    const first = await context.lease({ name: longest });
    const second = await context.lease({ name: neighbour });
    same((await context.held({ name: longest })).token, first.token, 'token of the longest name');
    same((await context.held({ name: neighbour })).token, second.token, 'token of its neighbour');
    same((await context.record(longest)).name, longest, 'name of the record');
    const room = (longestName ?? 5000) - context.name.length;
    const wide = context.name + '\u00e9'.repeat(Math.floor(room / 2)); // two bytes each
    same((await context.lease({ name: wide })).name, wide, 'name of the lease');
    if (longestName === undefined) return;
    for (const name of [`${longest}x`, `${wide}\u00e9`]) {
      await rejects(context.lock.acquire(context.request({ name })), 'OPTION', 'acquire of a name too long');
      await rejects(context.lock.inspect(name), 'OPTION', 'inspect of a name too long');
    }
  }),

  testCase('arguments: an invalid one rejects with OPTION', async (context) => {
    const { lock } = context;
    const lease = await context.lease();
    await rejects(lock.acquire(context.request({ name: '' })), 'OPTION', 'acquire of an empty name');
    await rejects(lock.inspect(''), 'OPTION', 'inspect of an empty name');
    const tooLong = [LONGEST_LEASE_MS + 1, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Infinity];
    for (const leaseFor of [0, -1, NaN, ...tooLong]) {
      const request = context.request({ leaseFor, name: uniqueName('rules') });
      await rejects(lock.acquire(request), 'OPTION', `acquire for ${leaseFor} ms`);
      await rejects(lock.extend(lease, leaseFor), 'OPTION', `extend for ${leaseFor} ms`);
    }
    for (const holdFor of [-1, NaN, ...tooLong]) {
      await rejects(lock.release(lease, { as: 'done', holdFor }), 'OPTION', `a hold of ${holdFor} ms`);
    }
    await context.untouched(lease, 'after invalid arguments');
  }),

  testCase('arguments: a text that not every backend stores rejects with OPTION', async (context) => {
    const { lock } = context;
    const lease = await context.lease();
    for (const text of UNSTORABLE_TEXTS) {
      const fields = ['name', 'owner', 'requestId', 'host'] as const;
      for (const field of fields) {
        const request = context.request({ name: uniqueName('texts'), [field]: text });
        await rejects(lock.acquire(request), 'OPTION', `acquire with such a ${field}`);
      }
      const strange = { ...lease, requestId: text };
      await rejects(lock.extend(strange, 1000), 'OPTION', 'extend with such an id');
      await rejects(lock.release(strange, { as: 'abandoned' }), 'OPTION', 'release with such an id');
      await rejects(lock.inspect(text), 'OPTION', 'inspect of such a name');
      await rejects(lock.forceRelease(text, 1), 'OPTION', 'forceRelease of such a name');
      await rejects(lock.list({ prefix: text }), 'OPTION', 'list of such a prefix');
    }
    await context.untouched(lease, 'after such texts');
  }),

  testCase('the longest lease, extension and hold last as long as any other', async (context) => {
    const lasts = (ms: number | undefined, what: string): void =>
      between(ms, LONGEST_LEASE_MS - context.long, LONGEST_LEASE_MS + context.unit, what);
    const lease = await context.lease({ leaseFor: LONGEST_LEASE_MS });
    lasts(lease.remaining, 'the rest of the lease');
    lasts((await context.held()).retryAfter, 'retryAfter of the lease');
    same(await context.lock.extend(lease, LONGEST_LEASE_MS), true, 'extend');
    await context.held();
    await context.release(lease, { as: 'done', holdFor: LONGEST_LEASE_MS });
    lasts((await context.done()).retryAfter, 'retryAfter of the hold');
    lasts((await context.record()).holdLeft, 'holdLeft');
    const next = await context.lease({ force: true });
    await context.release(next, { as: 'abandoned' }); // no lease of a year is left behind
  }),
];
