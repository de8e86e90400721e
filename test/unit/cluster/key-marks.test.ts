import { describe, expect, it } from 'vitest';
import { isTicklessError, loaded } from '../../../src/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import type { ManualCluster } from '../../support/cluster.ts';
import { isOutcome } from '../../support/events.ts';
import {
  type KeyedInstance,
  keyedInstance,
  keyedPair,
  loadKey,
  readKeysFor,
} from '../../support/keyed-cluster.ts';
import { rejectionOf } from '../../support/settle.ts';

const WITHIN = 1000;
const own = { schedule: { hours: 1 }, propagateWithin: WITHIN } as const;

/** Two instances with these keys; the first has loaded them, the second has adopted them. */
async function warm(
  keys: Readonly<Record<string, string>>,
  more: Parameters<typeof keyedInstance>[1] = {},
): Promise<{ cluster: ManualCluster; a: KeyedInstance; b: KeyedInstance }> {
  const { cluster, a, b } = keyedPair({ ...own, ...more });
  for (const [key, tag] of Object.entries(keys))
    await loadKey(cluster, a, key, loaded(`${key}1`, { tags: [tag] }));
  await readKeysFor(cluster, [b], 100, Object.keys(keys));
  expect(b.calls.length).toBe(0);
  for (const { link } of [a, b]) link.take();
  return { cluster, a, b };
}

describe('a key that is invalidated everywhere', () => {
  it('has the value of the instance that loads it soon after that, with a few commands', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    await a.cache.invalidate('k');
    await readKeysFor(cluster, [a], 10); // its load begins
    await readKeysFor(cluster, [b], WITHIN); // it learns of the mark, and finds that load under way
    b.link.take();
    a.calls.at(-1)?.resolve('newer');
    await readKeysFor(cluster, [b], WITHIN / 2 + 50); // reads each 10 ms, and the steps that they start
    expect({ peekK: b.cache.peek('k'), calls: b.calls.length }).toEqual({ peekK: 'newer', calls: 0 });
    expect(b.link.take().length).toBeLessThan(8);
  });

  it('is looked for at once, where the load is as short as usual', async () => {
    const { cluster, a, b } = await warm({ k: 'x' }, { random: () => 0 }); // checks come each WITHIN
    while (!b.link.take().includes('check')) await readKeysFor(cluster, [b], 10);
    await readKeysFor(cluster, [b], WITHIN - 50); // its next one comes soon
    await a.cache.invalidate('k');
    await readKeysFor(cluster, [a], 10);
    for (let at = 0; at < WITHIN && !b.events.some(isOutcome('held')); at += 10)
      await readKeysFor(cluster, [b], 10);
    a.calls.at(-1)?.resolve('newer');
    await readKeysFor(cluster, [b], 200);
    expect({ peekK: b.cache.peek('k'), calls: b.calls.length }).toEqual({ peekK: 'newer', calls: 0 });
  });
});

