import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { InstanceReport } from '../../../src/cluster/store-contract.ts';
import type { FleetMember } from '../../../src/data/fleet.ts';
import { isTicklessError, RefreshGroup, RefreshingCache, type RefreshingValue } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { type Instance, type Link, ManualCluster, warmOne, warmPair } from '../../support/cluster.ts';
import { manualValue } from '../../support/manual-value.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

const WITHIN = 1000;
/** A report lasts so long. */
const LASTS = 15_000;
const own = { schedule: { hours: 1 }, propagateWithin: WITHIN } as const;

/** Reads all of them each 50 ms, also at the end. */
function readFor(cluster: ManualCluster, instances: readonly Instance[], ms: number): Promise<void> {
  return cluster.readFor(instances, ms + 50, 50);
}

async function memberIn(cluster: ManualCluster): Promise<FleetMember | undefined> {
  return (await cluster.store.fleet()).members[0];
}

/** The reports that were sent since the last time. */
function reportsOf(link: Link): InstanceReport[] {
  return link.commands.splice(0).flatMap(({ report }) => report ?? []);
}

describe('the fleet of a store', () => {
  it('has the instances that check, each with an id of its own, in the command of the check', async () => {
    const cluster = new ManualCluster();
    const instances = await cluster.warm(3, own);
    await readFor(cluster, instances, WITHIN);
    const fleet = await cluster.store.fleet();
    const version = instances[0].value.inspect().lock?.version;
    expect(fleet.members[0]).toMatchObject({
      name: 'v',
      of: 3,
      holding: 3,
      version,
      behind: [],
      failing: [],
    });
    expect(new Set(fleet.instances.map(({ id }) => id)).size).toBe(3);
    expect(fleet.instances[0]).toMatchObject({ leftOut: 0, members: [{ name: 'v', version, failures: 0 }] });
    expect(fleet.instances[0]?.upFor).toBeGreaterThanOrEqual(WITHIN);
    const sent = instances.flatMap(({ link }) => link.commands.splice(0));
    expect(sent.map(({ step, name }) => [step, name])).toEqual(sent.map(() => ['check', 'v']));
  });

  it('shows who is behind or fails, and has a value of its own, or none', async () => {
    const { cluster, a, b } = await warmPair({ ...own, schedule: 2000 });
    const cold = cluster.instance({ ...own, name: 'other' });
    a.value.set('local', { here: true });
    await readFor(cluster, [a, b, cold], 4000);
    await cluster.fail(cold, 0, new Error('ECONNREFUSED'));
    b.value.pause({ here: true }); // it stays behind
    await readFor(cluster, [cold], 2 * WITHIN);
    const { members } = await cluster.store.fleet();
    const [other, v] = members as [FleetMember, FleetMember];
    expect(other).toMatchObject({ of: 1, holding: 0, version: undefined, oldest: undefined });
    expect(other.failing[0]).toMatchObject({ failures: 1, error: 'ECONNREFUSED' });
    expect(other.text).toMatch(/^none of 1 has a version, .* failing: ECONNREFUSED$/);
    // Its last report may have gone with a read that found nothing.
    expect([v.of, v.holding, v.behind.length + v.takingOver]).toEqual([2, 1, 1]);
    for (const { version } of v.behind) expect(version).toBe(undefined);
  });

  it('shows no instance behind whose value is being published as it reports', async () => {
    const { cluster, a, b } = await warmPair(own);
    await readFor(cluster, [a, b], WITHIN);
    const arrives = new Deferred<void>();
    a.link.breakOnce({ arrives: arrives.promise }, 'write');
    void a.value.refresh();
    await cluster.clock.flush();
    await cluster.end(a, 1, 'second');
    await readFor(cluster, [a], WITHIN); // a check goes before the write has arrived
    const held = (await memberIn(cluster))?.version;
    expect(await memberIn(cluster)).toMatchObject({ of: 2, holding: 1, takingOver: 1, behind: [] });
    arrives.resolve();
    await readFor(cluster, [b], 2 * WITHIN); // the other one takes it over; the first one is not read any more
    const after = (await memberIn(cluster)) as FleetMember;
    expect(after.version).toBeGreaterThan(held as number);
    expect(after).toMatchObject({ of: 2, holding: 1, takingOver: 1, behind: [] });
  });

  it('shows a pin, and what was refused', async () => {
    const cluster = new ManualCluster({ keepVersions: 2 });
    const accept = (value: unknown): true | string => value !== 'bad' || 'it is bad';
    const [a, b] = await cluster.warm(2, { ...own, accept });
    const refused = rejectionOf(b.value.refresh());
    await cluster.clock.flush();
    await cluster.end(b, 0, 'bad');
    await refused;
    await readFor(cluster, [b], WITHIN); // and no more: it would adopt a value that is newer
    await cluster.refresh(a, 1, 'two');
    await a.value.rollback({ by: 'ann', note: 'why' });
    await readFor(cluster, [a], WITHIN);
    const member = await memberIn(cluster);
    expect(member?.pinned).toMatchObject([{ by: 'ann', note: 'why' }]);
    expect(member?.refused).toMatchObject([{ reason: 'it is bad' }]);
    expect(member?.refused[0]?.for).toBeGreaterThan(0);
  });

  it('gets a report when something is new, else a few in the time that one lasts', async () => {
    const { cluster, a } = await warmOne(own);
    await readFor(cluster, [a], 60_000);
    const calm = reportsOf(a.link);
    expect(calm.length).toBeGreaterThanOrEqual(12);
    expect(calm.length).toBeLessThanOrEqual(16);
    expect(calm.every(({ text }) => JSON.parse(text).lasts === LASTS)).toBe(true);
    for (let i = 1; i <= 3; i++) {
      await cluster.refresh(a, i, `edition ${i}`);
      a.link.commands.length = 0;
      await readFor(cluster, [a], WITHIN);
      expect(reportsOf(a.link).length).toBe(1);
    }
  });

  it('gets another report after one that failed', async () => {
    const { cluster, a } = await warmOne(own);
    a.link.break('refused', 'check');
    await readFor(cluster, [a], WITHIN);
    a.link.mend();
    await readFor(cluster, [a], 5 * WITHIN);
    expect((await memberIn(cluster))?.of).toBe(1);
  });

  it('counts an instance as idle that is not read, or was killed, for ten minutes, and finds it again', async () => {
    const { cluster, a, b } = await warmPair(own);
    await readFor(cluster, [a, b], WITHIN);
    await readFor(cluster, [a], LASTS - 1500);
    expect((await memberIn(cluster))?.of).toBe(2);
    expect((await cluster.store.fleet()).idle).toEqual([]);
    await readFor(cluster, [a], 1600);
    expect((await memberIn(cluster))?.of).toBe(1);
    const [idle, ...others] = (await cluster.store.fleet()).idle;
    expect(idle).toMatchObject({ isIdle: true, members: [{ name: 'v', version: expect.any(Number) }] });
    expect(idle?.seenAgo).toBeGreaterThan(LASTS);
    expect(others).toEqual([]);
    await readFor(cluster, [a, b], WITHIN);
    expect((await memberIn(cluster))?.of).toBe(2);
    expect((await cluster.store.fleet()).idle).toEqual([]);
    await cluster.clock.advance(590_000);
    expect((await cluster.store.fleet()).idle).toHaveLength(2);
    await cluster.clock.advance(10_000);
    expect((await cluster.store.fleet()).idle).toEqual([]);
  });

  it('forgets an instance whose last member is closed, also while a check is under way', async () => {
    const { cluster, a, b } = await warmPair(own);
    const { value: other } = manualValue({
      name: 'w',
      clock: cluster.clock,
      backend: a.link.backend,
      ...own,
    });
    await readFor(cluster, [a, b], WITHIN);
    await other.close();
    expect((await cluster.store.fleet()).members.map(({ name, of }) => [name, of])).toEqual([
      ['v', 2],
      ['w', 1],
    ]);
    const answered = a.link.holdOnce('check');
    a.link.take();
    while (a.link.take().length === 0) await readFor(cluster, [a], 50);
    const closed = a.value.close();
    await cluster.clock.advance(500);
    expect((await memberIn(cluster))?.of).toBe(2);
    answered.resolve();
    await closed;
    expect((await memberIn(cluster))?.of).toBe(1);
    b.link.break('no-answer', 'check');
    const last = b.value.close();
    await cluster.clock.advance(1000);
    expect(await settled(last)).toEqual({ value: expect.objectContaining({ drained: true }) });
  });

  it('finds an instance again that has members once more', async () => {
    const { cluster, a } = await warmOne(own);
    await readFor(cluster, [a], WITHIN);
    await a.value.close();
    const next = (): Instance => ({
      ...a,
      value: manualValue({ clock: cluster.clock, ...links, ...own }).value,
    });
    const links = { backend: { lock: a.link.lock, store: a.link.store } };
    const again = next();
    await readFor(cluster, [again], WITHIN);
    expect((await memberIn(cluster))?.text).toContain('1 of 1 holds version');
    const answered = again.link.holdOnce('check');
    again.link.take();
    while (again.link.take().length === 0) await readFor(cluster, [again], 50);
    const closed = again.value.close();
    await cluster.clock.flush();
    const third = next(); // while the check of the one before is under way
    answered.resolve();
    await closed;
    await readFor(cluster, [third], 50);
    expect((await memberIn(cluster))?.of).toBe(1);
  });
});

