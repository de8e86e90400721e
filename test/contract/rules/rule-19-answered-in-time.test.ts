import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { loaded, RefreshingCache, RefreshingValue, type ValueOptions } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { recordEvents, wordsOf } from '../../support/events.ts';
import { keyedInstance } from '../../support/keyed-cluster.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { loadedManualValue, manualValue } from '../../support/manual-value.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

const LOAD_MS = 80;
const TIMEOUT_MS = 500;
const STORM_MS = 4000;

/** A source that takes its time and ignores the signal. */
class SlowSource {
  loads = 0;
  live = 0;
  mostLive = 0;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  load(): Promise<number> {
    this.loads += 1;
    this.live += 1;
    this.mostLive = Math.max(this.mostLive, this.live);
    const serial = this.loads;
    return new Promise((resolve) => {
      this.#clock.setTimeout(() => {
        this.live -= 1;
        resolve(serial);
      }, LOAD_MS);
    });
  }
}

/** Reads every 10 ms for 4 s, and invalidates every 50 ms. @returns how long the slowest read took, and the failed ones. */
async function storm(
  clock: FakeClock,
  read: () => Promise<unknown>,
  invalidate: () => void,
): Promise<{ slowest: number; failed: number; unanswered: number }> {
  let slowest = 0;
  let failed = 0;
  let unanswered = 0;
  for (let at = 0; at < STORM_MS; at += 10) {
    if (at % 50 === 40) invalidate();
    const since = clock.monotonic();
    unanswered += 1;
    const answered = (): void => {
      unanswered -= 1;
      slowest = Math.max(slowest, clock.monotonic() - since);
    };
    read().then(answered, () => {
      failed += 1;
      answered();
    });
    await clock.advance(10);
  }
  await clock.advance(TIMEOUT_MS);
  return { slowest, failed, unanswered };
}

type Variant = readonly [
  string,
  (clock: FakeClock, source: SlowSource) => { read: () => Promise<unknown>; invalidate: () => void },
];

const options = { name: 'v', timeout: TIMEOUT_MS, schedule: 60_000, logger: false } as const;

const tooStale = { maxStaleness: 200, schedule: 199, whenTooStale: 'throw' } as const;

const value = (
  clock: FakeClock,
  source: SlowSource,
  own: Partial<ValueOptions<number>> = {},
): { read: () => Promise<unknown>; invalidate: () => void; value: RefreshingValue<number> } => {
  const made = new RefreshingValue<number>({ ...options, clock, load: () => source.load(), ...own });
  return { value: made, read: () => made.get(), invalidate: () => made.invalidate() };
};

const VARIANTS: readonly Variant[] = [
  [
    'cold: dropped again and again',
    (clock, source) => {
      const made = value(clock, source);
      return { ...made, invalidate: () => made.value.invalidate({ drop: true }) };
    },
  ],
  [
    'cold, with a lock',
    (clock, source) => {
      const made = value(clock, source, { lock: lockOf(memoryBackend({ clock })) });
      return { ...made, invalidate: () => made.value.invalidate({ drop: true }) };
    },
  ],
  [
    'warm, where a value too old is refused',
    (clock, source) => {
      const made = value(clock, source, tooStale);
      made.value.set(0);
      return made;
    },
  ],
  [
    'keys of a tag',
    (clock, source) => {
      const load = async (): Promise<ReturnType<typeof loaded<number>>> =>
        loaded(await source.load(), { tags: ['nl'] });
      const cache = new RefreshingCache<string, number>({ ...options, clock, load });
      return {
        read: () => cache.get('1012', { patience: Infinity }),
        invalidate: () => cache.invalidateTag('nl'),
      };
    },
  ],
  [
    'deleted keys',
    (clock, source) => {
      const cache = new RefreshingCache<string, number>({ ...options, clock, load: () => source.load() });
      return { read: () => cache.get('1012'), invalidate: () => void cache.delete('1012') };
    },
  ],
];

it.each(VARIANTS)(
  'rule 19: invalidated every 50 ms, and each load takes 80: each reader is answered in time, and loads follow one another: %s',
  async (_, make) => {
    const clock = new FakeClock();
    const source = new SlowSource(clock);
    const { read, invalidate } = make(clock, source);
    const { slowest, failed, unanswered } = await storm(clock, read, invalidate);
    expect([failed, unanswered, source.mostLive]).toEqual([0, 0, 1]);
    expect(slowest).toBeLessThanOrEqual(2 * LOAD_MS + 20);
    expect(source.loads).toBeLessThanOrEqual((STORM_MS + TIMEOUT_MS) / LOAD_MS);
    expect(source.loads).toBeGreaterThan(STORM_MS / (2 * LOAD_MS));
  },
);

