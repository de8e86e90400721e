import { describe, expect, it } from 'vitest';
import { keep } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { type Instance, ManualCluster, warmPair } from '../../support/cluster.ts';
import { isOutcome } from '../../support/events.ts';

const drop = { drop: true } as const;
const WITHIN = 1000;
const own = { schedule: { hours: 1 }, propagateWithin: WITHIN } as const;

/** Reads it for as long as a check may take to come. */
function readUntilChecked(cluster: ManualCluster, instance: Instance, within = WITHIN): Promise<void> {
  return cluster.readFor([instance], within + 50);
}

/** Two instances; after a change of the first one the second, which does not know of it, has a load under way. */
async function whileLoading(
  change: (a: Instance) => Promise<unknown>,
): Promise<{ cluster: ManualCluster; b: Instance; refreshed: Promise<string> }> {
  const { cluster, a, b } = await warmPair(own);
  await change(a);
  const refreshed = b.value.refresh({ here: true });
  await cluster.clock.flush();
  expect(b.manual.calls.length).toBe(1);
  return { cluster, b, refreshed };
}

/** The second instance loads; `overtake` has a person set a value on the first, which ends its lease. */
async function loadsUnderALease() {
  const cluster = new ManualCluster({}, 30_000);
  const [a, b] = await cluster.warm(2, own);
  const refreshed = b.value.refresh({ here: true });
  refreshed.catch(() => {});
  await cluster.clock.flush();
  b.link.take();
  const overtake = (): Promise<void> => a.value.set('set');
  return { cluster, a, b, refreshed, overtake };
}

