import { describe, expect, it } from 'vitest';
import { notEmpty, shrinksAtMost } from '../../../src/guards/index.ts';
import { keep, loaded, type RefreshingValue } from '../../../src/index.ts';
import type { StandardSchema } from '../../../src/schema.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { onEnded } from '../../support/events.ts';
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

describe('a refused value', () => {
  it('waits in quarantine, as the last one of all since the first', async () => {
    const { value, clock, source } = await refused();
    const about = { reason: REASON, since: 1500, loadedAt: 1500, size: 1 };
    expect(value.inspect().quarantine).toEqual({ ...about, value: [1] });
    expect(value.inspect({ values: false }).quarantine).toEqual(about);
    expect(JSON.parse(JSON.stringify(value.inspect())).quarantine).toEqual({ ...about, value: [1] });
    source.now = [];
    await clock.advance(1000);
    await value.refresh().catch(() => {});
    expect(value.inspect().quarantine).toMatchObject({ since: 1500, loadedAt: 2500, size: 0 });
  });

  it('takes its place when it is accepted, without the guard', async () => {
    const { value } = await refused();
    const causes: string[] = [];
    value.on('changed', ({ cause }) => causes.push(cause));
    await expect(value.acceptQuarantined()).resolves.toBe(true);
    expect(value.inspect()).toMatchObject({ value: [1], state: 'fresh', failures: 0, quarantine: undefined });
    expect(causes).toEqual(['set']);
    await expect(value.refresh()).resolves.toEqual([1]); // it is the normal size from now on
    await expect(value.acceptQuarantined()).resolves.toBe(false);
  });

  it('stays where it is after close', async () => {
    const { value } = await refused();
    await value.close();
    await expect(value.acceptQuarantined()).rejects.toMatchObject({ code: 'CLOSED' });
    expect([value.peek(), value.inspect().quarantine?.reason]).toEqual([MANY, REASON]);
  });

  it('is forgotten when it is discarded', async () => {
    const { value } = await refused();
    expect([value.discardQuarantined(), value.discardQuarantined()]).toEqual([true, false]);
    expect(value.inspect().quarantine).toBeUndefined();
    await expect(value.acceptQuarantined()).resolves.toBe(false);
    expect(value.current).toEqual(MANY);
  });

  it.each<[string, unknown, (value: RefreshingValue<number[]>) => unknown]>([
    ['loaded', [1, 2, 3], (value) => value.refresh()],
    ['kept', keep(), (value) => value.refresh()],
    ['set', undefined, (value) => value.set([1, 2, 3])],
  ])('is obsolete once another value was %s', async (_, next, replace) => {
    const { value, source } = await refused();
    source.now = next;
    await replace(value);
    expect(value.inspect().quarantine).toBeUndefined();
  });

  it('stays in quarantine where the source keeps a value that is not in place any more', async () => {
    const { value, source } = await refused();
    const answer = new Deferred<unknown>();
    source.now = answer.promise;
    const refreshed = value.refresh();
    value.invalidate({ drop: true });
    source.now = new Promise(() => {}); // the next load
    answer.resolve(keep());
    await answer.promise;
    await Promise.resolve();
    expect(value.inspect().quarantine?.reason).toBe(REASON);
    void refreshed.catch(() => {});
  });

  it('is not obsolete by what a load returns after its deadline', async () => {
    const { value, source, clock } = await refused({ timeout: 1000 });
    const late = new Deferred<unknown>();
    source.now = late.promise;
    value.refresh().catch(() => {});
    await clock.advance(1100);
    late.resolve(keep());
    await clock.flush();
    expect(value.inspect().quarantine).toMatchObject({ reason: REASON });
  });

  it('is not replaced by a load that fails for another reason', async () => {
    const { value, source } = await refused();
    source.now = undefined;
    await expect(value.refresh()).rejects.toMatchObject({ code: 'LOAD_FAILED' });
    expect(value.inspect().quarantine).toMatchObject({ reason: REASON });
  });

  it('is not kept when it is too large, with a note', async () => {
    const accept = shrinksAtMost<number[]>(0.5, { sizeOf: ({ length }) => length * 10 });
    const { value } = await refused({ accept, maxQuarantined: 9 });
    const note = 'its size is over 9 (maxQuarantined)';
    expect(value.inspect().quarantine).toMatchObject({ size: 10, note });
    expect(value.inspect().quarantine).not.toHaveProperty('value');
    await expect(value.acceptQuarantined()).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining(`${REASON}; it is not kept: ${note}`),
    });
    expect(value.current).toEqual(MANY);
  });

  it('is not kept when the schema refuses it', async () => {
    const schema = {
      '~standard': {
        version: 1,
        validate: (value: unknown) =>
          Array.isArray(value) ? { value } : { issues: [{ message: 'no list' }] },
      },
    } as StandardSchema<number[]>;
    const { value } = await refused({ schema }, '<html>');
    expect(value.inspect().quarantine).toMatchObject({
      reason: 'the schema refuses it: no list',
      note: 'the schema refuses it',
    });
    await expect(value.acceptQuarantined()).rejects.toMatchObject({ code: 'REFUSED' });
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
    expect([await read, value.inspect().quarantine]).toEqual([2, undefined]);
  });
});

