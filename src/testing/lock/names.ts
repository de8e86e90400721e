import { isOptionError } from '../../errors.ts';
import { rejects, same, sameList } from '../assert.ts';
import { AWKWARD_NAMES, uniqueName } from '../conformance.ts';
import { type Case, testCase } from './case-context.ts';

/** Names, and invalid arguments. */
export const NAMES: readonly Case[] = [
  testCase('names: any text is a name, distinct from all others', async (context) => {
    const names = AWKWARD_NAMES.map((end) => `${context.name}-${end}`);
    const tokens = new Map<string, number>();
    for (const name of names) tokens.set(name, (await context.lease({ name })).token);
    for (const name of names) {
      const record = await context.record(name);
      same(record.name, name, 'name of the record');
      same(record.token, tokens.get(name), `token of ${JSON.stringify(name)}`);
      same((await context.held({ name })).token, tokens.get(name), `token of ${JSON.stringify(name)}`);
    }
    const listed = (await context.other.list({ prefix: context.name })).map(({ name }) => name);
    sameList(listed.sort(), names.sort(), 'the names listed');
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
      await rejects(
        context.lock.acquire(context.request({ name })),
        isOptionError,
        'acquire of a name too long',
      );
      await rejects(context.lock.inspect(name), isOptionError, 'inspect of a name too long');
    }
  }),

  testCase('arguments: an invalid one is an OptionError', async (context) => {
    const { lock } = context;
    const lease = await context.lease();
    await rejects(lock.acquire(context.request({ name: '' })), isOptionError, 'acquire of an empty name');
    await rejects(lock.inspect(''), isOptionError, 'inspect of an empty name');
    for (const leaseFor of [0, -1, Number.NaN, Infinity]) {
      const request = context.request({ leaseFor, name: uniqueName('rules') });
      await rejects(lock.acquire(request), isOptionError, `acquire for ${leaseFor} ms`);
      await rejects(lock.extend(lease, leaseFor), isOptionError, `extend for ${leaseFor} ms`);
    }
    for (const holdFor of [-1, Number.NaN, Infinity]) {
      await rejects(lock.release(lease, { as: 'done', holdFor }), isOptionError, `a hold of ${holdFor} ms`);
    }
    await context.untouched(lease, 'after invalid arguments');
  }),
];
