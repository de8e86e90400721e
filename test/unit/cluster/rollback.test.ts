import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { ManualCluster, warmOne } from '../../support/cluster.ts';
import { compareVersions } from '../../support/compare-versions.ts';
import { recordChanges } from '../../support/events.ts';
import { manualValue } from '../../support/manual-value.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf } from '../../support/settle.ts';
import { shortTexts } from '../../support/short-texts.ts';
import { pinnedOnBoth, pinnedOne, twoVersions } from '../../support/two-versions.ts';

const by = 'ann';

describe('a decision that names the version in place', () => {
  it('is refused when another one is in place, and nothing is changed', async () => {
    const { a, b } = await twoVersions();
    const [two, one] = await a.value.history();
    await b.value.set('three');
    const rolledBack = a.value.rollback({ by, to: one!.version, version: two!.version });
    expect(isTicklessError(await rejectionOf(rolledBack), 'OPTION')).toBe(true);
    expect([a.value.peek(), (await a.value.history())[0]?.made]).toEqual(['two', 'set']);
    const [three] = await a.value.history();
    const pinned = await a.value.rollback({ by, to: one!.version, version: three!.version });
    expect(isTicklessError(await rejectionOf(a.value.unpin({ by, version: three!.version })), 'OPTION')).toBe(
      true,
    );
    expect(a.value.inspect().pinned?.by).toBe(by);
    expect(await a.value.unpin({ by, version: pinned })).toBe(true);
  });

  it.each(['rollback', 'unpin'] as const)(
    '%s: is refused when another one is published while it waits for its lease',
    async (action) => {
      const { cluster, a, b } = await twoVersions();
      const [two, one] = await a.value.history();
      const seen = action === 'rollback' ? two!.version : await b.value.rollback({ by, to: one!.version });
      const set = b.value.set('three');
      const acting =
        action === 'rollback'
          ? a.value.rollback({ by, to: one!.version, version: seen })
          : a.value.unpin({ by, version: seen });
      const refused = rejectionOf(acting);
      await cluster.clock.advance(20_000);
      await set;
      expect(isTicklessError(await refused, 'OPTION')).toBe(true);
      expect((await b.value.history())[0]?.made).toBe('set');
    },
  );
});

describe('invalidate of a version', () => {
  it('is a mark in its place, whatever is in place here; it is refused when another one is in place', async () => {
    const { a, b } = await twoVersions();
    const [two, one] = await a.value.history();
    const refused = await rejectionOf(a.value.invalidate({ version: one!.version }));
    expect(isTicklessError(refused, 'OPTION')).toBe(true);
    expect([a.value.inspect().isDue, (await a.value.history())[0]?.version]).toEqual([false, two!.version]);
    await b.value.set('three');
    const [three] = await b.value.history();
    await a.value.invalidate({ version: three!.version }); // it is not known here yet
    expect((await b.value.history())[0]).toMatchObject({ mark: 'invalidated' });
    expect(a.value.inspect().isDue).toBe(true);
  });

  it('here: concerns the version in place here, and no command', async () => {
    const { a } = await twoVersions();
    const [two, one] = await a.value.history();
    a.link.take();
    const refused = await rejectionOf(a.value.invalidate({ here: true, version: one!.version }));
    expect([isTicklessError(refused, 'OPTION'), a.value.inspect().isDue]).toEqual([true, false]);
    await a.value.invalidate({ here: true, version: two!.version });
    expect([a.value.inspect().isDue, a.link.take()]).toEqual([true, []]);
  });

  it.each([0, 1.5, '1'])('is refused for %s, which is none', async (version) => {
    const { a } = await twoVersions();
    expect(() => a.value.invalidate({ version: version as number })).toThrow('must be a version');
  });
});