describe('a key that is changed everywhere', () => {
  it('by set is taken over within the time, without a load, and with one command for all keys until then', async () => {
    const { cluster, a, b } = await warm({ k: 'x', other: 'x' });
    await a.cache.set('k', 'by hand');
    await readKeysFor(cluster, [b], WITHIN, ['k', 'other']);
    expect([b.cache.peek('k'), b.cache.peek('other'), b.calls.length]).toEqual(['by hand', 'other1', 0]);
    expect(b.link.take().filter((step) => step === 'check').length).toBeLessThan(3);
  });

  it.each([
    ['whose loads fail', 'fails'],
    ['that was invalidated here before, while its loads fail', 'invalidated'],
    ['that is loading the key', 'loads'],
    ['that is paused', 'is paused'],
  ])('by set is taken over within the time by an instance %s', async (_, how) => {
    const { cluster, a, b } = await warm({ k: 'x' }, { coolDown: 60_000, whenBackendDown: 'load' });
    if (how === 'is paused') b.cache.pause({ here: true });
    else {
      if (how === 'invalidated') b.cache.invalidate('k', { here: true });
      b.link.break('refused', 'acquire');
      const refreshed = b.cache.refresh('k', { here: true }).catch(() => {});
      await cluster.clock.flush();
      if (how !== 'loads') b.calls[0]?.reject(new Error('down'));
      else void cluster.clock.advance(500).then(() => b.calls[0]?.reject(new Error('down')));
      if (how !== 'loads') await refreshed;
      b.link.mend();
    }
    await cluster.clock.advance(1);
    await a.cache.set('k', 'by hand');
    await readKeysFor(cluster, [b], WITHIN);
    expect([b.cache.peek('k'), b.calls.length]).toEqual(['by hand', how === 'is paused' ? 0 : 1]);
  });

  it('by set is taken over as soon as a load without a lease fails, which was under way', async () => {
    const { cluster, a, b } = await warm({ k: 'x' }, { coolDown: 60_000, whenBackendDown: 'load' });
    for (const value of ['local', 'never']) {
      b.link.break('refused', 'acquire');
      void b.cache.refresh('k', { here: true }).catch(() => {});
      await cluster.clock.advance(1000);
      if (value === 'local') b.calls[0]?.resolve(value);
      await cluster.clock.advance(1000);
    }
    expect(b.calls.length).toBe(2);
    b.link.mend();
    await cluster.clock.advance(1);
    await a.cache.set('k', 'by hand');
    await readKeysFor(cluster, [b], 3 * WITHIN);
    b.calls[1]?.reject(new Error('down'));
    await readKeysFor(cluster, [b], 50);
    expect({ peekK: b.cache.peek('k'), calls: b.calls.length }).toEqual({ peekK: 'by hand', calls: 2 });
  });

  it('by set is taken over where the result of a load before is refused, also once nobody reads it', async () => {
    const { cluster, a, b } = await warm({ k: 'x', other: 'y' });
    const refreshed = a.cache.refresh('k', { here: true });
    await cluster.clock.flush();
    await a.cache.invalidate('k', { here: true }); // no round that is under way answers that
    await b.cache.set('k', 'set');
    await cluster.clock.advance(10);
    a.calls.at(-1)?.resolve('before');
    await cluster.clock.advance(10);
    expect(a.cache.peek('k')).toBe('before');
    await readKeysFor(cluster, [a], WITHIN, ['other']);
    expect([a.cache.peek('k'), await refreshed]).toEqual(['set', 'before']);
  });

  it('by set is served there though it was evicted before it is published', async () => {
    const { cluster, a, b } = await warm({ k: 'x' }, { max: 1 });
    b.cache.invalidate('k', { here: true });
    await readKeysFor(cluster, [b], 10); // loads, with the lease
    const set = a.cache.set('k', 'by hand');
    await loadKey(cluster, a, 'other', 'other1');
    expect(await a.cache.get('k')).toBe('by hand');
    b.calls[0]?.resolve('k2');
    await readKeysFor(cluster, [b], 3 * WITHIN);
    await set;
    expect([await a.cache.get('k'), b.cache.peek('k')]).toEqual(['by hand', 'by hand']);
  });

  it('by refresh is taken over too', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    const refreshed = a.cache.refresh('k');
    await cluster.clock.flush();
    a.calls.at(-1)?.resolve('k2');
    await cluster.clock.flush();
    expect(await refreshed).toBe('k2');
    await readKeysFor(cluster, [b], WITHIN);
    expect({ peekK: b.cache.peek('k'), calls: b.calls.length }).toEqual({ peekK: 'k2', calls: 0 });
  });

  it('by refresh is taken over also where it was answered by a load of another instance, and dropped meanwhile', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    await a.cache.invalidate('k', { drop: true });
    await loadKey(cluster, a, 'k', 'of a');
    const c = keyedInstance(cluster, own);
    void c.cache.refresh('k', { here: true });
    await cluster.clock.advance(10);
    const refreshed = b.cache.refresh('k'); // waits for that load
    await readKeysFor(cluster, [b], WITHIN); // it learns of the drop
    c.calls[0]?.resolve('of c');
    await readKeysFor(cluster, [b], WITHIN);
    b.calls[0]?.reject(new Error('down'));
    await cluster.clock.flush();
    expect([await refreshed, a.cache.peek('k')]).toEqual(['of c', 'of a']);
    await readKeysFor(cluster, [a], WITHIN);
    expect({ peekK: a.cache.peek('k'), calls: a.calls.length }).toEqual({ peekK: 'of c', calls: 2 });
  });

  it('by invalidate is loaded once for all, and served meanwhile', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    await a.cache.invalidate('k');
    await readKeysFor(cluster, [b], WITHIN);
    expect({ peekK: b.cache.peek('k'), calls: b.calls.length }).toEqual({ peekK: 'k1', calls: 1 });
    b.calls[0]?.resolve('k2');
    await readKeysFor(cluster, [a, b], 2 * WITHIN);
    expect([a.cache.peek('k'), a.calls.length, b.calls.length]).toEqual(['k2', 1, 1]);
  });

  it('by a drop is not served any longer, though a load of it has read the mark before, and failed', async () => {
    const within = 20_000;
    const { cluster, a, b } = await warm({ k: 'x' }, { schedule: 25_000, propagateWithin: within });
    await cluster.clock.advance(within);
    await readKeysFor(cluster, [b], 10); // checks
    await cluster.clock.advance(5000);
    const published = a.link.holdOnce('write');
    const dropped = a.cache.invalidate('k', { drop: true });
    await readKeysFor(cluster, [b], 20); // finds the mark of the key, which is not in the log yet
    published.resolve();
    await dropped;
    await readKeysFor(cluster, [b], 4000);
    expect(b.link.take().slice(0, 2)).toEqual(['check', 'acquire']);
    b.calls[0]?.reject(new Error('down'));
    await readKeysFor(cluster, [b], within);
    expect(b.cache.peek('k')).toBe(undefined);
  });

  it.each([
    ['invalidated', undefined],
    ['set', 'by hand'],
  ])(
    'by a drop is not served any longer by an instance that was away, though it was set and %s since',
    async (how, served) => {
      const { cluster, a, b } = await warm({ k: 'x' });
      await a.cache.invalidate('k', { drop: true });
      await a.cache.set('k', 'by hand');
      if (how === 'invalidated') await a.cache.invalidate('k');
      await readKeysFor(cluster, [b], WITHIN);
      expect(b.cache.peek('k')).toBe(served);
    },
  );

  it('is known without checks with its next load, since the mark is in its own place in the store', async () => {
    const { cluster, a, b } = await warm({ k: 'x' }, { schedule: 1000, propagateWithin: undefined });
    await a.cache.invalidate('k');
    const later = keyedInstance(cluster);
    void later.cache.get('k');
    await cluster.clock.flush();
    expect(later.calls.length).toBe(1);
    later.calls[0]?.resolve('k2');
    await readKeysFor(cluster, [b], 990);
    expect({ peekK: b.cache.peek('k'), calls: b.calls.length }).toEqual({ peekK: 'k2', calls: 0 });
  });
});

