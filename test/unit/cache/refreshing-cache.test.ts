import { describe, expect, it } from 'vitest';
import {
  absent,
  type Execution,
  type KeyContext,
  type LoadContext,
  RefreshGroup,
  RefreshingCache,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordEvents, recordLines, wordOf } from '../../support/events.ts';
import { type FakeCache, type FakeCacheOptions, fakeCache } from '../../support/fake-cache.ts';
import { HoldingClock } from '../../support/holding-clock.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

/** A cache that loads `a1` for `a`, then `a2`; a key that begins with `!` fails. */
function counting(options: FakeCacheOptions = {}): FakeCache & { contexts: KeyContext<string, string>[] } {
  const contexts: KeyContext<string, string>[] = [];
  const load = async (key: string, context: KeyContext<string, string>): Promise<string> => {
    contexts.push(context);
    if (key.startsWith('!')) throw new Error(`no ${key}`);
    return `${key}${contexts.filter((other) => other.key === key).length}`;
  };
  return { contexts, ...fakeCache({ load, ...options }) };
}

describe('reading', () => {
  it('the first read of a key waits, later ones are served and reload it behind them', async () => {
    const { clock, contexts, cache } = counting();
    expect(await cache.get('a')).toBe('a1');
    expect([await cache.get('a'), cache.current('a')]).toEqual(['a1', 'a1']);
    expect(contexts).toHaveLength(1);
    await clock.advance(1000);
    expect(cache.current('a')).toBe('a1');
    await clock.flush();
    expect(cache.current('a')).toBe('a2');
  });

  it('the error of a synchronous load is the cause of the error of current', () => {
    const { cache } = fakeCache<number, number>({
      load: () => {
        throw new Error('down');
      },
    });
    const error = thrownBy(() => cache.current(7));
    expect(error).toMatchObject({ code: 'NOT_LOADED', key: 7, cause: { cause: { message: 'down' } } });
  });

  it('peek and inspect start nothing', async () => {
    const { clock, contexts, cache } = counting();
    expect([cache.peek('a'), cache.inspect('a')]).toEqual([undefined, undefined]);
    await cache.get('a');
    await clock.advance(1500);
    expect(cache.peek('a')).toBe('a1');
    expect(cache.inspect('a')).toMatchObject({ name: 'c', value: 'a1', state: 'stale', age: 1500 });
    await clock.flush();
    expect(contexts).toHaveLength(1);
  });

  it('inspect reports a key that has failed, and one that loads', async () => {
    const { cache } = counting();
    const failed = rejectionOf(cache.get('!'));
    expect(cache.inspect('!')).toMatchObject({ state: 'empty', running: true });
    const error = await failed;
    expect(cache.inspect('!')).toMatchObject({
      state: 'empty',
      running: false,
      failures: 1,
      lastError: error,
    });
  });

  it('patience waits for the reload of its key; an invalid one is rejected also while the value is fresh', async () => {
    const { clock, cache } = counting();
    await cache.get('a');
    expect(await rejectionOf(cache.get('a', { patience: -1 }))).toMatchObject(ofOption('patience'));
    expect(await cache.get('a', { patience: 1 })).toBe('a1');
    await clock.advance(1000);
    expect(await cache.get('a', { patience: 100 })).toBe('a2');
  });

  it('refresh loads now, and rejects with the error of its key', async () => {
    const { contexts, cache } = counting();
    await cache.get('a');
    expect(await cache.refresh('a')).toBe('a2');
    const error = { code: 'LOAD_FAILED', key: '!b', member: 'c' };
    expect(await rejectionOf(cache.refresh('!b'))).toMatchObject(error);
    expect(contexts.map(({ key }) => key)).toEqual(['a', 'a', '!b']);
  });
});

