import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import {
  absent,
  type LoadManyContext,
  loaded,
  RefreshingCache,
  type TicklessError,
} from '../../../src/index.ts';
import { recordLines } from '../../support/events.ts';
import { type FakeCache, type FakeCacheOptions, fakeCache } from '../../support/fake-cache.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

type Answers = ReadonlyMap<string, string>;

/** One call of `loadMany`, waiting for the test to end it where it is manual. */
interface Call {
  readonly keys: readonly string[];
  readonly context: LoadManyContext<string, string>;
  resolve(answers: unknown): void;
  reject(error: unknown): void;
}

const all = (keys: readonly string[]): Answers => new Map(keys.map((key) => [key, `v${key}`]));

/** A cache whose `loadMany` notes its calls. @param answer `manual`: the test ends the calls. */
function make(
  answer: ((keys: readonly string[], call: number) => unknown) | 'manual' = all,
  options: FakeCacheOptions = {},
): FakeCache & { readonly calls: Call[] } {
  const calls: Call[] = [];
  const loadMany = (keys: readonly string[], context: LoadManyContext<string, string>) => {
    if (answer !== 'manual') {
      calls.push({ keys, context, resolve: () => {}, reject: () => {} });
      return answer(keys, calls.length) as Answers;
    }
    return new Promise<Answers>((resolve, reject) => {
      calls.push({ keys, context, resolve: resolve as Call['resolve'], reject });
    });
  };
  return { calls, ...fakeCache({ loadMany, ...options }) };
}

const keysOf = (calls: readonly Call[]): (readonly string[])[] => calls.map(({ keys }) => keys);

