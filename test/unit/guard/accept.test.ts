import { describe, expect, it, vi } from 'vitest';
import type { AcceptDetails } from '../../../src/guard/accept.ts';
import { type Accept, isTicklessError, loaded, RefreshGroup } from '../../../src/index.ts';
import type { StandardResult, StandardSchema } from '../../../src/schema.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { onEnded } from '../../support/events.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

/** A schema of lists that are not empty, which sorts them. */
const sorted = (
  end: (result: StandardResult<number[]>) => ReturnType<StandardSchema<number[]>['~standard']['validate']> = (
    result,
  ) => result,
): StandardSchema<number[]> => ({
  '~standard': {
    version: 1,
    validate: (value) =>
      end(
        Array.isArray(value) && value.length > 0
          ? { value: value.toSorted() }
          : { issues: [{ message: 'not a list' }, { message: 'empty' }] },
      ),
  },
});

/** A value whose loads return these, one after the other; due each second. */
function values(results: readonly number[][], options: Parameters<typeof fakeValue<number[]>>[1]) {
  const left = [...results];
  const load = vi.fn(() => left.shift() as number[]);
  const events: unknown[] = [];
  const made = fakeValue<number[]>(load, { schedule: 1000, coolDown: 500, random: () => 0.5, ...options });
  onEnded(made.value, 'refused', (event) => events.push(event));
  return { ...made, load, events };
}

const refusedFor = (reason: string): object => ({
  code: 'REFUSED',
  message: expect.stringContaining(`value refused: ${reason}`),
});

describe('accept', () => {
  it('keeps the value of before when a loaded one is refused, until the source has recovered', async () => {
    const { value, clock, load, events } = values([[1, 2], [], [3]], {
      accept: (list) => list.length > 0 || 'the list is empty',
    });
    expect(value.current).toEqual([1, 2]); // a synchronous guard keeps a load synchronous
    await clock.advance(1000);
    const error = await rejectionOf(value.refresh());
    expect(isTicklessError(error, 'REFUSED') && error).toMatchObject({
      message: 'v: value refused: the list is empty (size 0, before 2)',
    });
    expect(value.current).toEqual([1, 2]);
    expect(value.inspect()).toMatchObject({ failures: 1, lastError: error, value: [1, 2] });
    expect(events).toMatchObject([{ type: 'load-ended', outcome: 'refused', attempts: 1, error }]);
    await clock.advance(100);
    value.current;
    await clock.flush();
    expect(load).toHaveBeenCalledTimes(2); // the cool-down
    await clock.advance(500);
    value.current;
    await clock.flush();
    expect(value.inspect()).toMatchObject({ failures: 0, value: [3] });
  });

  it('gets the value of before, the trigger and the key', async () => {
    const clock = new FakeClock({ now: 1000 });
    const asked: [unknown, AcceptDetails<string>][] = [];
    const { cache } = fakeCache({
      clock,
      load: (key) => loaded(`${key}${clock.now()}`, { tags: ['t'] }),
      accept: (candidate, details) => asked.push([candidate, details]) > 0,
    });
    expect(cache.current('a')).toBe('a1000');
    await clock.advance(2000);
    await cache.refresh('a');
    const details = { version: undefined, key: 'a' };
    expect(asked).toEqual([
      ['a1000', { ...details, previous: undefined, trigger: 'first' }],
      ['a3000', { ...details, previous: { value: 'a1000', loadedAt: 1000 }, trigger: 'forced' }],
    ]);
    cache.invalidateTag('t'); // what loaded() has said of the value is kept
    expect(cache.inspect('a')?.isDue).toBe(true);
  });

  it('guards each key of a batch by itself', async () => {
    const { cache } = fakeCache({
      loadMany: (keys) => new Map(keys.map((key) => [key, key])),
      accept: (candidate) => candidate !== 'bad' || 'bad',
    });
    const errors = vi.fn();
    const found = await cache.getMany(['a', 'bad', 'b'], { onError: errors });
    expect([...found.keys()]).toEqual(['a', 'b']);
    const error = expect.objectContaining({ code: 'REFUSED', key: 'bad' });
    expect(errors).toHaveBeenCalledExactlyOnceWith(error, 'bad');
  });

  it('does not try again what it has refused, whatever retry says', async () => {
    const calls = vi.fn(async () => [1]);
    const { value } = fakeValue(calls, {
      retry: { retries: 5, shouldConsumeRetry: () => false },
      accept: () => 'no',
    });
    expect(await rejectionOf(value.get())).toMatchObject(refusedFor('no'));
    expect(calls).toHaveBeenCalledTimes(1);
  });

  it.each<[string, Accept, string]>([
    ['throws', () => Promise.reject(new Error('not today')), 'not today'],
    ['returns false', () => false, 'accept returned false, expected true or a reason'],
    ['has no reason', () => '', 'accept returned "", expected true or a reason'],
    ['forgets to return', () => undefined, 'accept returned undefined, expected true or a reason'],
    ['returns an error', async () => new Error('no'), 'no'],
  ])('refuses when it %s', async (_, accept, reason) => {
    const { value } = fakeValue(() => [1], { accept });
    expect(await rejectionOf(value.get())).toMatchObject(refusedFor(reason));
  });

  it('has as long as the load', async () => {
    const { value, clock } = fakeValue(() => 1, {
      accept: () => new Promise<boolean>(() => {}),
      timeout: 300,
    });
    const read = rejectionOf(value.get());
    await clock.advance(300);
    expect(await read).toMatchObject({ code: 'TIMED_OUT' });
  });

  it('sees neither keep() nor a value that is set', async () => {
    const accept = vi.fn(() => 'no');
    const { value } = fakeValue(() => 1, { accept });
    value.set(2);
    expect([value.current, accept.mock.calls]).toEqual([2, []]);
  });

  it('takes the refusal of another value for the error of this load', async () => {
    const { value: other } = fakeValue(() => 1, { name: 'other', accept: () => 'no' });
    const { value } = fakeValue(() => other.get());
    expect(isTicklessError(await rejectionOf(value.get()), 'LOAD_FAILED')).toBe(true);
  });
});