it('the fleet has caches, with the marks that they know and the keys that fail', async () => {
  const cluster = new ManualCluster();
  const { clock } = cluster;
  const [a, b] = Array.from({ length: 2 }, () => {
    const { backend } = cluster.link();
    const load = (key: string): string => {
      if (key === 'bad') throw new Error('ECONNREFUSED');
      return key;
    };
    return new RefreshingCache({
      name: 'keys',
      load,
      backend,
      clock,
      logger: false,
      retry: false,
      ...own,
    });
  }) as [RefreshingCache<string, string>, RefreshingCache<string, string>];
  const read = async (ms: number): Promise<void> => {
    for (let at = 0; at <= ms; at += 50) {
      for (const cache of [a, b]) void cache.get('good');
      await clock.advance(50);
    }
  };
  await read(WITHIN);
  expect((await memberIn(cluster))?.text).toBe('2 without marks');
  void a.get('bad').catch(() => {});
  await a.invalidate('good');
  await read(3 * WITHIN);
  const member = await memberIn(cluster);
  expect(member).toMatchObject({ kind: 'cache', of: 2, holding: 2, behind: [], oldest: undefined });
  expect(member?.failing).toMatchObject([{ failures: 1, error: 'ECONNREFUSED' }]);
});

describe('the fleet of a group', () => {
  it('has its members only, of all stores that they use', async () => {
    const cluster = new ManualCluster();
    const group = new RefreshGroup({ clock: cluster.clock });
    const elsewhere = memoryBackend({ clock: cluster.clock });
    const [a] = await cluster.warm(1, { ...own, group });
    const make = (name: string, more: object): RefreshingValue<string> =>
      group.value({ name, load: () => 'one', ...own, backend: a.link.backend, ...more });
    make('namesake', {});
    const there = make('there', { backend: elsewhere });
    group.value({ name: 'alone', load: () => 'one' });
    group.cache({ name: 'keys', load: (key: string) => key, backend: a.link.backend });
    const b = cluster.instance(own);
    const second = make('second', { backend: cluster.link().backend }); // another object of the same backend
    const theirs = manualValue({
      name: 'second',
      clock: cluster.clock,
      backend: b.link.backend,
      ...own,
    });
    const stranger = cluster.instance({ ...own, name: 'stranger' });
    await readFor(
      cluster,
      [a, b, stranger, ...[there, second, theirs.value].map((value) => ({ ...a, value }))],
      2 * WITHIN,
    );
    const { members, instances } = await group.fleet();
    expect(members.map(({ name, of }) => [name, of])).toEqual([
      ['keys', 1],
      ['namesake', 1],
      ['v', 2],
      ['there', 1],
      ['second', 2],
    ]);
    const names = instances.map(({ members: all }) =>
      all
        .map(({ name }) => name)
        .sort()
        .join(' '),
    );
    expect(names.sort()).toEqual(['keys namesake v', 'second', 'second v', 'there']);
    const theirsAlone = instances.filter(({ isHere }) => !isHere).map(({ members: all }) => all.length);
    expect(theirsAlone).toEqual([2]); // the others are the store objects of this group
    expect(JSON.parse(JSON.stringify(await group.fleet())).members.length).toBe(5);
    a.link.break('refused', 'check');
    const rest = await group.fleet(); // what the other stores say
    expect(rest.members.map(({ name }) => name)).toEqual(['there', 'second']);
    const [silent, ...others] = rest.unanswered ?? [];
    expect(others).toEqual([]);
    expect(silent?.members.map(({ name }) => name).sort()).toEqual(['keys', 'namesake', 'v']);
    expect(isTicklessError(silent?.error, 'BACKEND_DOWN')).toBe(true);
    expect(await new RefreshGroup().fleet()).toEqual({ instances: [], idle: [], members: [] });
  });
});