it('can be accepted from within the event', async () => {
  const { value, source, clock } = await refused();
  onEnded(value, 'refused', () => void value.acceptQuarantined());
  source.now = [7];
  await value.refresh().catch(() => {});
  await clock.flush();
  expect(value.inspect()).toMatchObject({ value: [7], failures: 0 });
});

it('a wrong limit is an error', () => {
  const wrong = { maxQuarantined: -1 };
  expect(() => fakeValue(() => 1, wrong)).toThrow(
    'maxQuarantined must be a number of 0 or more, received -1',
  );
});

describe('of a key', () => {
  it('is accepted with its tags, or discarded', async () => {
    const { cache } = fakeCache({ load: (key) => loaded(key, { tags: ['t'] }), accept: () => 'no' });
    await Promise.allSettled([cache.get('a'), cache.get('b')]);
    expect(cache.inspect('a')?.quarantine).toMatchObject({ reason: 'no' });
    await expect(cache.acceptQuarantined('a')).resolves.toBe(true);
    expect([cache.discardQuarantined('b'), cache.inspect('b')?.quarantine]).toEqual([true, undefined]);
    expect(await Promise.all([cache.get('a'), cache.acceptQuarantined('x')])).toEqual(['a', false]);
    expect(cache.discardQuarantined('x')).toBe(false);
    cache.invalidateTag('t');
    expect(cache.inspect('a')?.isDue).toBe(true);
  });

  it('is kept for the last 100 keys', async () => {
    const { cache } = fakeCache({ load: (key) => key, accept: () => 'no' });
    for (let i = 0; i <= 100; i++) await cache.get(`${i}`).catch(() => {});
    expect(cache.inspect('0')?.quarantine?.note).toBe('those of 100 other keys are newer');
    await expect(cache.acceptQuarantined('0')).rejects.toMatchObject({
      code: 'REFUSED',
      key: '0',
    });
    await expect(cache.acceptQuarantined('1')).resolves.toBe(true);
  });

  it('must fit into the cache', async () => {
    const { cache } = fakeCache({
      load: (key) => key,
      accept: () => 'no',
      maxSize: 5,
      sizeOf: ({ length }) => length,
    });
    await cache.get('a long one').catch(() => {});
    await expect(cache.acceptQuarantined('a long one')).rejects.toMatchObject({ code: 'OPTION' });
    await expect(cache.acceptQuarantined(undefined as never)).rejects.toMatchObject({ code: 'OPTION' });
  });
});