describe('getIfPresent', () => {
  it('loads as get does, and is undefined for a key that the source does not have', async () => {
    let asked = 0;
    const load = (key: string) => (++asked > 0 && key === 'a' ? 'one' : absent());
    const { clock, cache } = fakeCache({ load, absentFor: '1m' });
    const reads = [cache.getIfPresent('a'), cache.getIfPresent('b'), cache.getIfPresent('b')];
    expect(await Promise.all(reads)).toEqual(['one', undefined, undefined]);
    expect([await cache.getIfPresent('b'), asked]).toEqual([undefined, 2]); // remembered as absent
    await clock.advance('1m');
    expect([await cache.getIfPresent('b'), asked]).toEqual([undefined, 3]);
  });

  it('rejects where get does: a failed load is not an answer, one of another cache neither', async () => {
    const other = new RefreshingCache({ name: 'other', load: () => absent(), clock: new FakeClock() });
    const load = async (key: string) => (key === 'a' ? Promise.reject(new Error('down')) : other.get(key));
    const { cache: failing } = fakeCache<string, unknown>({ load });
    expect(await rejectionOf(failing.getIfPresent('a'))).toMatchObject({ code: 'LOAD_FAILED', key: 'a' });
    expect(await rejectionOf(failing.getIfPresent('a'))).toMatchObject({ code: 'COOLING_DOWN' });
    expect(await rejectionOf(failing.getIfPresent('b'))).toMatchObject({ code: 'LOAD_FAILED', key: 'b' });
    expect(await rejectionOf(failing.getIfPresent(undefined as never))).toMatchObject({ code: 'OPTION' });
  });
});

describe('the load context', () => {
  it('its key, why it runs, which try it is, and the value before', async () => {
    const { clock, contexts, cache } = counting();
    await cache.get('a');
    await cache.get('b');
    const loadedAt = clock.now();
    await clock.advance(1000);
    cache.current('a');
    await clock.flush();
    await cache.refresh('a');
    cache.invalidate('b');
    cache.current('b');
    await clock.flush();
    const told = contexts.map(({ key, attempt, trigger, background, previous }) => {
      return [key, attempt, trigger, background, previous?.value];
    });
    expect(told).toEqual([
      ['a', 1, 'first', false, undefined],
      ['b', 1, 'first', false, undefined],
      ['a', 1, 'due', true, 'a1'],
      ['a', 1, 'forced', false, 'a2'],
      ['b', 1, 'invalidated', true, 'b1'],
    ]);
    expect(contexts.at(-1)?.previous?.loadedAt).toBe(loadedAt);
    expect(contexts.every(({ signal }) => signal instanceof AbortSignal && !signal.aborted)).toBe(true);
  });

  it('events carry the key', async () => {
    const { clock, cache } = counting({ maxStaleness: 1500, load: (key) => key });
    const events = recordEvents(cache);
    await cache.get('a');
    await clock.advance(1200);
    cache.current('a');
    await clock.flush();
    await clock.advance(2000);
    cache.current('a');
    const failing = counting();
    const failures = recordEvents(failing.cache);
    await rejectionOf(failing.cache.get('!'));
    expect(events.map((event) => [wordOf(event), 'key' in event && event.key])).toEqual([
      ['load-started', 'a'],
      ['loaded', 'a'],
      ['load-started', 'a'],
      ['stale-served', 'a'],
      ['loaded', 'a'],
      ['too-stale', 'a'],
      ['load-started', 'a'],
      ['loaded', 'a'],
    ]);
    expect(failures.map((event) => [wordOf(event), 'key' in event && event.key])).toEqual([
      ['load-started', '!'],
      ['failed', '!'],
    ]);
  });
});

describe('by hand', () => {
  it('set holds a value without a load, invalidate reloads it, delete and clear forget', async () => {
    const { clock, contexts, cache } = counting();
    cache.set('a', 'hand');
    expect([cache.current('a'), await cache.get('a'), contexts.length]).toEqual(['hand', 'hand', 0]);
    cache.invalidate('a');
    expect(cache.current('a')).toBe('hand');
    await clock.flush();
    expect(cache.current('a')).toBe('a1');
    const deleted = [cache.delete('a'), cache.delete('a')];
    expect(cache.peek('a')).toBe(undefined);
    expect(await Promise.all(deleted)).toEqual([true, false]);
    cache.set('a', 'x');
    cache.set('b', 'y');
    cache.clear();
    expect([cache.size, cache.peek('a'), [...cache.keys()]]).toEqual([0, undefined, []]);
  });

  it('invalidate without a key is about all keys; a key that is undefined is refused', async () => {
    const { clock, contexts, cache } = counting();
    await cache.getMany(['a', 'b']);
    cache.invalidate();
    expect([cache.current('a'), cache.current('b'), cache.inspect('a')?.state]).toEqual([
      'a1',
      'b1',
      'stale',
    ]);
    await clock.flush();
    expect(contexts).toHaveLength(4);
    cache.invalidate('a', { drop: true });
    expect({ peekA: cache.peek('a'), peekB: cache.peek('b') }).toEqual({ peekA: undefined, peekB: 'b2' });
    expect(() => cache.invalidate(undefined, { drop: true })).toThrow('must not be undefined');
    expect(cache.size).toBe(1);
  });

  it('set refuses undefined and a promise, and names the key', () => {
    const { cache } = counting();
    for (const [bad, rule] of [
      [undefined, 'not be undefined'],
      [Promise.resolve('x'), 'promise'],
    ] as const) {
      const error = { code: 'OPTION', key: 'a', message: expect.stringMatching(`value must.*${rule}`) };
      expect(thrownBy(() => cache.set('a', bad as never))).toMatchObject(error);
    }
    expect(cache.size).toBe(0);
  });
});

