import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  absent,
  derive,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
  refreshing,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { ofOption } from '../../support/option-errors.ts';

const clock = new FakeClock();
const quiet = { clock, logger: false, retry: false } as const;

/** The calls of a load with these parameters, as a text each. */
function recorded(): { calls: string[]; record: (...args: unknown[]) => string } {
  const calls: string[] = [];
  const record = (...args: unknown[]): string => {
    calls.push(args.join());
    return `${calls.at(-1)} #${calls.length}`;
  };
  return { calls, record };
}

describe('a function without arguments', () => {
  it('reads as a value does: one load for many calls, then served behind a reload', async () => {
    const answers = [new Deferred<string>(), new Deferred<string>()];
    let loads = 0;
    const rates = refreshing(() => (answers[loads++] as Deferred<string>).promise, {
      ...quiet,
      schedule: '10m',
    });
    const reads = [rates(), rates(), rates.get()];
    answers[0]?.resolve('one');
    expect(await Promise.all(reads)).toEqual(['one', 'one', 'one']);
    await clock.advance('10m');
    expect([await rates(), rates.current, rates.inspect().state]).toEqual(['one', 'one', 'stale']);
    answers[1]?.resolve('two');
    expect([await rates.refresh(), rates.peek(), loads]).toEqual(['two', 'two', 2]);
    expect(rates()).toBe(rates());
  });

  it('has the public members of RefreshingValue, on the value behind it', async () => {
    const rates = refreshing(() => 1, { ...quiet, name: 'rates' });
    const events: string[] = [];
    rates.on('*', ({ type }) => events.push(type));
    rates.set(5);
    rates.pause();
    expect([rates.current, rates.member.current, rates.inspect().counts.reads]).toEqual([5, 5, 2]);
    expect(rates.member).toBeInstanceOf(RefreshingValue);
    expect(rates.name).toBe('rates');
    await rates[Symbol.asyncDispose]();
    expect(events).toEqual(['changed', 'paused', 'closed']);
    expect('nextExecuteTime' in rates).toBe(false);
    expect(typeof rates.bind).toBe('function');
  });

  it('is a source of derived values and a member of groups', async () => {
    const group = new RefreshGroup(quiet);
    const rates = refreshing(async () => 2, { name: 'rates', group, required: true });
    const doubled = derive(rates, (rate) => rate * 2);
    expect([(await group.ready()).ok, doubled.current]).toEqual([true, 4]);
  });
});

describe('a function with arguments', () => {
  it('has a value for each combination of arguments, and passes them on to the load', async () => {
    const { calls, record } = recorded();
    const city = refreshing(async (code: string, language?: string) => record(code, language), quiet);
    expect(await city('1012')).toBe('1012, #1');
    expect(await city('1012', undefined)).toBe('1012, #1');
    expect(await city('1012', 'nl')).toBe('1012,nl #2');
    expect([city.current('1012'), city.peek('nowhere'), city.inspect('1012', 'nl')?.state]).toEqual([
      '1012, #1',
      undefined,
      'fresh',
    ]);
    city.invalidate('1012');
    expect([city.inspect('1012')?.state, city.inspect('1012', 'nl')?.state]).toEqual(['stale', 'fresh']);
    expect(await city.refresh('1012', 'nl')).toBe('1012,nl #3');
    expect([await city.delete('1012'), city.size, calls.length]).toEqual([true, 1, 3]);
  });

  it('takes keys as arrays of arguments where the cache does', async () => {
    const city = refreshing(async (code: string) => `city of ${code}`, { ...quiet, max: 2 });
    city.set(['1012'], 'Amsterdam');
    expect(await city.member.get(['1012'], { patience: 5 })).toBe('Amsterdam');
    const found = [...(await city.getMany([['1012'], ['3011']]))];
    expect(found).toEqual([[['1012'], 'Amsterdam'], [['3011'], 'city of 3011']]); // biome-ignore format: short
    await city('4811'); // evicts the one that was read first
    expect([...city.keys()]).toEqual([['3011'], ['4811']]);
    expect(city.member).toBeInstanceOf(RefreshingCache);
  });

  it('chooses the key by keyOf', async () => {
    const { calls, record } = recorded();
    const user = refreshing(async (request: Request, id: number) => record(request.url, id), {
      ...quiet,
      keyOf: (_, id) => id,
    });
    const read = (path: string, id: number): Promise<string> => user(new Request(`http://x/${path}`), id);
    expect([await read('a', 1), await read('b', 1), await read('c', 2)]).toEqual([
      'http://x/a,1 #1',
      'http://x/a,1 #1',
      'http://x/c,2 #2',
    ]);
    expect(calls).toHaveLength(2);
  });

  it('refuses arguments that have no key, and names the call in errors', async () => {
    const byUrl = refreshing(async (url: URL) => url.href, { ...quiet, name: 'pages' });
    await expect(byUrl(new URL('http://x/'))).rejects.toThrow('keyOf must be given for arguments');
    const load = (_code: string, _year: number) => Promise.reject(new Error('down'));
    const failing = refreshing(load, { ...quiet, name: 'cities' });
    await expect(failing('1012', 2026)).rejects.toThrow('cities["1012",2026]: load failed: down');
  });

  it('refuses a key that is no array of arguments', async () => {
    const city = refreshing(async (code: string) => `city of ${code}`, { ...quiet, name: 'cities' });
    const keyOf = (code: string): string => code;
    const byCode = refreshing(async (code: string) => code, { ...quiet, name: 'codes', keyOf });
    for (const keyed of [city, byCode]) {
      const set = keyed.set as (key: unknown, value: string) => void; // as from JavaScript
      expect(() => set.call(keyed, '1012', 'Amsterdam')).toThrow(
        /key must be an array with the arguments of a call, such as \['1012'\], received "1012"/,
      );
      expect(keyed.size).toBe(0);
    }
  });

  it('answers undefined for what the source does not have', async () => {
    const city = refreshing((code: string) => (code === '1012' ? 'Amsterdam' : absent()), quiet);
    expect([await city.getIfPresent('1012'), await city.getIfPresent('9999')]).toEqual([
      'Amsterdam',
      undefined,
    ]);
    await expect(city('9999')).rejects.toThrow('does not have this key');
  });

  it('keeps what it has in a store by its name and arguments', async () => {
    const backend = memoryBackend();
    const load = async (code: string, year: number): Promise<string> => `${code} in ${year}`;
    const options = { ...quiet, name: 'cities', backend };
    await refreshing(load, options)('1012', 2025);
    const again = refreshing(async (_code: string, _year: number) => 'loaded again', options);
    expect([await again('1012', 2025), await again('1012', 2026)]).toEqual(['1012 in 2025', 'loaded again']);
  });
});