describe('a decision on a refused value that names the one that was looked at', () => {
  it.each<[string, (value: RefreshingValue<number[]>, digest: string) => unknown]>([
    ['accepts', async (value, digest) => value.acceptQuarantined({ digest })],
    ['discards', async (value, digest) => value.discardQuarantined({ digest })],
  ])('%s that one, also when it was refused again, and no other one', async (_, decide) => {
    const { value, source } = await refused({}, [7]);
    const { digest } = value.inspect({ values: false }).quarantine!;
    source.now = [];
    await value.refresh().catch(() => {});
    await expect(decide(value, digest)).rejects.toMatchObject({ code: 'OPTION' });
    expect([value.peek(), value.inspect().quarantine?.value]).toEqual([MANY, []]);
    source.now = [7];
    await value.refresh().catch(() => {});
    expect(value.inspect().quarantine?.digest).toBe(digest);
    await expect(decide(value, digest)).resolves.toBe(true);
    await expect(decide(value, digest)).resolves.toBe(false);
  });

  it('sees a list that its source has changed in place', async () => {
    const list = [7];
    const { value } = await refused({}, list);
    const { digest } = value.inspect().quarantine!;
    list.pop();
    await expect(value.acceptQuarantined({ digest })).rejects.toMatchObject({ code: 'OPTION' });
  });

  it('refuses other options, and changes nothing', async () => {
    const { value } = await refused();
    await expect(value.acceptQuarantined({ hash: '1' } as never)).rejects.toMatchObject({
      code: 'OPTION',
    });
    expect(() => value.discardQuarantined({ digest: 1 } as never)).toThrow(/digest/);
    expect(value.inspect().quarantine?.size).toBe(1);
  });

  it('is for each key of a cache', async () => {
    const source = { now: 'many' };
    const accept = shrinksAtMost<string>(0.5, { sizeOf: ({ length }) => length });
    const { cache } = fakeCache({ load: () => source.now, accept });
    await cache.get('a');
    source.now = 'm';
    await cache.refresh('a').catch(() => {});
    const { digest } = cache.inspect('a')!.quarantine!;
    source.now = '';
    await cache.refresh('a').catch(() => {});
    await expect(cache.acceptQuarantined('a', { digest })).rejects.toMatchObject({ code: 'OPTION' });
    expect(() => cache.discardQuarantined('a', { digest })).toThrow(/refused last/);
    expect(cache.peek('a')).toBe('many');
    const { digest: last } = cache.inspect('a')!.quarantine!;
    await expect(cache.acceptQuarantined('a', { digest: last })).resolves.toBe(true);
  });

  it('has another digest for what is not kept, by its reason', async () => {
    const { value } = await refused({ maxQuarantined: 0 });
    const { digest, note } = value.inspect().quarantine!;
    expect([note, value.discardQuarantined({ digest })]).toEqual([
      'its size is over 0 (maxQuarantined)',
      true,
    ]);
  });

  it('is refused where another instance has published a value since, which is not known here', async () => {
    const cluster = new ManualCluster();
    const accept = (value: string): boolean => value !== 'bad';
    const [one, two] = await cluster.warm(2, { accept, random: () => 0 });
    await cluster.clock.advance(1100);
    await cluster.read(one);
    await cluster.end(one, 1, 'bad');
    const { digest } = one.value.inspect().quarantine!;
    await two.value.set('good');
    await expect(one.value.acceptQuarantined({ digest })).rejects.toMatchObject({ code: 'OPTION' });
    expect([one.value.peek(), (await two.value.history())[0]?.made]).toEqual(['one', 'set']);
  });
});

describe('in a cluster', () => {
  const accept = notEmpty<string>({ sizeOf: ({ length }) => (length > 4 ? 0 : length) });

  it('is published once, whoever has seen it, and no instance loads for it', async () => {
    const cluster = new ManualCluster();
    const [one, two] = await cluster.warm(2, { accept, random: () => 0 });
    await cluster.clock.advance(1100);
    await cluster.read(one);
    await cluster.end(one, 1, 'three');
    await cluster.clock.advance(1100);
    await cluster.read(two);
    await cluster.end(two, 0, 'three');
    expect([one.value, two.value].map((value) => value.inspect().quarantine?.reason)).toEqual(
      Array(2).fill('it is empty'),
    );
    one.link.take();
    await expect(one.value.acceptQuarantined()).resolves.toBe(true);
    expect(one.link.take()).toEqual(['acquire', 'write', 'release']);
    await cluster.clock.advance(900); // its cool-down is over, and the round is done
    await cluster.read(two);
    expect(two.value.inspect()).toMatchObject({ value: 'three', quarantine: undefined });
    expect(two.manual.calls).toHaveLength(1);
  });

  it('stays, and is served here, when it could not be published', async () => {
    const cluster = new ManualCluster();
    const [one] = await cluster.warm(1, { accept });
    await cluster.clock.advance(1100);
    await cluster.read(one);
    await cluster.end(one, 1, 'three');
    one.link.break('refused', 'write');
    await expect(one.value.acceptQuarantined()).rejects.toMatchObject({ code: 'BACKEND_DOWN' });
    expect(one.value.inspect()).toMatchObject({ value: 'three', quarantine: { reason: 'it is empty' } });
    one.link.mend();
    await expect(one.value.acceptQuarantined()).resolves.toBe(true);
    expect(one.value.inspect().quarantine).toBeUndefined();
  });
});

it('a reason of a guard is one line of at most 1 kB, without what a terminal acts on', async () => {
  const reason = `first\nsecond \u001b[31m${'x'.repeat(1_000_000)}`;
  const { value } = await refused({ accept: (_, { previous }) => previous === undefined || reason });
  const { quarantine, lastError } = value.inspect();
  expect(quarantine?.reason.length).toBe(1024);
  expect(quarantine?.reason).toMatch(/^first second \\u001b\[31mx+…$/);
  expect(lastError?.message.length).toBeLessThan(1200);
});