describe('keys', () => {
  it('may be any primitive but undefined', async () => {
    let loads = 0;
    const { cache } = fakeCache<unknown, number>({ load: () => ++loads });
    const keys = [0, 1, '1', '', Number.NaN, null, false, 1n, Symbol('s')];
    keys.forEach((key, index) => {
      expect(cache.current(key)).toBe(index + 1);
      expect(cache.current(key)).toBe(index + 1);
    });
    expect([...cache.keys()]).toEqual(keys);
    expect([cache.peek(null), cache.peek(keys[8])]).toEqual([6, 9]);
    expect(await Promise.all([cache.delete(Number.NaN), cache.delete(null)])).toEqual([true, true]);
    expect(cache.size).toBe(keys.length - 2);
  });

  it('are each walked over once with recentFirst, also where each step uses its key', async () => {
    const cache = new RefreshingCache<string, string>({ name: 'c', load: (key) => key, logger: false });
    for (const key of ['a', 'b', 'c', 'd', 'e']) cache.set(key, key);
    const seen: string[] = [];
    for (const key of cache.keys({ recentFirst: true })) seen.push(cache.current(key));
    expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
  });

  it('are walked over one by one with recentFirst, those that were used last first, as they are then', () => {
    const keyOf = ({ id }: { id: string }): string => id;
    const cache = new RefreshingCache({ name: 'c', keyOf, load: keyOf, clock: new FakeClock() });
    for (const id of ['a', 'b', 'c', 'd']) cache.current({ id });
    const walk = cache.keys({ recentFirst: true });
    expect(walk.next().value).toEqual({ id: 'd' });
    cache.delete({ id: 'c' });
    expect([...walk]).toEqual([{ id: 'b' }, { id: 'a' }]);
  });

  it('keyOf decides which objects are the same, and the load gets the key as it was given', async () => {
    const seen: unknown[] = [];
    const { cache } = fakeCache<{ id: string }>({
      load: async (key, context) => {
        seen.push(key, context.key);
        return key.id.toUpperCase();
      },
      keyOf: ({ id }) => id,
    });
    const first = { id: 'a' };
    expect([await cache.get(first), await cache.get({ id: 'a' }), cache.size]).toEqual(['A', 'A', 1]);
    expect(seen).toEqual([first, first]);
    expect([...cache.keys()][0]).toBe(first);
    expect([cache.peek({ id: 'a' }), await cache.delete({ id: 'a' }), cache.size]).toEqual(['A', true, 0]);
  });

  it('objects as keys need keyOf, by their type and at each call', async () => {
    const load = async ({ id }: { id: string }): Promise<string> => id.toUpperCase();
    // @ts-expect-error two equal ones are never the same
    const cache = new RefreshingCache({ name: 'c', load });
    // @ts-expect-error the same
    new RefreshGroup().cache({ name: 'c', load: async (key: string | Date) => String(key) });
    type Branded = string & { readonly brand: 'code' };
    new RefreshingCache({ name: 'c', load: async (key: Branded | null | symbol) => String(key) });
    const key = { id: 'a' };
    const [current, set] = [() => cache.current(key), () => cache.set(key, 'A')];
    const thrown = [current, set, () => cache.peek(key), () => cache.delete(key)].map(thrownBy);
    const rejected = [cache.get(key), cache.getMany([key]), cache.get((() => {}) as never)].map(rejectionOf);
    const message = expect.stringMatching('keyOf .*keys that are objects');
    for (const error of [...thrown, ...(await Promise.all(rejected))]) {
      expect(error).toMatchObject({ code: 'OPTION', message });
    }
    expect(cache.inspect().counts).toMatchObject({ loaded: 0 });
    const other = new RefreshingCache<unknown, string>({ name: 'c', load: String });
    expect([await other.get(null), await other.get(1n)]).toEqual(['null', '1']);
  });

  for (const keyOf of [undefined, (key: unknown) => (key as { id: string }).id]) {
    it(`undefined is refused as a key, ${keyOf === undefined ? 'without' : 'with'} keyOf`, async () => {
      let loads = 0;
      const options = { name: 'c', load: async () => ++loads, clock: new FakeClock() };
      const cache = new RefreshingCache<unknown, number>({ ...options, keyOf });
      for (const id of 'abc') cache.set(keyOf === undefined ? id : { id }, 0);
      const key = undefined as never;
      const promises = [cache.get(key), cache.refresh(key), cache.getMany([key])];
      for (const error of await Promise.all(promises.map(rejectionOf))) {
        expect(error).toMatchObject(ofOption('key'));
      }
      for (const act of ['current', 'peek', 'inspect', 'delete'] as const) {
        expect(thrownBy(() => cache[act](key))).toMatchObject(ofOption('key'));
      }
      expect(thrownBy(() => cache.set(key, 1))).toMatchObject(ofOption('key'));
      expect({ loads, size: cache.size }).toEqual({ loads: 0, size: 3 });
    });
  }

  it('keyOf may return another key for a key', async () => {
    const load = (key: string): string => `v${key}`;
    const keyOf = (key: string): string => [...key].reverse().join('');
    const cache = new RefreshingCache({ name: 'c', load, keyOf, clock: new FakeClock() });
    for (let read = 0; read < 2; read++) {
      expect(['ab', 'ba'].map((key) => cache.current(key))).toEqual(['vab', 'vba']);
      expect([await cache.get('ab'), await cache.get('ba')]).toEqual(['vab', 'vba']);
    }
  });

  it('a keyOf that returns an invalid key is rejected', async () => {
    for (const none of [undefined, null, {}, () => 1, Promise.resolve('a')]) {
      const keyOf = () => none as never;
      const cache = new RefreshingCache({ name: 'c', load: (_: object) => 1, keyOf });
      const error = { member: 'c', ...ofOption('keyOf', 'must return a string') };
      expect(await rejectionOf(cache.get({}))).toMatchObject(error);
      expect(thrownBy(() => cache.current({}))).toMatchObject(error);
    }
  });
});