describe('a load that was invalidated while readers wait for it', () => {
  it('answers those that came before, is due at once, and its successor answers the others', async () => {
    const { clock, manual, value } = manualValue();
    const events = recordEvents(value);
    const before = value.get();
    value.invalidate();
    const after = value.get();
    expect(manual.call(0).context.signal.aborted).toBe(false);
    manual.call(0).resolve('first');
    expect(await before).toBe('first');
    expect([value.peek(), value.inspect().state, await settled(after)]).toEqual([
      'first',
      'stale',
      'pending',
    ]);
    await clock.flush();
    expect(manual.call(1).context.trigger).toBe('invalidated');
    manual.call(1).resolve('second');
    expect(await after).toBe('second');
    expect([manual.calls.length, manual.mostLive]).toEqual([2, 1]);
    expect(wordsOf(events)).toEqual(['load-started', 'loaded', 'load-started', 'loaded']);
  });

  it('is not stored after a drop', async () => {
    const { clock, manual, value } = manualValue();
    const before = value.get();
    value.invalidate({ drop: true });
    manual.call(0).resolve('first');
    expect(await before).toBe('first');
    await clock.flush();
    expect([value.peek(), manual.calls.length]).toEqual([undefined, 1]);
  });

  it('"not modified" of a value that was dropped meanwhile answers none of them: its successor does', async () => {
    const { keep } = await import('../../../src/index.ts');
    const { clock, manual, value } = await loadedManualValue();
    const refresh = value.refresh();
    value.invalidate({ drop: true });
    manual.call(1).resolve(keep() as never);
    await clock.flush();
    manual.call(2).resolve('second');
    expect(await refresh).toBe('second');
  });

  it('gives way to a value that is set', async () => {
    const { clock, manual, value } = manualValue();
    const before = value.get();
    value.invalidate();
    const after = value.get();
    value.set('by hand');
    expect([await before, await after]).toEqual(['by hand', 'by hand']);
    await clock.flush();
    expect([manual.calls.length, value.current]).toEqual([1, 'by hand']);
  });

  it('fails: readers that came later are told of the cool-down, a forced load runs all the same', async () => {
    const { clock, manual, value } = manualValue();
    const before = value.get();
    value.invalidate();
    const after = value.get();
    manual.call(0).reject(new Error('down'));
    expect(await rejectionOf(before)).toMatchObject({ code: 'LOAD_FAILED' });
    expect(await rejectionOf(after)).toMatchObject({
      code: 'COOLING_DOWN',
      cause: { code: 'LOAD_FAILED' },
    });
    const first = value.refresh();
    value.invalidate();
    const second = value.refresh();
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    manual.call(2).resolve('up');
    expect(await rejectionOf(first)).toMatchObject({ code: 'LOAD_FAILED' });
    expect(await second).toBe('up');
  });

  it('a read that does not wait makes its successor start, as the read of a due value does', async () => {
    const { clock, manual, value } = await loadedManualValue();
    value.invalidate();
    value.current;
    await clock.flush();
    value.invalidate(); // while load 1 is under way
    expect(value.current).toBe('one');
    manual.call(1).resolve('two');
    await clock.flush();
    expect([value.peek(), manual.calls.length]).toEqual(['two', 3]);
  });

  it('that never ends: who came later is answered within one timeout from the own call', async () => {
    const { clock, manual, value } = manualValue({
      timeout: 500,
      load: new ManualLoad<string>('goes-on').load,
    });
    const first = value.get();
    void manual;
    await clock.advance(100);
    value.invalidate({ drop: true });
    const later = value.get();
    await clock.advance(400);
    expect(await rejectionOf(first)).toMatchObject({ code: 'TIMED_OUT' });
    expect(await rejectionOf(later)).toMatchObject({ code: 'COOLING_DOWN' });
  });
});

describe('an aborted load that ignores its signal', () => {
  const deaf = (): ReturnType<typeof manualValue> & { source: ManualLoad<string> } => {
    const source = new ManualLoad<string>('goes-on');
    return { ...manualValue({ load: source.load, timeout: 500 }), source };
  };

  it('keeps its place until it has settled: its successor starts then', async () => {
    const { clock, source, value } = deaf();
    void value.refresh();
    value.set('by hand');
    const refresh = value.refresh();
    await clock.advance(100);
    expect([source.calls.length, value.inspect().running]).toEqual([1, true]);
    source.call(0).resolve('late');
    await clock.flush();
    source.call(1).resolve('new');
    expect(await refresh).toBe('new');
    expect(source.mostLive).toBe(1);
  });

  it('keeps it to its deadline at most, and a reader waits for one timeout in all', async () => {
    const { clock, source, value } = deaf();
    void value.refresh();
    await clock.advance(300);
    value.set('by hand');
    const refresh = value.refresh();
    await clock.advance(200);
    expect(source.calls).toHaveLength(2);
    await clock.advance(299);
    expect(await settled(refresh)).toBe('pending');
    await clock.advance(1);
    expect(await rejectionOf(refresh)).toMatchObject({ code: 'TIMED_OUT' });
    expect(source.mostLive).toBe(2);
  });

  it('does not keep it for ever where there is no timeout', async () => {
    const source = new ManualLoad<string>('goes-on');
    const { clock, value } = manualValue({ load: source.load, timeout: Infinity });
    void value.refresh();
    value.set('by hand');
    const refresh = value.refresh();
    await clock.advance(30_000);
    source.call(1).resolve('new');
    expect(await refresh).toBe('new');
  });
});

describe('keys with a lock and a store', () => {
  it('invalidated in mid-load: the result is published, and due here; the successor passes over the hold', async () => {
    const cluster = new ManualCluster();
    const { cache, calls } = keyedInstance(cluster);
    const before = cache.get('k');
    await cluster.clock.flush();
    cache.invalidate('k');
    const after = cache.get('k');
    calls[0]?.resolve('first');
    expect(await before).toBe('first');
    await cluster.clock.flush();
    expect(await cluster.store.read('c["k"]')).toBeDefined();
    calls[1]?.resolve('second');
    expect(await after).toBe('second');
    expect(calls).toHaveLength(2);
  });

  it('deleted in mid-load: the result answers those that waited, and reaches no store', async () => {
    const cluster = new ManualCluster();
    const { cache, calls, link } = keyedInstance(cluster);
    const before = cache.get('k');
    await cluster.clock.flush();
    cache.delete('k', { here: true });
    calls[0]?.resolve('first');
    expect(await before).toBe('first');
    await cluster.clock.flush();
    const steps = ['read', 'read', 'acquire', 'release']; // the marks of the cache first
    expect([cache.peek('k'), link.take()]).toEqual([undefined, steps]);
  });
});
