import { isOptionError } from '../../errors.ts';
import { rejects, same, sameList } from '../assert.ts';
import { AWKWARD_NAMES, uniqueName } from '../conformance.ts';
import { always, type Case } from './trial.ts';

/** Names, and broken rules. */
export const NAMES: readonly Case[] = [
  always('names: any text is a name, and none is taken for another', async (trial) => {
    const names = AWKWARD_NAMES.map((end) => `${trial.name}-${end}`);
    const tokens = new Map<string, number>();
    for (const name of names) tokens.set(name, (await trial.lease({ name })).token);
    for (const name of names) {
      const record = await trial.record(name);
      same(record.name, name, 'name of the record');
      same(record.token, tokens.get(name), `token of ${JSON.stringify(name)}`);
      same((await trial.held({ name })).token, tokens.get(name), `token of ${JSON.stringify(name)}`);
    }
    const listed = (await trial.other.list({ prefix: trial.name })).map(({ name }) => name);
    sameList(listed.sort(), names.sort(), 'the names listed');
  }),

  always('names: as long as it says, and no longer', async (trial) => {
    const { longestName } = trial.lock;
    const longest = trial.name.padEnd(longestName ?? 5000, 'x');
    const neighbour = `${longest.slice(0, -1)}y`;
    const first = await trial.lease({ name: longest });
    const second = await trial.lease({ name: neighbour });
    same((await trial.held({ name: longest })).token, first.token, 'token of the longest name');
    same((await trial.held({ name: neighbour })).token, second.token, 'token of its neighbour');
    same((await trial.record(longest)).name, longest, 'name of the record');
    const room = (longestName ?? 5000) - trial.name.length;
    const wide = trial.name + '\u00e9'.repeat(Math.floor(room / 2)); // two bytes each
    same((await trial.lease({ name: wide })).name, wide, 'name of the lease');
    if (longestName === undefined) return;
    for (const name of [`${longest}x`, `${wide}\u00e9`]) {
      await rejects(trial.lock.acquire(trial.request({ name })), isOptionError, 'acquire of a name too long');
      await rejects(trial.lock.inspect(name), isOptionError, 'inspect of a name too long');
    }
  }),

  always('rules: a caller who breaks one is told so', async (trial) => {
    const { lock } = trial;
    const lease = await trial.lease();
    await rejects(lock.acquire(trial.request({ name: '' })), isOptionError, 'acquire of an empty name');
    await rejects(lock.inspect(''), isOptionError, 'inspect of an empty name');
    for (const leaseFor of [0, -1, Number.NaN, Infinity]) {
      const request = trial.request({ leaseFor, name: uniqueName('rules') });
      await rejects(lock.acquire(request), isOptionError, `acquire for ${leaseFor} ms`);
      await rejects(lock.extend(lease, leaseFor), isOptionError, `extend for ${leaseFor} ms`);
    }
    for (const holdFor of [-1, Number.NaN, Infinity]) {
      await rejects(lock.release(lease, { as: 'done', holdFor }), isOptionError, `a hold of ${holdFor} ms`);
    }
    await trial.untouched(lease, 'after broken rules');
  }),
];
