import { describe, expect, it } from 'vitest';
import { notEmpty, shrinksAtMost } from '../../../src/guards/index.ts';
import { absent, keep, loaded, type RefreshingValue } from '../../../src/index.ts';
import type { StandardSchema } from '../../../src/schema.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { fakeValue } from '../../support/manual-value.ts';

const MANY = [1, 2, 3, 4];

/** A value of which `MANY` was loaded, and then `refused` came. */
async function refused(options: Parameters<typeof fakeValue<number[]>>[1] = {}, second: unknown = [1]) {
  const clock = new FakeClock({ now: 1000 });
  const source: { now: unknown } = { now: MANY };
  const made = fakeValue<number[]>(() => source.now as number[], {
    clock,
    accept: shrinksAtMost(0.5),
    ...options,
  });
  await made.value.get();
  source.now = second;
  await clock.advance(500);
  await made.value.refresh().catch(() => {});
  return { ...made, clock, source };
}

const REASON = 'it shrinks by 75 %, at most 50 % is allowed';
const DIGEST = /^[0-9a-f]{16}$/;
const NOT_SEEN = { code: 'REFUSED', message: expect.stringContaining('look at it again') };

describe('a refused value', () => {
  it('is told with its reason, digest and differences, since the first of all that were refused in a row', async () => {
    const { value, clock, source } = await refused();
    const sizes = { size: 1, previousSize: 4 };
    const about = { reason: REASON, since: 1500, ...sizes, digest: expect.stringMatching(DIGEST) };
    const removed = { count: 3, samples: [2, 3, 4].map((id) => ({ id, value: id })) };
    const none = { count: 0, samples: [] };
    const differences = { added: none, removed, changed: none, unchanged: 1 };
    expect(value.inspect().refused).toEqual({ ...about, differences });
    expect(value.inspect({ values: false }).refused).toEqual(about);
    expect(JSON.parse(JSON.stringify(value.inspect())).refused).toEqual({ ...about, differences });
    source.now = [];
    await clock.advance(1000);
    await value.refresh().catch(() => {});
    expect(value.inspect().refused).toMatchObject({ since: 1500, size: 0 });
    expect(value.current).toEqual(MANY);
  });

  it.each<[string, unknown, (value: RefreshingValue<number[]>) => unknown]>([
    ['loaded', [1, 2, 3], (value) => value.refresh()],
    ['kept', keep(), (value) => value.refresh()],
    ['set', undefined, (value) => value.set([1, 2, 3])],
  ])('is forgotten once another value was %s', async (_, next, replace) => {
    const { value, source } = await refused();
    source.now = next;
    await replace(value);
    expect(value.inspect().refused).toBeUndefined();
  });

  it('is not forgotten where the source keeps a value that is not in place any more', async () => {
    const { value, source } = await refused();
    const answer = new Deferred<unknown>();
    source.now = answer.promise;
    const refreshed = value.refresh();
    value.invalidate({ drop: true });
    source.now = new Promise(() => {}); // the next load
    answer.resolve(keep());
    await answer.promise;
    await Promise.resolve();
    expect(value.inspect().refused?.reason).toBe(REASON);
    void refreshed.catch(() => {});
  });

  it('is forgotten once a load has succeeded, also where its value was dropped meanwhile', async () => {
    const { value, source } = await refused();
    const answer = new Deferred<unknown>();
    source.now = answer.promise;
    const read = value.refresh();
    value.invalidate({ drop: true });
    expect(value.inspect().refused?.reason).toBe(REASON);
    source.now = new Promise(() => {}); // the next load
    answer.resolve([1, 2, 3]);
    await expect(read).resolves.toEqual([1, 2, 3]);
    expect([value.peek(), value.inspect().refused]).toEqual([undefined, undefined]);
  });

  it('is not forgotten by what a load returns after its deadline', async () => {
    const { value, source, clock } = await refused({ timeout: 1000 });
    const late = new Deferred<unknown>();
    source.now = late.promise;
    value.refresh().catch(() => {});
    await clock.advance(1100);
    late.resolve(keep());
    await clock.flush();
    expect(value.inspect().refused).toMatchObject({ reason: REASON });
  });

  it('is not replaced by a load that fails for another reason', async () => {
    const { value, source } = await refused();
    source.now = undefined;
    await expect(value.refresh()).rejects.toMatchObject({ code: 'LOAD_FAILED' });
    expect(value.inspect().refused).toMatchObject({ reason: REASON });
  });

  it('of a load that was superseded meanwhile is of no interest', async () => {
    let answer = (_: string): void => {};
    const accept = () => new Promise<string>((resolve) => (answer = resolve));
    const { value, clock } = fakeValue(() => 1, { accept });
    const read = value.get();
    await clock.flush();
    value.set(2);
    answer('no');
    await clock.flush();
    expect([await read, value.inspect().refused]).toEqual([2, undefined]);
  });

  it('is told at once of a synchronous load, where there is nothing to compare with', () => {
    const { value } = fakeValue(() => [1], { accept: () => 'no' });
    expect(() => value.current).toThrow('no');
    expect(value.inspect().refused).toMatchObject({ reason: 'no', digest: expect.stringMatching(DIGEST) });
    expect(value.inspect().refused).not.toHaveProperty('differences');
  });

  it('is not kept as the sample of a comparison of wholes', async () => {
    const accept = (bytes: Uint8Array): boolean => bytes.length > 1;
    const source = { now: new Uint8Array(2) };
    const { value } = fakeValue(() => source.now, { accept });
    await value.get();
    source.now = new Uint8Array(1);
    await value.refresh().catch(() => {});
    expect(value.inspect().refused?.differences?.changed).toEqual({ count: 1, samples: [] });
  });

  it('has no differences where idOf fails', async () => {
    const idOf = (): never => {
      throw new Error('no id');
    };
    const accept = Object.assign((list: object[]) => list.length > 1, { idOf });
    const source = { now: [{}, {}] };
    const { value } = fakeValue(() => source.now, { accept });
    await value.get();
    source.now = [{}];
    await expect(value.refresh()).rejects.toMatchObject({ code: 'REFUSED' });
    expect(value.inspect().refused?.digest).toMatch(DIGEST);
    expect(value.inspect().refused).not.toHaveProperty('differences');
  });

  it('has no differences where half of the time to the deadline is too short for them', async () => {
    const clock = new FakeClock();
    let slow = 0;
    const late = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + slow,
      setTimeout: (callback: () => void, ms: number) => clock.setTimeout(callback, ms),
    };
    const rowsOf = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
    const source = { now: rowsOf(1000) };
    const idOf = ({ id }: { id: number }): number => {
      slow += 1;
      return id;
    };
    const accept = shrinksAtMost<{ id: number }[]>(0.1, { idOf });
    const { value } = fakeValue(() => source.now, { accept, timeout: 500, clock: late });
    await value.get();
    source.now = rowsOf(10);
    await expect(value.refresh()).rejects.toMatchObject({ code: 'REFUSED' });
    expect(slow).toBeLessThan(600);
    expect(value.inspect().refused).not.toHaveProperty('differences');
  });

  it('has no digest where the schema refused it', async () => {
    const { value } = await refused({ schema: LISTS }, '<html>');
    const about = { reason: 'the schema refuses it: no list', digest: undefined };
    expect(value.inspect().refused).toMatchObject(about);
  });

  it('has a reason of one line of at most 1 kB, without what a terminal acts on', async () => {
    const reason = `first\nsecond \u001b[31m${'x'.repeat(1_000_000)}`;
    const { value } = await refused({ accept: (_, { previous }) => previous === undefined || reason });
    const { refused: told, lastError } = value.inspect();
    expect(told?.reason.length).toBe(1024);
    expect(told?.reason).toMatch(/^first second \\u001b\[31mx+…$/);
    expect(lastError?.message.length).toBeLessThan(1200);
  });

  it('of many entries is compared in slices of the event loop', async () => {
    const rowsOf = (count: number) =>
      Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}`, price: id * 2 }));
    const source = { now: rowsOf(100_000) };
    const clock = systemClock;
    const { value } = fakeValue(() => source.now, { accept: shrinksAtMost<{ id: number }[]>(0.1), clock });
    await value.get();
    source.now = rowsOf(50_000);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    count();
    await expect(value.refresh()).rejects.toMatchObject({ code: 'REFUSED' });
    isDone = true;
    expect(turns).toBeGreaterThan(20);
    expect(value.inspect().refused?.differences?.removed.count).toBe(50_000);
    await value.close();
  });
});

/** A schema of lists. */
const LISTS = {
  '~standard': {
    version: 1,
    validate: (value: unknown) => (Array.isArray(value) ? { value } : { issues: [{ message: 'no list' }] }),
  },
} as StandardSchema<number[]>;

describe('refresh({ force })', () => {
  it('loads past the guard what was looked at', async () => {
    const { value } = await refused();
    const causes: string[] = [];
    value.on('changed', ({ cause }) => causes.push(cause));
    const { digest } = value.inspect().refused!;
    await expect(value.refresh({ force: digest })).resolves.toEqual([1]);
    expect(value.inspect()).toMatchObject({ value: [1], state: 'fresh', failures: 0, refused: undefined });
    expect(causes).toEqual(['loaded']);
    await expect(value.refresh()).resolves.toEqual([1]); // it is the normal size from now on
  });

  it('refuses what the source has instead by now, which can be looked at', async () => {
    const { value, source } = await refused({}, [7]);
    const { digest: seen } = value.inspect().refused!;
    source.now = [];
    await expect(value.refresh({ force: seen })).rejects.toMatchObject(NOT_SEEN);
    expect(value.peek()).toEqual(MANY);
    const { digest, size, since } = value.inspect().refused!;
    expect([size, since, digest === seen]).toEqual([0, 1500, false]);
    await expect(value.refresh({ force: digest })).resolves.toEqual([]);
  });

  it('refuses another value that the guard would accept', async () => {
    const { value, source } = await refused();
    const { digest } = value.inspect().refused!;
    source.now = [1, 2, 3];
    await expect(value.refresh({ force: digest })).rejects.toMatchObject(NOT_SEEN);
    expect(value.peek()).toEqual(MANY);
  });

  it('has the same digest for equal content, and another one for a list that its source has changed', async () => {
    const list = [7];
    const { value } = await refused({}, list);
    const { digest } = value.inspect().refused!;
    await value.refresh().catch(() => {});
    expect(value.inspect().refused?.digest).toBe(digest);
    list.pop();
    await expect(value.refresh({ force: digest })).rejects.toMatchObject(NOT_SEEN);
  });

  it('never passes the schema', async () => {
    let isStrict = false;
    const schema = {
      '~standard': {
        version: 1,
        validate: (value) => (isStrict ? { issues: [{ message: 'no' }] } : { value: value as number[] }),
      },
    } satisfies StandardSchema<number[]>;
    const { value } = await refused({ schema });
    const { digest } = value.inspect().refused!;
    isStrict = true;
    await expect(value.refresh({ force: digest })).rejects.toThrow('the schema refuses it: no');
    expect(value.peek()).toEqual(MANY);
    isStrict = false;
    await expect(value.refresh({ force: digest })).resolves.toEqual([1]);
  });

  it('rejects where the source has nothing new, or a value was set meanwhile', async () => {
    const { value, source, clock } = await refused();
    const { digest } = value.inspect().refused!;
    source.now = keep();
    await expect(value.refresh({ force: digest })).rejects.toMatchObject(NOT_SEEN);
    expect(value.inspect()).toMatchObject({ value: MANY, failures: 0 });
    source.now = new Promise(() => {});
    const forced = value.refresh({ force: digest });
    await clock.flush();
    value.set([5]);
    await expect(forced).rejects.toMatchObject(NOT_SEEN);
    expect(value.peek()).toEqual([5]);
  });

  it('does not join a load under way, which the guard judges', async () => {
    const { value, source, clock } = await refused();
    const { digest } = value.inspect().refused!;
    const answer = new Deferred<number[]>();
    source.now = answer.promise;
    const refreshed = value.refresh();
    await clock.flush();
    const forced = value.refresh({ force: digest });
    source.now = [1];
    answer.resolve([1]);
    await expect(refreshed).rejects.toMatchObject({ message: expect.stringContaining(REASON) });
    await clock.flush();
    await expect(forced).resolves.toEqual([1]);
  });

  it('of two at a time lets pass what each has looked at', async () => {
    const { value, clock } = await refused();
    const { digest } = value.inspect().refused!;
    const both = Promise.allSettled([
      value.refresh({ force: digest }),
      value.refresh({ force: '0123456789abcdef' }),
    ]);
    await clock.flush();
    const [, other] = await both;
    expect(other).toMatchObject({ status: 'rejected', reason: NOT_SEEN });
    await expect(value.refresh({ force: digest })).resolves.toEqual([1]);
  });

  it('lets only that load pass', async () => {
    const { value, source } = await refused();
    const { digest } = value.inspect().refused!;
    await value.refresh({ force: digest });
    await value.set(MANY);
    source.now = [1];
    await expect(value.refresh()).rejects.toMatchObject({ message: expect.stringContaining(REASON) });
  });

  it('is refused after close, from within the load, and for what is no digest', async () => {
    const { value } = await refused();
    await expect(value.refresh({ force: 1 } as never)).rejects.toThrow(
      'force must be the digest of inspect().refused, received 1',
    );
    await value.close();
    await expect(value.refresh({ force: 'a' })).rejects.toMatchObject({ code: 'CLOSED' });
    const own: { value?: RefreshingValue<unknown> } = {};
    const { value: calling } = fakeValue(() => own.value?.refresh({ force: 'a' }));
    own.value = calling;
    await expect(calling.get()).rejects.toThrow('must not wait for its own end');
  });
});

describe('of a key', () => {
  it('passes with its tags', async () => {
    const { cache } = fakeCache({ load: (key) => loaded(key, { tags: ['t'] }), accept: () => 'no' });
    await Promise.allSettled([cache.get('a'), cache.get('b')]);
    const { digest, reason } = cache.inspect('a')!.refused!;
    expect(reason).toBe('no');
    await expect(cache.refresh('b', { force: digest })).rejects.toMatchObject(NOT_SEEN);
    await expect(cache.refresh('a', { force: digest })).resolves.toBe('a');
    expect(cache.inspect('a')?.refused).toBeUndefined();
    cache.invalidateTag('t');
    expect(cache.inspect('a')?.isDue).toBe(true);
  });

  it('is forgotten once the source does not have the key', async () => {
    let isGone = false;
    const { cache } = fakeCache({ load: () => (isGone ? absent() : 'a'), accept: () => 'no' });
    await expect(cache.get('a')).rejects.toMatchObject({ code: 'REFUSED' });
    expect(cache.inspect('a')?.refused?.reason).toBe('no');
    isGone = true;
    await expect(cache.refresh('a')).rejects.toMatchObject({ code: 'ABSENT' });
    expect(cache.inspect('a')).toMatchObject({ state: 'absent', refused: undefined });
  });

  it('keeps the differences of the last 100 keys', async () => {
    const source = { now: 'much' };
    const accept = notEmpty<string>({ sizeOf: ({ length }) => length });
    const { cache } = fakeCache({ load: () => source.now, accept });
    const keys = Array.from({ length: 101 }, (_, i) => `${i}`);
    for (const key of keys) await cache.get(key);
    source.now = '';
    for (const key of keys) await cache.refresh(key).catch(() => {});
    expect(cache.inspect('0')?.refused).toMatchObject({ reason: 'it is empty', size: 0 });
    expect(cache.inspect('0')?.refused).not.toHaveProperty('differences');
    expect(cache.inspect('1')?.refused?.differences?.changed.count).toBe(1);
  });

  it('must fit into the cache', async () => {
    const sizeOf = ({ length }: string): number => length;
    const { cache } = fakeCache({ load: (key) => key, accept: () => 'no', maxSize: 5, sizeOf });
    await cache.get('a long one').catch(() => {});
    const { digest } = cache.inspect('a long one')!.refused!;
    const cause = expect.objectContaining({ message: 'the value has the size 10, maxSize is 5' });
    await expect(cache.refresh('a long one', { force: digest })).rejects.toMatchObject({ cause });
  });
});

describe('in a cluster', () => {
  const accept = notEmpty<string>({ sizeOf: ({ length }) => (length > 4 ? 0 : length) });

  /** Two instances with `one`, of which the first has refused `three`. */
  async function refusedOnOne(own: { propagateWithin?: number } = {}) {
    const cluster = new ManualCluster();
    const [one, two] = await cluster.warm(2, { accept, random: () => 0, ...own });
    await cluster.readAfter(1100, one);
    await cluster.end(one, 1, 'three');
    expect(one.value.inspect().refused?.reason).toBe('it is empty');
    return { cluster, one, two, digest: one.value.inspect().refused?.digest };
  }

  it('is published once, whoever forces it, and no other instance loads or refuses it', async () => {
    const { cluster, one, two, digest } = await refusedOnOne();
    one.link.take();
    two.link.take();
    const forced = two.value.refresh({ force: digest }); // which has not seen it itself
    await cluster.clock.flush();
    await cluster.end(two, 0, 'three');
    await expect(forced).resolves.toBe('three');
    expect(two.link.take()).toEqual(['acquire', 'write']);
    await cluster.clock.advance(900); // the cool-down is over, and the round is done
    await cluster.read(one);
    expect(one.value.inspect()).toMatchObject({ value: 'three', refused: undefined });
    expect([one, two].map(({ manual }) => manual.calls.length)).toEqual([2, 1]);
  });

  it('rejects where another instance loads meanwhile, whose value is taken over', async () => {
    const { cluster, one, two, digest } = await refusedOnOne();
    const refreshed = two.value.refresh();
    await cluster.clock.flush();
    const forced = one.value.refresh({ force: digest });
    await cluster.clock.flush();
    await cluster.end(two, 0, 'two');
    await refreshed;
    const end = expect(forced).rejects.toMatchObject(NOT_SEEN);
    await cluster.clock.advance(1000);
    await end;
    expect([one.value.peek(), two.value.peek()]).toEqual(['two', 'two']);
  });

  it('is forgotten once a check has found a newer value, without a load', async () => {
    const { cluster, one, two } = await refusedOnOne({ propagateWithin: 100 });
    const set = two.value.set('two');
    await cluster.clock.flush();
    await set;
    one.link.take();
    await cluster.clock.advance(100);
    await cluster.read(one);
    expect(one.link.take()).not.toContain('acquire');
    expect(one.value.inspect()).toMatchObject({ value: 'two', refused: undefined });
  });

  it('is served here, and rejects, where it could not be published', async () => {
    const { cluster, one, digest } = await refusedOnOne();
    one.link.break('refused', 'write');
    const forced = one.value.refresh({ force: digest });
    await cluster.clock.flush();
    await cluster.end(one, 2, 'three');
    await expect(forced).rejects.toMatchObject({ code: 'BACKEND_DOWN' });
    expect(one.value.peek()).toBe('three');
  });
});