describe('whether it is keyed', () => {
  const none = async (): Promise<number> => 1;
  const rest = async (...codes: string[]): Promise<string> => codes.join();
  const withDefault = async (code = 'nl'): Promise<string> => code;
  const optional = async (code?: string): Promise<string> => String(code);

  it('follows from the parameters before the first default', () => {
    const isKeyed = (load: (...args: never[]) => unknown): boolean =>
      (refreshing(load, quiet as never) as { member: unknown }).member instanceof RefreshingCache;
    expect([none, rest, withDefault, optional].map(isKeyed)).toEqual([false, false, false, true]);
    expect(isKeyed(optional.bind(undefined, 'bound'))).toBe(false);
  });

  it('is what `keyed` says', async () => {
    const codes = refreshing(rest, { ...quiet, keyed: true });
    expect([await codes('a', 'b'), await codes('a'), await codes()]).toEqual(['a,b', 'a', '']);
    const country = refreshing(withDefault, { ...quiet, keyed: true });
    expect([await country('be'), await country()]).toEqual(['be', 'nl']);
    const single = refreshing(optional, { ...quiet, keyed: false });
    expect([await single(), single.current]).toEqual(['undefined', 'undefined']);
  });

  it('is a mistake that a call with arguments reports, instead of one value for all of them', async () => {
    const hidden = refreshing((...args: [string]) => rest(...args), quiet) as unknown as typeof rest;
    const error = ofOption('keyed', 'must be true for calls with arguments');
    await expect(hidden('a')).rejects.toMatchObject(error);
  });
});

describe('options', () => {
  it('are those of the class, and all that break a rule are named', () => {
    const load = async (code: string): Promise<string> => code;
    const make = (given: unknown, options?: object): unknown => refreshing(given as never, options as never);
    expect(() => make('fetch')).toThrow('refreshing: load must be a function');
    expect(() => make(load, { ...quiet, maxx: 5 })).toThrow('load: maxx is unknown (did you mean max?)');
    expect(() => make(async () => 1, { max: 5 })).toThrow('max is unknown');
    for (const load of [async () => 1, async (...ids: number[]) => ids, async (id = 1) => id])
      for (const options of [{}, { keyed: false }])
        expect(() => make(load, { keyOf: () => 1, ...options })).toThrow(
          /keyOf is for a function with arguments: .*keyed: true/,
        );
    expect(() => make(async (...ids: number[]) => ids, { keyOf: () => 1, keyed: true })).not.toThrow();
    expect(() => make(load, { loadMany: load, keyed: 1 })).toThrow(
      /loadMany must not be given.*keyed must be/s,
    );
    expect(() => make(load, { backend: memoryBackend() })).toThrow(
      'load: name must be given with a backend, a lock',
    );
    expect(() => make(load, { backend: false })).not.toThrow();
    expect(() => make(load, { name: '' })).toThrow('name must be a string that is not empty');
  });

  it('name it as its load by default', () => {
    async function fetchRates(): Promise<number> {
      return 1;
    }
    expect(refreshing(fetchRates, quiet).inspect().name).toBe('fetchRates');
    expect(refreshing(async () => 1, quiet).inspect().name).toBe('refreshing');
  });
});

it('rejects a call whose keyOf returns no identity', async () => {
  for (const id of [Symbol('s'), {}, undefined, () => 1]) {
    const f = refreshing(async (text: string) => text, { keyOf: () => id as never, logger: false });
    await expect(f('a')).rejects.toMatchObject(ofOption('keyOf'));
  }
});
