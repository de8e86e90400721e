import { describe, expect, it } from 'vitest';
import { isTicklessError, RefreshGroup } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { type Instance, ManualCluster, type Step } from '../../support/cluster.ts';
import { rejectionOf } from '../../support/settle.ts';
import { pinnedOnBoth, pinnedOne, twoVersions } from '../../support/two-versions.ts';

const by = 'ann';

async function isPinned({ value }: Instance): Promise<boolean> {
  const [present] = await value.history();
  return present?.isPinned === true;
}

/** Ends the load of that number, if it has begun. */
async function endIfBegun(cluster: ManualCluster, instance: Instance, call: number): Promise<void> {
  if (instance.manual.calls.length > call) await cluster.end(instance, call, 'three');
  await cluster.clock.flush();
}

/** Calls what is to fail while those steps of the instance do. */
async function failing({ link }: Instance, call: () => Promise<unknown>, ...steps: Step[]): Promise<void> {
  link.break('refused', ...steps);
  await rejectionOf(call());
  link.mend();
}

describe('a version that another instance has pinned is not replaced by a due load', () => {
  const ways: Record<string, (of: Awaited<ReturnType<typeof twoVersions>>) => Promise<unknown>> = {
    'where its hold was not written': async ({ a }) => {
      a.link.break('refused', 'release');
      await a.value.rollback({ by });
    },
    'where the process ended before that': async ({ cluster, a }) => {
      a.link.break('no-answer', 'release');
      a.value.rollback({ by }).catch(() => {});
      await cluster.clock.advance(60_000);
    },
    'where the answer to its write was lost': async ({ a }) => {
      a.link.break('answer-lost', 'write');
      await rejectionOf(a.value.rollback({ by }));
    },
    'after a value could not be set everywhere': async ({ a }) => {
      await a.value.rollback({ by });
      await failing(a, () => a.value.set('x'), 'write');
    },
    'after unpin failed': async ({ a }) => {
      await a.value.rollback({ by });
      await failing(a, () => a.value.unpin(), 'write');
    },
  };
  it('where it is dropped while the store is asked for a newer one', async () => {
    const { cluster, a, b } = await twoVersions();
    a.link.break('refused', 'release');
    await a.value.rollback({ by });
    b.link.break('refused', 'release'); // it takes the lease over, and so does its next round
    await cluster.readAfter(5000, b);
    expect([b.value.peek(), b.value.inspect().pinned?.by]).toEqual(['one', by]);
    await cluster.clock.advance(65_000);
    const answers = b.link.hold('read');
    b.value.get({ patience: 5000 }).catch(() => {});
    await cluster.clock.flush();
    b.value.invalidate({ drop: true, here: true });
    b.link.mend();
    answers.resolve();
    await cluster.clock.flush();
    await endIfBegun(cluster, b, 0);
    expect(await isPinned(b)).toBe(true);
    expect([await b.value.get(), b.manual.calls.length]).toEqual(['one', 0]);
  });

  for (const [way, happens] of Object.entries(ways)) {
    it(way, async () => {
      const all = await twoVersions();
      const { cluster, b } = all;
      await happens(all);
      await cluster.readAfter(5000, b);
      await endIfBegun(cluster, b, 0);
      expect(await isPinned(b)).toBe(true);
    });
  }
});

describe('a version that another instance has pinned, while an edition with a short hold is put into place here', () => {
  it.each([{ drop: true }, {}])('is replaced by no mark that has waited: %o', async (how) => {
    const { cluster, a, b } = await pinnedOne();
    const arrives = new Deferred<void>();
    b.link.fault = (step) => (step === 'acquire' ? { arrives: arrives.promise } : undefined);
    const failure = rejectionOf(b.value.invalidate({ ...how }));
    await cluster.clock.flush();
    const [, two] = await a.value.history();
    b.value.rollback({ by: 'bob', to: two?.version, hold: 10 }).catch(() => {});
    await cluster.clock.advance(20); // its hold is over before it is published
    arrives.resolve();
    await cluster.clock.flush();
    expect(isTicklessError(await failure, 'PINNED')).toBe(true);
    const marks = (await a.value.history()).filter(({ mark }) => mark !== undefined);
    expect(marks).toEqual([]);
  });
});

describe('a version that the store has, though the answer to its write was lost, is followed by a due load', () => {
  const changes: Record<string, (a: Instance) => Promise<unknown>> = {
    'of a value that was set everywhere': ({ value }) => value.set('set'),
    'of one that was put back for a second': ({ value }) => value.rollback({ by, hold: 1000 }),
  };
  for (const [what, change] of Object.entries(changes)) {
    it(what, async () => {
      const { cluster, a, b } = await twoVersions();
      a.link.break('answer-lost', 'write');
      await rejectionOf(change(a));
      a.link.mend();
      let loads = 0;
      for (let second = 0; second < 130 && loads === 0; second++) {
        await cluster.clock.advance(1000);
        for (const one of [a, b]) await cluster.read(one);
        loads = a.manual.calls.length + b.manual.calls.length - 2;
      }
      expect(loads).toBe(1);
    });
  }
});