describe('a tag that is invalidated everywhere', () => {
  it('makes the keys with it due, each of which is loaded once for all, and no others', async () => {
    const { cluster, a, b } = await warm({ k: 'x', l: 'y' });
    await a.cache.invalidateTag('x');
    expect(a.link.take()).toEqual(['write']);
    await cluster.clock.advance(1); // a load of the same instant would count as older
    await readKeysFor(cluster, [a, b], WITHIN, ['k', 'l']);
    const calls = [...a.calls.slice(2), ...b.calls];
    expect(calls.map(({ key }) => key)).toEqual(['k']);
    calls[0]?.resolve(loaded('k2', { tags: ['x'] }));
    await readKeysFor(cluster, [a, b], 2 * WITHIN, ['k', 'l']);
    expect([a, b].map(({ cache }) => cache.peek('k'))).toEqual(['k2', 'k2']);
    expect(a.calls.length + b.calls.length).toBe(3);
  });

  it('is not lost where several instances mark at the same time, nor where a first try is not heard', async () => {
    const { cluster, a, b } = await warm({ k: 'x', l: 'y', m: 'z' });
    a.link.breakOnce('answer-lost', 'write');
    const marked = [a.cache.invalidateTag('x'), b.cache.invalidateTag('y'), a.cache.invalidateTag('z')];
    await cluster.clock.advance(500);
    await Promise.all(marked);
    const later = keyedInstance(cluster, own);
    await readKeysFor(cluster, [later], 100, ['k', 'l', 'm']);
    expect(later.calls.map(({ key }) => key).sort()).toEqual(['k', 'l', 'm']);
  });

  it('reaches an instance that was away', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    b.link.break('refused', 'check', 'read');
    await a.cache.invalidateTag('x');
    await readKeysFor(cluster, [b], 5 * WITHIN);
    expect([b.cache.inspect('k')?.isStale, b.calls.length]).toEqual([false, 0]);
    b.link.mend();
    await cluster.clock.advance(30_000);
    await readKeysFor(cluster, [b], WITHIN);
    expect(b.calls.length).toBe(1);
  });

  it('leaves an invalidation that was made here to a load', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    await a.cache.invalidateTag('x');
    void a.cache.get('k');
    await cluster.clock.flush();
    a.calls.at(-1)?.resolve(loaded('k2', { tags: ['x'] }));
    await cluster.clock.flush();
    b.cache.pause({ here: true });
    await readKeysFor(cluster, [b], WITHIN); // the mark is known, nothing is loaded
    b.cache.invalidateTag('x', { here: true });
    b.cache.resume({ here: true });
    await readKeysFor(cluster, [b], 100);
    expect(b.calls.length).toBe(1);
  });

  it('says so when it could not be published', async () => {
    const { cluster, a } = await warm({ k: 'x' });
    a.link.break('refused', 'write');
    const marked = rejectionOf(a.cache.invalidateTag('x'));
    await cluster.clock.advance(1000);
    expect(String(await marked)).toContain('ECONNREFUSED');
    a.link.mend();
    await cluster.clock.advance(30_000);
    await a.cache.invalidateTag('x');
  });
});