describe('schema', () => {
  it('gives its output to readers and to the guard', async () => {
    const accept = vi.fn(() => true);
    const { value } = fakeValue(() => [2, 1], { schema: sorted(), accept });
    expect(value.current).toEqual([1, 2]);
    expect(accept).toHaveBeenCalledExactlyOnceWith([1, 2], expect.anything());
  });

  it.each([
    ['at once', sorted()],
    ['later', sorted(async (result) => result)],
  ])('refuses what was loaded, %s', async (_, schema) => {
    const { value, events } = values([[]], { schema });
    const reason = 'the schema refuses it: not a list; empty';
    expect(await rejectionOf(value.get())).toMatchObject(refusedFor(reason));
    expect(events).toMatchObject([{ outcome: 'refused', error: refusedFor(reason) }]);
  });

  it('gives its output to what is set, also of a key', () => {
    const { value } = fakeValue<number[]>(() => [], { schema: sorted() });
    const { cache } = fakeCache({ load: () => '', schema: sorted() as unknown as StandardSchema<string> });
    value.set([3, 1]);
    expect(value.current).toEqual([1, 3]);
    expect(() => cache.set('k', '')).toThrow('c["k"]: value refused');
    expect(cache.size).toBe(0);
  });

  it('must be synchronous for what is set', () => {
    const { value } = fakeValue<number[]>(() => [], { schema: sorted(async (result) => result) });
    expect(() => value.set([1])).toThrow('schema must be synchronous for a value that is set by hand');
  });

  it('that throws refuses', async () => {
    const schema = sorted(() => {
      throw new Error('broken');
    });
    const { value } = fakeValue<number[]>(() => [1], { schema });
    expect(await rejectionOf(value.get())).toMatchObject({
      ...refusedFor('the schema failed: broken'),
      cause: new Error('broken'),
    });
    expect(() => value.set([1])).toThrow('the schema failed: broken');
  });
});

it('shows in the health of values and keys', async () => {
  const group = new RefreshGroup({ name: 'g', clock: new FakeClock(), logger: false, retry: false });
  const accept: Accept = (candidate) => candidate !== 'bad' || 'bad';
  const value = group.value({ name: 'v', load: () => 'bad', accept });
  const cache = group.cache({
    name: 'c',
    load: (key: string) => (key === 'down' ? Promise.reject() : key),
    accept,
  });
  await Promise.allSettled([value.get(), cache.get('bad'), cache.get('down')]);
  const message = expect.stringContaining('value refused: bad');
  expect(group.health()).toMatchObject({
    ok: true,
    problems: [
      { name: 'v', kind: 'refused', isFatal: false, message },
      { name: 'c', key: 'down', kind: 'failing' },
      { name: 'c', key: 'bad', kind: 'refused', message },
    ],
  });
});

it('rejects a guard that is none', () => {
  const wrong = { schema: () => true, accept: true } as never;
  const message = expect.stringMatching(/schema must be a Standard Schema.*accept must be a function/);
  expect(thrownBy(() => fakeValue(() => 1, wrong))).toMatchObject({ code: 'OPTION', message });
});