describe('while the store can not be read, a pinned version is not replaced', () => {
  it.each([
    ['refused', 'get'],
    ['refused', 'refresh'],
    ['answer-lost', 'refresh'],
  ] as const)('%s, by %s of an instance that does not know of it', async (fault, call) => {
    const { cluster, a, b } = await pinnedOne();
    const other = call === 'get' ? cluster.instance() : b;
    other.link.breakOnce(fault, 'read');
    const result = other.value[call]().catch(() => {});
    await cluster.clock.flush();
    await endIfBegun(cluster, other, 0);
    await result;
    expect(await isPinned(a)).toBe(true);
  });

  it('is read again where it was dropped, also without the lock', async () => {
    const { a } = await pinnedOne();
    a.link.break('refused', 'acquire');
    a.value.invalidate({ drop: true, here: true });
    expect(await a.value.get()).toBe('one');
  });
});

describe('a rollback that fails', () => {
  it('leaves the pin before it in force', async () => {
    const { cluster, a } = await twoVersions();
    const [two] = await a.value.history();
    await a.value.rollback({ by });
    await failing(a, () => a.value.rollback({ by, to: two?.version }), 'write');
    for (let minute = 0; minute < 3; minute++) {
      await cluster.readAfter(61_000, a);
    }
    expect([a.value.peek(), a.value.inspect().pinned?.by, a.manual.calls.length]).toEqual(['one', by, 2]);
  });

  it('gives way to the version in the store at the next read', async () => {
    const cluster = new ManualCluster({ keepVersions: 4 });
    const [a] = await cluster.warm(1, { schedule: { hours: 1 } });
    await a.value.set('two');
    await failing(a, () => a.value.rollback({ by }), 'write');
    expect(a.value.inspect().lock?.version).toBeUndefined();
    for (let minute = 0; minute < 3; minute++) {
      await cluster.readAfter(61_000, a);
    }
    expect(a.value.peek()).toBe('two');
  });
});

describe('a value that is younger than the pin', () => {
  it('which was set here, is served; a refresh finds the pin', async () => {
    const { cluster, a, b } = await pinnedOne();
    await cluster.clock.advance(10);
    b.value.set('x', { here: true });
    const refreshed = rejectionOf(b.value.refresh({ here: true }));
    await cluster.clock.flush();
    expect([isTicklessError(await refreshed, 'PINNED'), await isPinned(a)]).toEqual([true, true]);
  });

  it('which was set here, does not keep unpin from being noticed', async () => {
    const { cluster, a, b } = await pinnedOnBoth();
    b.value.set('x', { here: true });
    await a.value.unpin();
    for (let check = 0; check < 5; check++) {
      await cluster.readAfter(30_000, b);
    }
    expect([b.value.inspect().pinned, b.manual.calls.length > 0]).toEqual([undefined, true]);
  });

  it('which was loaded without the lock, gives way when the lock is back', async () => {
    const { cluster, b } = await pinnedOne();
    b.link.break('refused', 'acquire', 'read');
    await cluster.reloadAfter(1100, b, 0, 'three');
    b.link.mend();
    await cluster.readAfter(60_000, b);
    expect([b.value.peek(), b.value.inspect().pinned?.by]).toEqual(['one', by]);
  });

  it('which is an initial one, stays where the pin is over', async () => {
    const { cluster, a } = await twoVersions();
    await a.value.rollback({ by, hold: 5000 });
    await cluster.clock.advance(600_000);
    const initial = { value: 'shipped', loadedAt: cluster.clock.now() - 1000 };
    const { value } = cluster.instance({ initial });
    value.current;
    await cluster.clock.flush();
    expect(value.peek()).toBe('shipped');
  });
});

describe('checks of a pin', () => {
  it('come when a hold of under a minute is over', async () => {
    const { cluster, a } = await twoVersions();
    await a.value.rollback({ by, hold: 5000 });
    await cluster.readAfter(6000, a);
    expect(a.manual.calls.length).toBe(3);
  });

  it('stay one command a minute after a refresh of an instance that did not know of it', async () => {
    const { cluster, a, b } = await pinnedOne();
    await rejectionOf(b.value.refresh({ here: true }));
    await cluster.clock.flush();
    for (const { link } of [a, b]) link.take();
    for (let second = 0; second < 300; second++) {
      for (const { value } of [a, b]) value.current;
      await cluster.clock.advance(1000);
    }
    expect([a, b].map(({ link }) => link.take().length)).toEqual([4, 4]);
  });

  it.each(['adopted', 'put into place'])(
    'stay one command a minute where a group starts what is due each second: %s here',
    async (way) => {
      const { cluster, a } = await twoVersions();
      const group = new RefreshGroup({ clock: cluster.clock, logger: false });
      const c = cluster.instance({ group });
      await (way === 'adopted' ? a : c).value.rollback({ by });
      await c.value.get();
      c.link.take();
      for (let second = 0; second < 300; second++) {
        group.requestStart();
        await cluster.clock.advance(1000);
      }
      expect([c.link.take().length, c.value.peek()]).toEqual([4, 'one']);
    },
  );

  it('end a failure, whenFailing throw', async () => {
    const { cluster, a } = await pinnedOne({ whenFailing: 'throw' });
    await cluster.clock.advance(61_000);
    a.link.break('no-answer', 'acquire');
    await cluster.read(a);
    a.value.cancel();
    a.link.mend();
    for (let minute = 0; minute < 3; minute++) {
      await cluster.clock.advance(61_000);
      await a.value.get().catch(() => {});
      await cluster.clock.flush();
    }
    expect([await a.value.get(), a.value.inspect().failures]).toEqual(['one', 0]);
  });
});