describe('a cache that is cleared everywhere', () => {
  it('keeps values that are newer than the mark, and those that were set here after it', async () => {
    const { cluster, a, b } = await warm({ k: 'x', l: 'y', m: 'z' });
    await a.cache.clear();
    await cluster.clock.advance(10);
    const refreshed = b.cache.refresh('k', { here: true }); // before it knows of the mark
    await cluster.clock.flush();
    b.calls.at(-1)?.resolve('k2');
    await refreshed;
    b.cache.set('l', 'by hand', { here: true });
    b.cache.pause({ here: true });
    await readKeysFor(cluster, [b], WITHIN, ['m']);
    expect(['k', 'l', 'm'].map((key) => b.cache.peek(key))).toEqual(['k2', 'by hand', undefined]);
  });

  it('has no value of a load that began before, which is being published when the mark is learnt', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    const refreshed = b.cache.refresh('k', { here: true });
    await cluster.clock.flush();
    await a.cache.clear();
    await cluster.clock.advance(10);
    const written = b.link.holdOnce('write');
    b.calls[0]?.resolve('old');
    await cluster.clock.flush();
    expect(b.cache.peek('k')).toBe('old');
    await readKeysFor(cluster, [b], WITHIN);
    expect(b.cache.peek('k')).toBe(undefined);
    written.resolve();
    expect(await refreshed).toBe('old');
  });

  it('has no value that was invalidated on an instance which did not know of the clearing', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    await a.cache.clear();
    await cluster.clock.advance(10);
    await b.cache.invalidate('k');
    expect(b.cache.peek('k')).toBe(undefined);
  });

  it('is refused once the cache is closed', async () => {
    const { a } = await warm({ k: 'x' });
    await a.cache.close();
    expect(isTicklessError(await rejectionOf(a.cache.clear()), 'CLOSED')).toBe(true);
  });
});

describe('the invalidation log of a cache', () => {
  it('sums up marks beyond 1,000 as one that concerns all keys, for instances that were away', async () => {
    const { cluster, a, b } = await warm({ k: 'x' });
    b.link.break('refused', 'check', 'read');
    const marked = Array.from({ length: 1100 }, (_, i) => a.cache.invalidateTag(`t${i}`));
    await cluster.clock.advance(100);
    await Promise.all(marked);
    b.link.mend();
    await cluster.clock.advance(30_000);
    await readKeysFor(cluster, [b], WITHIN);
    expect(b.calls.map(({ key }) => key)).toEqual(['k']); // no tag of its own was marked
    const { payload = '' } = (await cluster.store.read('c')) ?? {};
    expect(payload.length).toBeLessThan(150_000);
  });

  it('is read again where a check finds it newer than the one that is being read', async () => {
    const { cluster, a, b } = await warm({ k: 'x' }, { propagateWithin: 300 });
    await a.cache.invalidateTag('z');
    const answered = new Deferred<void>();
    b.link.breakOnce(answered.promise, 'read'); // for less than the second that a step has
    let reads = 0;
    const counted = async (): Promise<number> => {
      await cluster.clock.flush();
      reads += b.link.take().filter((step) => step === 'read').length;
      return reads;
    };
    await readKeysFor(cluster, [b], 300);
    await expect.poll(counted).toBe(1);
    await a.cache.clear();
    await readKeysFor(cluster, [b], 300);
    expect({ counted: await counted(), peekK: b.cache.peek('k') }).toEqual({ counted: 1, peekK: 'k1' });
    answered.resolve();
    const peeked = async (): Promise<unknown> => {
      await cluster.clock.flush();
      return b.cache.peek('k');
    };
    await expect.poll(peeked).toBe(undefined);
  });

  it('that is damaged makes all keys due up to its version, and so says the next one', async () => {
    const { cluster, a, b } = await warm({ k: 'x', l: 'y' });
    await cluster.clock.advance(10);
    await a.cache.invalidateTag('x');
    const { version = 0 } = (await cluster.store.read('c')) ?? {};
    await cluster.store.write('c', '{', version);
    await cluster.clock.advance(1); // a load of the same instant would count as older
    const later = keyedInstance(cluster, own);
    await readKeysFor(cluster, [later], 100, ['k', 'l']);
    expect(later.calls.map(({ key }) => key)).toEqual(['k', 'l']);
    for (const { key, resolve } of later.calls) resolve(`${key}2`);
    await readKeysFor(cluster, [b], 2 * WITHIN, ['k', 'l']);
    expect([b.cache.peek('k'), b.cache.peek('l'), b.calls.length]).toEqual(['k2', 'l2', 0]);
    await b.cache.invalidateTag('y');
    const { payload = '' } = (await cluster.store.read('c')) ?? {};
    expect(payload).toContain(`"invalidatedUpTo":${version}`);
  });
});