describe('reads that join', () => {
  it('10,000 concurrent gets with a batch size of 500 are 20 calls of 500', async () => {
    const { calls, cache } = make(async (keys) => all(keys), { batchSize: 500 });
    const keys = Array.from({ length: 10_000 }, (_, index) => `${index}`);
    const values = await Promise.all(keys.map((key) => cache.get(key)));
    expect(values).toEqual(keys.map((key) => `v${key}`));
    expect(calls.map(({ keys: { length } }) => length)).toEqual(Array(20).fill(500));
    expect(keysOf(calls).flat()).toEqual(keys);
  });

  it('without a batch size they are one call; all readers of a key are one of its keys', async () => {
    const { calls, cache } = make();
    await Promise.all(['a', 'b', 'a', 'c', 'b'].map((key) => cache.get(key)));
    expect(keysOf(calls)).toEqual([['a', 'b', 'c']]);
  });

  it('also after an await of what is resolved, and with current and refresh', async () => {
    const { clock, calls, cache } = make();
    cache.set('r', 'old');
    const late = async (key: string): Promise<string> => {
      await Promise.resolve();
      return cache.get(key);
    };
    const reads = [cache.get('a'), late('b'), cache.refresh('r'), late('c')];
    thrownBy(() => cache.current('d'));
    expect(await Promise.all(reads)).toEqual(['va', 'vb', 'vr', 'vc']);
    expect(keysOf(calls).map((keys) => keys.toSorted())).toEqual([['a', 'b', 'c', 'd', 'r']]);
    const next = cache.get('e');
    await clock.flush();
    await Promise.all([next, cache.get('f')]);
    expect(keysOf(calls).slice(1)).toEqual([['e'], ['f']]);
  });

  it('also one after the other, as long as there is but a little between them', async () => {
    const { calls, cache } = make();
    const reads = ['a', 'b', 'c', 'd'].map(async (key, index) => {
      for (let turn = 0; turn < 5 * index; turn++) await Promise.resolve();
      return cache.get(key);
    });
    expect(await Promise.all(reads)).toEqual(['va', 'vb', 'vc', 'vd']);
    expect(keysOf(calls)).toEqual([['a', 'b', 'c', 'd']]);
  });

  it('due keys are reloaded in one call behind their readers', async () => {
    const { clock, calls, cache } = make();
    await cache.getMany(['a', 'b', 'c']);
    await clock.advance(1000);
    expect(['a', 'b', 'c'].map((key) => cache.current(key))).toEqual(['va', 'vb', 'vc']);
    expect(calls).toHaveLength(1);
    await clock.flush();
    expect(keysOf(calls)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    const { attempt, trigger, background, previous } = (calls[1] as Call).context;
    expect([attempt, trigger, background, [...previous.keys()]]).toEqual([1, 'due', true, ['a', 'b', 'c']]);
    expect(previous.get('b')).toEqual({ value: 'vb', loadedAt: clock.now() - 1000 });
  });

  it('the context is in the background only if no caller waits for any of the keys', async () => {
    const { clock, calls, cache } = make();
    await cache.get('a');
    await clock.advance(1000);
    cache.current('a');
    await cache.get('b');
    const { background, previous, signal } = (calls[1] as Call).context;
    expect([(calls[1] as Call).keys, background, [...previous.keys()]]).toEqual([['b', 'a'], false, ['a']]);
    expect(signal.aborted).toBe(false);
  });

  it('a batch never holds up a key that is loaded', async () => {
    const { clock, calls, cache } = make('manual');
    cache.set('a', 'held');
    await clock.advance(1000);
    const many = cache.getMany(['a', 'b']);
    expect([cache.current('a'), await settled(cache.get('a'))]).toEqual(['held', { value: 'held' }]);
    await clock.flush();
    expect([cache.current('a'), await settled(cache.get('a'))]).toEqual(['held', { value: 'held' }]);
    expect({ many: await settled(many), calls: calls.length }).toEqual({ many: 'pending', calls: 1 });
  });
});

describe('getMany', () => {
  it('keeps the order of the keys, loads only the cold ones, and omits the absent ones', async () => {
    const { calls, cache } = make(
      (keys) => new Map(keys.map((key) => [key, key === 'x' ? absent() : `v${key}`])),
    );
    cache.set('b', 'held');
    const found = await cache.getMany(new Set(['c', 'x', 'b', 'a']));
    expect([...found]).toEqual([
      ['c', 'vc'],
      ['b', 'held'],
      ['a', 'va'],
    ]);
    expect(keysOf(calls)).toEqual([['c', 'x', 'a']]);
    expect([...(await cache.getMany(['x', 'c', 'c'])), calls.length]).toEqual([['c', 'vc'], 1]);
    expect((await cache.getMany([])).size).toBe(0);
  });

  const failing = (keys: readonly string[]): unknown =>
    new Map(keys.map((key) => [key, key.startsWith('!') ? new Error(`no ${key}`) : `v${key}`]));

  it('rejects with the error of the key that failed, of several with all of theirs; onError takes them instead', async () => {
    const { cache } = make(failing);
    const error = await rejectionOf(cache.getMany(['a', '!b', 'c', '!b']));
    expect(error).toMatchObject({ code: 'LOAD_FAILED', key: '!b', cause: { message: 'no !b' } });
    expect({ peekA: cache.peek('a'), peekC: cache.peek('c') }).toEqual({ peekA: 'va', peekC: 'vc' });
    const { cache: other } = make(failing);
    const several = (await rejectionOf(other.getMany(['!b', 'a', '!a']))) as AggregateError;
    expect(several).toBeInstanceOf(AggregateError);
    expect(several.message).toMatch(/^c: 2 keys could not be read: .*no !b/);
    const codes = ['!b', '!a'].map((key) => ({ code: 'LOAD_FAILED', key }));
    expect(several.errors).toMatchObject(codes);
    const { cache: third } = make(failing);
    const told: object[] = [];
    const onError = (error: unknown, key: string): void =>
      void told.push({ code: (error as TicklessError).code, key });
    expect([...(await third.getMany(['!b', 'b', '!a'], { onError }))]).toEqual([['b', 'vb']]);
    expect(told).toEqual(codes);
  });

  it('its signal ends the wait with its reason, and no load', async () => {
    const { clock, calls, cache } = make('manual');
    const controller = new AbortController();
    const many = rejectionOf(cache.getMany(['a', 'b'], { signal: controller.signal }));
    await clock.flush();
    const reason = new Error('client gone');
    controller.abort(reason);
    expect(await many).toBe(reason);
    expect((calls[0] as Call).context.signal.aborted).toBe(false);
  });
});

describe('keys that the result lacks', () => {
  const without = (key: string) => (keys: readonly string[]) => all(keys.filter((one) => one !== key));

  it('by default are absent: no line, no failure, and the source is asked again after absentFor', async () => {
    const logger = recordLines();
    const { clock, calls, cache } = make(without('b'), { absentFor: 500, logger });
    expect([...(await cache.getMany(['a', 'b']))]).toEqual([['a', 'va']]);
    expect(await rejectionOf(cache.get('b'))).toMatchObject({ code: 'ABSENT', key: 'b' });
    expect({ lines: logger.lines, calls: calls.length }).toEqual({ lines: [], calls: 1 });
    await clock.advance(500);
    await rejectionOf(cache.get('b'));
    expect(keysOf(calls)).toEqual([['a', 'b'], ['b']]);
  });

  it('have failed beside keys that were not requested: these may be of another type', async () => {
    const loadMany = (keys: readonly number[]) => new Map(keys.map((key) => [`${key}` as never, 'v']));
    const { cache } = fakeCache<number>({ loadMany });
    const error = (await rejectionOf(cache.get(1))) as Error;
    expect(error.message).toContain('left it out, and returned "1", which was not requested: another type');
  });
});

describe('a plain object in place of the Map', () => {
  const record = (entries: [string, unknown][]): unknown => Object.fromEntries(entries);

  it('has the results by key, of strings, of numbers, and of the result of keyOf', async () => {
    const strings = make((keys) => record(keys.map((key) => [key, key === 'x' ? absent() : `v${key}`])));
    expect([...(await strings.cache.getMany(['a', 'x', '__proto__']))]).toEqual([
      ['a', 'va'],
      ['__proto__', 'v__proto__'],
    ]);
    const numbers = new RefreshingCache({
      name: 'c',
      loadMany: async (ids: readonly number[]) => Object.fromEntries(ids.map((id) => [id, id * 2])),
    });
    expect(await numbers.get(21)).toBe(42);
    const objects = new RefreshingCache({
      name: 'c',
      loadMany: (keys: readonly { id: string }[]) => Object.fromEntries(keys.map(({ id }) => [id, `v${id}`])),
      keyOf: ({ id }) => id,
    });
    expect(await objects.get({ id: 'a' })).toBe('va');
  });

  it('lacks what it only inherits; keys that were not requested are logged', async () => {
    const logger = recordLines();
    const { cache } = make(() => ({ x: 'vx' }), { logger });
    for (const key of ['toString', '__proto__']) {
      expect(await rejectionOf(cache.get(key))).toMatchObject({ code: 'LOAD_FAILED', key });
    }
    expect(logger.lines[0]).toMatch(/not requested.*"x"/);
  });
});

describe('invalid results', () => {
  it('keys that were not requested are logged once, and not kept', async () => {
    const logger = recordLines();
    const answer = (keys: readonly string[]): unknown => all([...keys, 'x', 'y']);
    const { cache } = make(answer, { logger });
    expect([...(await cache.getMany(['a', 'b'])).values()]).toEqual(['va', 'vb']);
    expect([cache.size, cache.peek('x'), logger.lines.length]).toEqual([2, undefined, 1]);
    expect(logger.lines[0]).toMatch(/^error tickless: c: .*not requested.*"x"/);
  });

  it('an unrequested key that keyOf rejects does not affect the others', async () => {
    const { cache } = fakeCache<{ id: string }>({
      loadMany: (keys) => new Map([...keys.map((key) => [key, key.id] as const), [null as never, 'x']]),
      keyOf: ({ id }) => id,
    });
    expect(await cache.get({ id: 'a' })).toBe('a');
  });

  const none: [string, () => unknown][] = [
    ['undefined', () => undefined],
    ['null', () => null],
    ['an array', () => [['a', 'va']]],
    ['an instance of a class', () => new URL('https://a.example')],
    ['a Set', () => new Set(['a'])],
    ['a promise of an array', async () => ['va']],
    ['an object that calls itself a Map', () => ({ [Symbol.toStringTag]: 'Map' })],
  ];
  for (const [what, answer] of none) {
    it(`${what} in place of the Map fails every key by itself`, async () => {
      const { cache } = make(answer);
      const settledAll = await Promise.allSettled(['a', 'b'].map((key) => cache.get(key)));
      const error = { code: 'LOAD_FAILED', attempts: 1, cause: { name: 'TypeError' } };
      expect(settledAll).toMatchObject(['a', 'b'].map((key) => ({ reason: { ...error, key } })));
      if (what === 'an array')
        expect(String((settledAll[0] as PromiseRejectedResult).reason)).toContain('a Map');
    });
  }

  it.each([true, false])(
    'an error is the cause of the failure of each key, as a rejection: %s',
    async (isAsync) => {
      const cause = new Error('down');
      const { clock, cache } = make(() => {
        if (isAsync) return Promise.reject(cause);
        throw cause;
      });
      const errors = await Promise.all(['a', 'b'].map((key) => rejectionOf(cache.get(key))));
      expect(errors).toMatchObject(['a', 'b'].map((key) => ({ key, cause })));
      expect(clock.timerCount).toBe(0);
    },
  );

  it('a Map of another realm, a thenable Map, and promises in it are accepted', async () => {
    const foreign = make((keys) => runInNewContext('new Map(keys.map((key) => [key, key]))', { keys }));
    expect(await foreign.cache.get('a')).toBe('a');
    const thenable = make((keys) => ({ then: (done: (answers: unknown) => void) => done(all(keys)) }));
    expect(await thenable.cache.get('a')).toBe('va');
    const foreignError = make((keys) => runInNewContext('new Map([[keys[0], new Error("no")]])', { keys }));
    expect(await rejectionOf(foreignError.cache.get('a'))).toMatchObject({ cause: { message: 'no' } });
    const promises = make((keys) => new Map(keys.map((key) => [key, Promise.resolve(`p${key}`)])));
    expect([...(await promises.cache.getMany(['a', 'b'])).values()]).toEqual(['pa', 'pb']);
  });

  it('each result may be anything that a load may return', async () => {
    const { clock, cache } = make(
      (keys) => new Map(keys.map((key) => [key, loaded(key, { maxStaleness: 5000 })])),
    );
    expect(await cache.get('a')).toBe('a');
    expect(cache.inspect('a')).toMatchObject({ maxStaleness: 5000, loadedAt: clock.now() });
  });
});

describe('tries, deadlines, aborts', () => {
  it('the tries of keys that failed together are one call each', async () => {
    const retry = { retries: 2, minTimeout: 100, factor: 1, randomize: false };
    const { clock, calls, cache } = make((keys) => new Map(keys.map((key) => [key, new Error('down')])), {
      retry,
    });
    const failures = ['a', 'b', 'c'].map((key) => rejectionOf(cache.get(key)));
    await clock.advance(300);
    expect(await Promise.all(failures)).toMatchObject([{ attempts: 3 }, { attempts: 3 }, { attempts: 3 }]);
    expect(keysOf(calls)).toEqual(Array(3).fill(['a', 'b', 'c']));
    expect(calls.map(({ context: { attempt } }) => attempt)).toEqual([1, 2, 3]);
    expect(clock.timerCount).toBe(0);
  });

  it('only those that failed are tried again, in one call also when they came in several', async () => {
    const retry = { retries: 1, minTimeout: 100, randomize: false };
    const answer = (keys: readonly string[], call: number): unknown =>
      call > 2
        ? all(keys)
        : new Map(keys.map((key, index) => [key, index === 0 ? new Error('down') : `v${key}`]));
    const { clock, calls, cache } = make(answer, { retry, batchSize: 2 });
    const found = cache.getMany(['a', 'b', 'c', 'd']);
    await clock.advance(100);
    expect([...(await found).keys()]).toEqual(['a', 'b', 'c', 'd']);
    expect(keysOf(calls)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['a', 'c'],
    ]);
  });

  it('a call that never settles is ended by the deadline of its keys, and then aborted', async () => {
    const { clock, calls, cache } = make('manual', { timeout: 500 });
    const late = ['a', 'b', 'c'].map((key) => rejectionOf(cache.get(key)));
    await clock.advance(499);
    const { signal } = (calls[0] as Call).context;
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    const errors = await Promise.all(late);
    expect(errors).toMatchObject(['a', 'b', 'c'].map((key) => ({ code: 'TIMED_OUT', key, attempts: 1 })));
    expect([signal.aborted, clock.timerCount, calls.length]).toEqual([true, 0, 1]);
  });

  it('one key that is deleted is loaded anew; the call is aborted only when all of its keys are over', async () => {
    const { clock, calls, cache } = make('manual');
    const reads = ['a', 'b'].map((key) => cache.get(key));
    await clock.flush();
    const { signal } = (calls[0] as Call).context;
    cache.delete('a');
    const after = cache.get('a');
    (calls[0] as Call).resolve(new Map(all(['a', 'b'])).set('a', 'old'));
    expect(await Promise.all(reads)).toEqual(['old', 'vb']);
    for (let i = 0; i < 3; i++) await clock.flush();
    expect([signal.aborted, keysOf(calls)]).toEqual([false, [['a', 'b'], ['a']]]);
    expect({ peekA: cache.peek('a'), peekB: cache.peek('b') }).toEqual({ peekA: undefined, peekB: 'vb' });
    (calls[1] as Call).resolve(all(['a']));
    expect(await after).toBe('va');

    const both = [cache.refresh('a'), cache.refresh('b')];
    await clock.flush();
    for (const key of ['a', 'b']) cache.set(key, 'by hand');
    expect((calls[2] as Call).context.signal.aborted).toBe(true);
    expect(await Promise.all(both)).toEqual(['by hand', 'by hand']);
  });

  for (const how of ['invalidate', 'invalidateTag'] as const) {
    it(`after ${how} of all keys of a call, their successors come in one call too`, async () => {
      const { clock, calls, cache } = make('manual');
      void cache.getMany(['a', 'b', 'c']);
      await clock.flush();
      if (how === 'invalidate') cache.invalidate();
      else cache.invalidateTag('t');
      const many = cache.getMany(['a', 'b', 'c']);
      (calls[0] as Call).resolve(
        new Map(['a', 'b', 'c'].map((key) => [key, loaded('old', { tags: ['t'] })])),
      );
      for (let i = 0; i < 4; i++) {
        await clock.flush();
        for (const { keys, resolve } of calls.slice(1)) resolve(all(keys));
      }
      expect(await settled(many)).toEqual({ value: all(['a', 'b', 'c']) });
      expect(keysOf(calls)).toEqual(Array(2).fill(['a', 'b', 'c']));
    });
  }

  it('a key deleted before the call starts is not in it', async () => {
    const { calls, cache } = make();
    const read = cache.get('a');
    const gone = cache.get('b', { signal: AbortSignal.abort() });
    thrownBy(() => cache.current('c'));
    cache.delete('c');
    await rejectionOf(gone);
    expect({ read: await read, keysOfCalls: keysOf(calls) }).toEqual({ read: 'va', keysOfCalls: [['a']] });
  });

  describe('a call without any keys left', () => {
    it('is not made, and nothing is rejected behind', async () => {
      const unhandled = unhandledRejections();
      const { clock, calls, cache } = make();
      thrownBy(() => cache.current('a'));
      cache.delete('a');
      for (let i = 0; i < 3; i++) await clock.flush();
      expect({ calls, size: cache.size, unhandled }).toEqual({ calls: [], size: 0, unhandled: [] });
    });

    it('nor a second try, which a timer would start', async () => {
      const unhandled = unhandledRejections();
      let isDown = true;
      const { clock, calls, cache } = make(
        async (keys) => {
          if (isDown) throw new Error('down');
          return all(keys);
        },
        { retry: { retries: 1, minTimeout: 100, factor: 1, randomize: false } },
      );
      const read = rejectionOf(cache.get('a'));
      await clock.advance(99);
      isDown = false;
      let isDropped = false;
      const { setTimeout: start } = clock;
      vi.spyOn(clock, 'setTimeout').mockImplementation((callback, delayMs) => {
        const timer = start.call(clock, callback, delayMs);
        if (delayMs === 0 && !isDropped) {
          isDropped = true; // it has just been enqueued
          void cache.close({ timeout: 0 });
        }
        return timer;
      });
      await clock.advance(100);
      for (let i = 0; i < 3; i++) await clock.flush();
      expect(await read).toMatchObject({ code: 'CLOSED' });
      expect([isDropped, calls.length, unhandled]).toEqual([true, 1, []]);
    });
  });

  it('close aborts the call when it has waited long enough', async () => {
    const { clock, calls, cache } = make('manual');
    const waiting = ['a', 'b'].map((key) => rejectionOf(cache.get(key)));
    await clock.flush();
    void cache.close({ timeout: 100 });
    await clock.advance(100);
    expect(await Promise.all(waiting)).toMatchObject(['a', 'b'].map((key) => ({ code: 'CLOSED', key })));
    expect((calls[0] as Call).context.signal.aborted).toBe(true);
  });
});

it('an object by key is refused for keys of the same text: their values can not be told apart', async () => {
  const loadMany = async (keys: readonly (string | number)[]) =>
    Object.fromEntries(keys.map((key) => [key, `value of ${key}`]));
  const { cache } = fakeCache<string | number>({ loadMany });
  const errors: unknown[] = [];
  const found = await cache.getMany([1, '1', 2], { onError: (error) => void errors.push(error) });
  expect(found).toEqual(new Map([[2, 'value of 2']]));
  expect(errors.map(String)).toEqual(Array(2).fill(expect.stringContaining('return a Map')));
});