describe('a version that is put back into place', () => {
  it('is served here at once, by the others at their next due load, and by those that start later', async () => {
    const { cluster, a, b } = await twoVersions();
    const [two, one] = await a.value.history();
    const version = await a.value.rollback({ by, note: 'prices of zero' });
    expect([a.value.current, version > two!.version]).toEqual(['one', true]);
    await cluster.readAfter(1100, b);
    const later = cluster.instance();
    expect({ peek: b.value.peek(), get: await later.value.get() }).toEqual({ peek: 'one', get: 'one' });
    for (const { value, manual } of [a, b, later]) {
      const { pinned, lock } = value.inspect();
      expect([lock?.version, pinned?.by, pinned?.note, pinned?.until]).toEqual([
        version,
        by,
        'prices of zero',
        Infinity,
      ]);
      expect(value.inspect().age).toBeGreaterThan(2100); // that of the load
      expect(manual.calls.length).toBeLessThan(3);
    }
    const [pinned, ...before] = await b.value.history();
    expect([pinned, before.map(({ version: each }) => each)]).toMatchObject([
      { version, by, note: 'prices of zero', isPinned: true },
      [two!.version, one!.version],
    ]);
  });

  it('has no version until it is published, and none if that fails', async () => {
    const { cluster, a } = await twoVersions();
    await cluster.readAfter(1100, a); // a load is under way
    a.link.break('no-answer', 'write');
    await cluster.end(a, 2, 'three'); // which has a version that never comes into the store
    const versionOf = (): number | undefined => a.value.inspect().lock?.version;
    const seen: (number | undefined)[] = [versionOf()];
    for (let time = 0; time < 2; time++) {
      const rollback = rejectionOf(a.value.rollback({ by }));
      await cluster.clock.flush();
      seen.push(versionOf());
      expect(a.value.current).toBe('one');
      await cluster.clock.advance(60_000);
      await rollback;
      seen.push(versionOf());
    }
    expect(seen).toEqual(Array(5).fill(undefined));
  });

  it('is served on the instance that published it, if a later one in its place could not be published after that', async () => {
    const { cluster, a, b } = await twoVersions({ timeout: 2000, propagateWithin: 200 });
    const [two, one] = await a.value.history();
    await cluster.readAfter(1100, b); // loads
    let writes = 0;
    const written = new Deferred<void>();
    a.link.fault = (step) => {
      if (step !== 'write') return undefined;
      writes += 1;
      return writes > 1 ? 'refused' : written.promise;
    };
    const first = a.value.rollback({ by, to: one!.version });
    await cluster.clock.advance(100);
    const second = rejectionOf(a.value.rollback({ by: 'bob', to: two!.version }));
    await cluster.clock.advance(100);
    written.resolve();
    await cluster.end(b, 0, 'three');
    await cluster.clock.advance(1500);
    expect([isTicklessError(await second, 'BACKEND_DOWN'), a.value.peek()]).toEqual([true, 'two']);
    a.link.mend();
    const version = await first;
    await cluster.clock.advance(60_000);
    for (let read = 0; read < 4; read++) {
      await cluster.clock.advance(300);
      await Promise.all([cluster.read(a), cluster.read(b)]);
    }
    for (const { value } of [a, b]) {
      const { pinned, lock } = value.inspect();
      expect([value.peek(), pinned?.by, lock?.version]).toEqual(['one', by, version]);
    }
  });

  it('rejects a refresh, also of an instance that does not know of it yet', async () => {
    const { cluster, a, b } = await twoVersions();
    await a.value.rollback({ by, note: 'zero', hold: { hours: 1 } });
    const here = await rejectionOf(a.value.refresh());
    const elsewhere = rejectionOf(b.value.refresh());
    await cluster.clock.flush();
    for (const error of [here, await elsewhere]) {
      expect([isTicklessError(error, 'PINNED'), (error as Error).message]).toEqual([
        true,
        expect.stringMatching(/pinned by ann until 2026-11-20T13:00:0.* or unpin\(\): zero/),
      ]);
    }
    expect([b.value.peek(), a.manual.calls.length + b.manual.calls.length]).toEqual(['one', 2]);
    expect(a.value.inspect().failures + b.value.inspect().failures).toBe(0);
  });

  it('is read again where it was dropped', async () => {
    const { a, b } = await pinnedOnBoth();
    for (const { value, manual } of [a, b]) {
      const before = manual.calls.length;
      value.invalidate({ drop: true });
      expect([await value.get(), value.inspect().pinned?.by, manual.calls.length]).toEqual([
        'one',
        by,
        before,
      ]);
    }
  });

  it('gives way when its hold is over: one load, which all take over', async () => {
    const { cluster, a, b } = await twoVersions();
    await a.value.rollback({ by, hold: 90_000 });
    await cluster.readAfter(1100, b);
    await cluster.clock.advance(60_000);
    for (const instance of [a, b]) await cluster.read(instance);
    expect(a.value.inspect().pinned).toBeDefined();
    await cluster.clock.advance(30_100);
    for (const instance of [a, b]) await cluster.read(instance);
    await cluster.end(a, 2, 'three');
    await cluster.readAfter(1000, b);
    expect([a.value.peek(), b.value.peek(), b.manual.calls.length]).toEqual(['three', 'three', 0]);
    expect([a.value.inspect().pinned, b.value.inspect().pinned]).toEqual([undefined, undefined]);
  });

  it('counts as any other version once its hold is over', async () => {
    const { cluster, a } = await twoVersions();
    await a.value.rollback({ by, hold: 5000 });
    await cluster.clock.advance(5000);
    expect((await a.value.history())[0]).toMatchObject({ by, isPinned: false });
    expect(await a.value.unpin()).toBe(false);
    await a.value.rollback({ by });
    expect(a.value.current).toBe('two');
  });

  it('stays where the record of the lock is lost, or the lock is down', async () => {
    const { cluster, b } = await pinnedOnBoth();
    const { token = 0 } = (await cluster.lock.inspect('v')) ?? {};
    await cluster.lock.forceRelease('v', token);
    await cluster.readAfter(60_000, b);
    b.link.break('refused', 'acquire');
    await cluster.readAfter(120_000, b);
    expect({ peek: b.value.peek(), calls: b.manual.calls.length }).toEqual({ peek: 'one', calls: 0 });
    expect(await cluster.lock.inspect('v')).toMatchObject({ state: 'released', token, holdLeft: 0 });
  });
});