describe('its life', () => {
  it('paused it serves, and starts nothing until it is resumed', async () => {
    const { clock, contexts, cache } = counting();
    await cache.get('a');
    cache.pause();
    await clock.advance(1000);
    expect(cache.current('a')).toBe('a1');
    expect(await rejectionOf(cache.get('b'))).toMatchObject({ code: 'NOT_LOADED', key: 'b' });
    await clock.flush();
    expect(contexts).toHaveLength(1);
    cache.resume();
    cache.current('a');
    await clock.flush();
    expect(cache.current('a')).toBe('a2');
  });

  it('requestStart without options resolves at once, and keeps no process alive', async () => {
    const clock = new HoldingClock();
    const logger = recordLines();
    const manual = new ManualLoad<string>();
    const load = (_: string, context: LoadContext) => manual.load(context);
    const { cache } = counting({ clock, logger, load, timeout: 500 });
    cache.set('a', 'old');
    await clock.advance(1000);
    expect(await settled(cache.requestStart())).toEqual({ value: undefined });
    await clock.flush();
    expect({ live: manual.live, held: clock.held }).toEqual({ live: 1, held: 0 });
    const wait = cache.requestStart({ wait: true });
    expect({ wait: await settled(wait), held: clock.held }).toEqual({ wait: 'pending', held: 1 });
    manual.call(0).resolve('new');
    await wait;
    expect(logger.lines).toEqual([]);
  });

  it('requestStart does not wait for a key that cools down', async () => {
    const { cache } = counting({ load: () => Promise.reject(new Error('down')) });
    cache.set('a', 'v');
    await rejectionOf(cache.refresh('a'));
    expect(await settled(cache.requestStart({ wait: true }))).toEqual({ value: undefined });
  });

  it('a subclass may decide when a key is loaded next', async () => {
    const clock = new FakeClock();
    let loads = 0;
    class ByValue extends RefreshingCache<number, number> {
      protected override nextExecuteTime({ endedAt, result }: Execution): number {
        return endedAt + (result as number);
      }
    }
    const load = (key: number): number => {
      loads += 1;
      return key;
    };
    const cache = new ByValue({ name: 'c', load, clock });
    expect([cache.current(100), cache.current(300)]).toEqual([100, 300]);
    await clock.advance(100);
    expect([cache.inspect(100)?.isDue, cache.inspect(300)?.isDue]).toEqual([true, false]);
    cache.current(100);
    cache.current(300);
    await clock.flush();
    expect(loads).toBe(3);
  });
});