describe('while its load is under way an instance', () => {
  it('serves a value no longer that was dropped before; the load goes on, and answers', async () => {
    const { cluster, b, refreshed } = await whileLoading((a) => a.value.invalidate(drop));
    await readUntilChecked(cluster, b);
    expect(b.value.peek()).toBe(undefined);
    const read = b.value.get();
    await cluster.end(b, 0, 'two');
    expect([await refreshed, await read, b.value.peek()]).toEqual(['two', 'two', 'two']);
    await readUntilChecked(cluster, b);
    expect([b.value.inspect().isDue, b.manual.calls.length]).toEqual([false, 1]);
  });

  it('takes over what was set before, and then its own result', async () => {
    const { cluster, b, refreshed } = await whileLoading((a) => a.value.set('set'));
    await readUntilChecked(cluster, b);
    expect(b.value.current).toBe('set');
    await cluster.end(b, 0, 'two');
    expect([await refreshed, b.value.current]).toEqual(['two', 'two']);
  });

  it('takes over what was set since then where its own result comes later, and is refused by the store', async () => {
    const { cluster, b, refreshed, overtake } = await loadsUnderALease();
    await overtake();
    await cluster.clock.advance(100);
    await cluster.end(b, 0, 'two');
    expect([await refreshed, b.events.some(isOutcome('publish-refused'))]).toEqual(['two', true]);
    await readUntilChecked(cluster, b);
    expect([b.value.peek(), b.manual.calls.length]).toEqual(['set', 1]);
  });

  it('takes over what was set since then where that load has failed, and its lease is being released', async () => {
    const { cluster, b, refreshed, overtake } = await loadsUnderALease();
    await overtake();
    const released = b.link.holdOnce('release');
    await cluster.fail(b, 0, new Error('down'));
    expect(b.link.take()).toContain('release');
    await readUntilChecked(cluster, b);
    expect(b.value.peek()).toBe('set');
    released.resolve();
    await expect(refreshed).rejects.toThrow('down');
  });

  it('takes over what was set since then where its lease was lost, and its load is over, before it asks for more time', async () => {
    const { cluster, a, b, refreshed, overtake } = await loadsUnderALease();
    await overtake();
    await readUntilChecked(cluster, b);
    expect([b.value.current, b.link.take().includes('extend')]).toEqual(['set', false]);
    expect(b.manual.call(0).context.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    await cluster.end(b, 0, 'two');
    await cluster.clock.advance(10);
    expect([await refreshed, b.value.current, a.value.current]).toEqual(['set', 'set', 'set']);
    expect(b.manual.calls.length).toBe(1);
  });

  it('ends a load whose lease was lost also where a mark of its own had ended that before', async () => {
    const { cluster, b, refreshed, overtake } = await loadsUnderALease();
    await b.value.invalidate();
    await cluster.clock.advance(1);
    await overtake();
    await readUntilChecked(cluster, b);
    expect(b.manual.call(0).context.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    await cluster.end(b, 0, 'two');
    await cluster.clock.advance(10);
    expect([await refreshed, b.value.current]).toEqual(['set', 'set']);
  });

  it('serves what was set also when the load fails', async () => {
    const { cluster, b, refreshed } = await whileLoading((a) => a.value.set('set'));
    refreshed.catch(() => {});
    await readUntilChecked(cluster, b);
    await cluster.fail(b, 0, new Error('down'));
    await expect(refreshed).rejects.toThrow('down');
    expect([b.value.current, b.value.inspect().failures]).toEqual(['set', 1]);
  });

  it('loads again where the load keeps a value that is not in place any more', async () => {
    const { cluster, b, refreshed } = await whileLoading((a) => a.value.set('set'));
    await readUntilChecked(cluster, b);
    await cluster.end(b, 0, keep() as unknown as string);
    await cluster.clock.advance(10);
    expect(b.manual.calls.map(({ context }) => context.previous?.value)).toEqual(['one', 'set']);
    await cluster.end(b, 1, 'two');
    expect([await refreshed, b.value.current]).toEqual(['two', 'two']);
  });

  it('makes an invalidated value due again where the load fails', async () => {
    const { cluster, b, refreshed } = await whileLoading((a) => a.value.invalidate());
    refreshed.catch(() => {});
    await readUntilChecked(cluster, b);
    expect({ peek: b.value.peek(), isDue: b.value.inspect().isDue }).toEqual({ peek: 'one', isDue: true });
    await cluster.fail(b, 0, new Error('down'));
    await cluster.readAfter(10_000, b);
    expect(b.manual.calls.length).toBe(2);
  });
});

it('a value that is invalidated here takes over what was set before, and stays due', async () => {
  const { cluster, a, b } = await warmPair(own);
  await a.value.set('set');
  await cluster.clock.advance(10);
  b.value.invalidate({ here: true });
  await readUntilChecked(cluster, b);
  expect([b.value.current, b.value.inspect().isDue, b.manual.calls.length]).toEqual(['set', true, 1]);
  await cluster.end(b, 0, 'two');
  expect([b.value.current, b.value.inspect().isDue]).toEqual(['two', false]);
});

it('while it publishes what a person has set, an instance stays with that', async () => {
  const { cluster, a, b } = await warmPair(own);
  await a.value.set('of a');
  const answered = b.link.hold('acquire');
  const published = b.value.set('of b');
  await readUntilChecked(cluster, b);
  expect(b.value.current).toBe('of b');
  b.link.mend();
  answered.resolve();
  await cluster.clock.flush();
  await published;
  await readUntilChecked(cluster, a);
  expect([a.value.current, b.value.current]).toEqual(['of b', 'of b']);
});

it('while what a person has set waits for the lease of another load, an instance stays with that, also where a load is asked for after it', async () => {
  const { cluster, a, b } = await warmPair(own);
  const refreshed = a.value.refresh({ here: true });
  await cluster.clock.flush();
  const set = b.value.set('set');
  await cluster.clock.flush();
  const after = b.value.refresh({ here: true });
  await cluster.clock.flush();
  const answered = b.link.hold('acquire');
  await cluster.end(a, 1, 'two');
  await readUntilChecked(cluster, b);
  expect(b.value.peek()).toBe('set');
  b.link.mend();
  answered.resolve();
  await cluster.clock.advance(100);
  await cluster.end(b, 0, 'three');
  expect(await Promise.all([refreshed, set, after])).toEqual(['two', undefined, 'three']);
});

it('a round that decodes an older version than a check has taken over meanwhile does not go back', async () => {
  const decoding = new Deferred<void>();
  const decode = async (data: string): Promise<string> => {
    if (data === 'old') await decoding.promise;
    return data;
  };
  const cluster = new ManualCluster({ codec: { encode: (value) => value as string, decode } });
  const [a, b] = await cluster.warm(2, { ...own, propagateWithin: 100 });
  const refreshed = a.value.refresh({ here: true });
  await cluster.clock.flush();
  const read = b.value.refresh({ here: true }); // waits for that
  await cluster.end(a, 1, 'old');
  await refreshed;
  await cluster.clock.advance(100);
  await a.value.set('new');
  await readUntilChecked(cluster, b, 100);
  expect(b.value.current).toBe('new');
  decoding.resolve();
  await cluster.clock.advance(100);
  expect([await read, b.value.current, b.manual.calls.length]).toEqual(['new', 'new', 0]);
});

it('a forced round does not replace a pinned version that a check has taken over while it waited for its lease', async () => {
  const cluster = new ManualCluster({ keepVersions: 3 });
  const [a, b] = await cluster.warm(2, { ...own, propagateWithin: 100 });
  await cluster.refresh(a, 1, 'two', { here: true });
  await readUntilChecked(cluster, b, 100);
  await a.value.rollback({ by: 'ann' });
  const answered = b.link.hold('acquire');
  b.value.invalidate({ here: true });
  await cluster.read(b);
  await readUntilChecked(cluster, b, 100);
  expect(b.value.current).toBe('one');
  answered.resolve();
  await cluster.clock.flush();
  expect({ current: b.value.current, calls: b.manual.calls.length }).toEqual({ current: 'one', calls: 0 });
});

it('a caller whose claim was refused for a pinned version gets a value, also when that was dropped meanwhile', async () => {
  const cluster = new ManualCluster({ keepVersions: 3 });
  const [a, b] = await cluster.warm(2, { ...own, propagateWithin: 100 });
  await cluster.refresh(a, 1, 'two');
  await readUntilChecked(cluster, b, 100);
  await a.value.rollback({ by: 'ann' });
  const acquired = b.link.hold('acquire');
  b.value.invalidate({ here: true });
  const read = b.value.get({ maxStaleness: 1 });
  await readUntilChecked(cluster, b, 100); // the pinned version is in place
  await a.value.unpin();
  await a.value.invalidate(drop);
  await readUntilChecked(cluster, b, 100);
  expect(b.value.peek()).toBe(undefined);
  b.link.mend();
  acquired.resolve();
  await cluster.clock.advance(500);
  await cluster.end(b, 0, 'three');
  expect(await read).toBe('three');
});

it('a round that gives its lease back for a pinned version does not go back to it where a check has taken over a newer one', async () => {
  const cluster = new ManualCluster({ keepVersions: 3 });
  const [a, b] = await cluster.warm(2, { ...own, propagateWithin: 100 });
  await cluster.refresh(a, 1, 'two');
  const to = a.value.inspect().lock?.version as number;
  await readUntilChecked(cluster, b, 100);
  const [acquired, released] = [new Deferred<void>(), new Deferred<void>()];
  b.link.fault = (step) => {
    if (step === 'acquire') return { arrives: acquired.promise };
    return step === 'release' ? released.promise : undefined;
  };
  b.value.invalidate({ here: true });
  await cluster.read(b);
  await a.value.rollback({ by: 'ann' });
  acquired.resolve();
  await cluster.clock.flush(); // it has read that version, and the lease is given back
  const version = await a.value.rollback({ to, by: 'ann' });
  await readUntilChecked(cluster, b, 100);
  expect(b.value.current).toBe('two');
  released.resolve();
  await cluster.clock.flush();
  expect([b.value.current, b.value.inspect().lock?.version]).toEqual(['two', version]);
});

/** Two instances; the second, which has an older version, is due, and so is its check. */
async function beforeCheckAndRound() {
  const { cluster, a, b } = await warmPair({ schedule: 1000, propagateWithin: 300 });
  await cluster.clock.advance(600);
  await cluster.refresh(a, 1, 'two');
  await cluster.clock.advance(500);
  const changes: unknown[] = [];
  b.value.on('changed', ({ cause, version }) => changes.push([cause, version]));
  return { cluster, a, b, changes };
}

it('a round and a check that read the same version put it in place once', async () => {
  const { cluster, a, b, changes } = await beforeCheckAndRound();
  const answered = b.link.hold('read', 'acquire');
  await cluster.read(b); // due, and a check is due
  await cluster.clock.advance(10);
  expect(new Set(b.link.take())).toEqual(new Set(['acquire', 'check', 'read']));
  answered.resolve();
  await cluster.clock.advance(10);
  expect([b.value.current, b.manual.calls.length, b.value.inspect().isDue]).toEqual(['two', 0, false]);
  expect(changes).toEqual([['adopted', a.value.inspect().lock?.version]]);
});

it.each([
  ['the first', 0],
  ['the second', 1],
] as const)('the same, where %s of them reads it after it was confirmed', async (_, late) => {
  const { cluster, a, b, changes } = await beforeCheckAndRound();
  const arrived = new Deferred<void>();
  const answered = new Deferred<void>();
  let reads = 0;
  b.link.fault = (step) => {
    if (step !== 'read' && step !== 'acquire') return undefined;
    return reads++ === late ? { arrives: arrived.promise } : answered.promise;
  };
  await cluster.read(b); // due, and a check is due
  await cluster.clock.advance(10);
  expect(reads, 'reads').toBe(2);
  const refreshed = a.value.refresh({ here: true });
  await cluster.clock.flush();
  await cluster.end(a, 2, keep() as never);
  await refreshed;
  answered.resolve();
  await cluster.clock.advance(10);
  arrived.resolve();
  await cluster.clock.advance(10);
  expect(b.value.current).toBe('two');
  expect(b.manual.calls, 'loads').toHaveLength(0);
  expect(changes).toEqual([['adopted', a.value.inspect().lock?.version]]);
});