describe('the schema', () => {
  it('decides on a version that is put back, and its output is the value', async () => {
    const cluster = new ManualCluster({ keepVersions: 4 });
    const [a] = await cluster.warm(1);
    for (const text of ['far too long', 'two', 'three']) await a.value.set(text);
    const { value } = cluster.instance({ schema: shortTexts() });
    const [, two, long] = await value.history();
    const refused = await rejectionOf(value.rollback({ by, to: long!.version }));
    expect((refused as Error).message).toMatch(/version \d+ can't be read: .*over 5 characters/);
    expect([value.peek(), value.inspect().pinned]).toEqual([undefined, undefined]);
    await value.rollback({ by, to: two!.version });
    expect(value.current).toBe('TWO');
  });
});

describe('unpin', () => {
  it('by an instance that does not have the pinned version; a refresh may follow at once', async () => {
    const { cluster, b } = await pinnedOne();
    const refreshed = b.value.unpin().then(() => b.value.refresh());
    await cluster.clock.flush();
    await cluster.end(b, 0, 'three');
    expect([await refreshed, await b.value.unpin()]).toEqual(['three', false]);
  });
});

describe('what can not be rolled back', () => {
  it('a version that is not kept; the one before the present one where that is pinned', async () => {
    const { a } = await twoVersions();
    const unknown = await rejectionOf(a.value.rollback({ by, to: 7 }));
    expect([isTicklessError(unknown, 'OPTION'), (unknown as Error).message]).toEqual([
      true,
      expect.stringMatching(/to must be a version of a value that the backend keeps: \d+, \d+/),
    ]);
    await a.value.rollback({ by });
    const again = await rejectionOf(a.value.rollback({ by }));
    expect((again as Error).message).toMatch(/to must be given while a version is pinned/);
  });

  it.each([
    [{ by: '' }, 'by'],
    [{ by, hold: 0 }, 'hold'],
    [{ by, note: 7 }, 'note'],
    [{ by, too: 7 }, 'too'],
    [{ note: 'who?' }, 'by'],
    [undefined, 'by'],
    [null, 'by'],
  ])('with the options %j', async (options, option) => {
    const { a } = await twoVersions();
    expect(await rejectionOf(a.value.rollback(options as never))).toMatchObject(ofOption(option));
    expect(a.value.current).toBe('two');
  });

  it('any version after close, and nothing is changed then', async () => {
    const { b } = await pinnedOne();
    const [, , one] = await b.value.history();
    await b.value.close();
    const calls = [() => b.value.rollback({ by, to: one?.version }), () => b.value.unpin()];
    for (const call of calls) {
      expect([isTicklessError(await rejectionOf(call()), 'CLOSED'), b.value.peek()]).toEqual([true, 'two']);
    }
  });

  it('without a store, with one that keeps one version, while it is down', async () => {
    const { value } = manualValue();
    for (const call of [value.rollback({ by }), value.unpin(), value.history()]) {
      expect(isTicklessError(await rejectionOf(call), 'OPTION')).toBe(true);
    }
    const { a } = await warmOne();
    expect(isTicklessError(await rejectionOf(a.value.rollback({ by })), 'OPTION')).toBe(true);
    a.link.break('refused', 'read');
    expect(isTicklessError(await rejectionOf(a.value.rollback({ by })), 'BACKEND_DOWN')).toBe(true);
  });
});

describe('the differences of the console', () => {
  it('are the changes from one version to another', async () => {
    const { a } = await twoVersions();
    const [two, one] = await a.value.history();
    expect(await compareVersions(a.value, one!.version, two!.version)).toMatchObject({
      changed: { count: 1, samples: [{ before: 'one', after: 'two' }] },
    });
    expect(isTicklessError(await rejectionOf(compareVersions(a.value, one!.version, 7)), 'OPTION')).toBe(
      true,
    );
  });
});

/** A rollback whose version is in place here; the write of it waits for `written`. */
async function beingPublished() {
  const { cluster, a } = await twoVersions();
  const events = recordChanges(a.value);
  const written = a.link.holdOnce('write');
  const rollback = a.value.rollback({ by });
  await cluster.clock.flush();
  return { a, events, written, rollback };
}

describe('the event changed of a version that is put back', () => {
  it('carries the new version, once it is published, and none when it could not be', async () => {
    const { cluster, a } = await twoVersions();
    const events = recordChanges(a.value);
    const changes = (): unknown[] => events.map(({ version, cause }) => [version, cause]);
    const written = a.link.holdOnce('write');
    const rollback = a.value.rollback({ by });
    await cluster.clock.flush();
    expect({ current: a.value.current, changes: changes() }).toEqual({ current: 'one', changes: [] });
    written.resolve();
    const version = await rollback;
    expect(changes()).toEqual([[version, 'rolled-back']]);
    const [, two] = await a.value.history();
    a.link.break('refused', 'write');
    const failed = rejectionOf(a.value.rollback({ by, to: two!.version }));
    await cluster.clock.advance(60_000);
    await failed;
    expect(changes().slice(1)).toEqual([[undefined, 'rolled-back']]);
  });

  it('carries the new version also where the value is dropped here meanwhile', async () => {
    const { a, events, written, rollback } = await beingPublished();
    a.value.invalidate({ drop: true });
    written.resolve();
    const version = await rollback;
    expect(events.map(({ version: own, cause }) => [own, cause])).toEqual([[version, 'rolled-back']]);
  });

  it('is emitted before that of a value that replaces it while it is being published', async () => {
    const { a, events, written, rollback } = await beingPublished();
    a.value.set('by hand');
    written.resolve();
    await rollback;
    expect(events.map(({ version, cause, value }) => [version, cause, value])).toEqual([
      [undefined, 'rolled-back', 'one'],
      [undefined, 'set', 'by hand'],
    ]);
  });
});
