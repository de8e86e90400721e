import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import type { Clock } from '../../../src/time/clock.ts';
import { unspread } from '../../support/unspread.ts';

interface MonotonicClock extends Pick<Clock, 'monotonic'> {
  /** The reads that were counted. */
  readonly counter: { reads: number };
}

/** The clock of the last import. */
async function imported(kind: 'sync' | 'awaited'): Promise<MonotonicClock> {
  const { systemClock } = await import('../../../src/time/clock.ts');
  const { coarseClocks } = await import('../../../src/time/coarse-clock.ts');
  const clock = coarseClocks(systemClock)[kind];
  const counter = { reads: 0 };
  const monotonic = (): number => {
    clock.update(counter);
    return clock.instant;
  };
  return { monotonic, counter };
}

/** The clock as in a process that has just started: the module keeps the state between reads. */
async function importAnew(kind: 'sync' | 'awaited' = 'sync'): Promise<MonotonicClock> {
  vi.resetModules();
  return imported(kind);
}

/** The machine's clock, moved by hand. */
interface Machine {
  readonly clock: MonotonicClock;
  /** Its reading, in milliseconds. */
  now: number;
  /** How often it was read. */
  readings: number;
}

/** Replaces the machine's own clock, as from the start of the process. */
async function machine(kind: 'sync' | 'awaited' = 'sync'): Promise<Machine> {
  const made = { now: 1000, readings: 0 };
  vi.spyOn(Performance.prototype, 'now').mockImplementation(() => {
    made.readings += 1;
    return made.now;
  });
  return Object.assign(made, { clock: await importAnew(kind) });
}

const MICROSECOND = 0.001;
/** The most reads in a row without a reading of the machine's clock. */
const MOST_SKIPPED = 498;
/** At most one in so many reads of a fast run. */
const PART_SKIPPED = 32;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Reads a microsecond apart. @returns the greatest lateness of a read. */
function burst(made: Machine, reads: number): number {
  let latest = 0;
  for (let i = 0; i < reads; i++) {
    made.now += MICROSECOND;
    latest = Math.max(latest, made.now - made.clock.monotonic());
  }
  return latest;
}

/** The same, each in a microtask of its own. */
async function chain(made: Machine, reads: number): Promise<number> {
  let latest = 0;
  for (let i = 0; i < reads; i++) {
    latest = Math.max(latest, burst(made, 1));
    await null;
  }
  return latest;
}

describe.each([
  ['sync', burst],
  ['awaited', chain],
] as const)('many reads of one turn, %s,', (kind, read) => {
  it('read the machine’s clock less and less often', async () => {
    const made = await machine(kind);
    made.readings = 0;
    expect(await read(made, 100_000)).toBeGreaterThan(400 * MICROSECOND); // else the test could not fail
    expect(made.readings).toBeLessThan(700);
  });

  it('share one instant among at most 498 reads after the first', async () => {
    const made = await machine(kind);
    let [skipped, most] = [0, 0];
    for (let i = 0; i < 50_000; i++) {
      const { readings } = made;
      if (kind === 'sync') burst(made, 1);
      else await chain(made, 1);
      skipped = made.readings === readings ? skipped + 1 : 0;
      most = Math.max(most, skipped);
    }
    expect(most).toBe(MOST_SKIPPED);
  });
});

describe('a burst of reads in one turn of the event loop', () => {
  it('ends with slow reads: each of them is exact', async () => {
    const made = await machine();
    burst(made, 3000);
    let late = 0;
    for (let i = 0; i < 3000; i++) {
      made.now += 0.1;
      if (made.clock.monotonic() < made.now) late += 1;
    }
    expect(late).toBeLessThanOrEqual(3000 / PART_SKIPPED); // what was left of the burst
    made.readings = 0;
    expect(burst(made, 10_000)).toBeGreaterThan(0); // and it is one again
    expect(made.readings).toBeLessThan(500);
  });

  it('is over with the turn also where the next is of a thenable, a listener, or a task', async () => {
    const made = await machine();
    const exact = (): void => expect(made.clock.monotonic()).toBe(made.now);
    const late = (): void => {
      expect(burst(made, 300)).toBeGreaterThan(0);
      made.now += 5;
    };
    late();
    await { then: (resolve: () => void) => resolve() };
    exact();
    late();
    await new Promise<void>((resolve) => queueMicrotask(resolve)).then(exact);
    late();
    await new Promise((resolve) => setImmediate(resolve)).then(exact);
    late();
    await Promise.all([1, 2, 3].map(async () => null));
    exact();
  });

  it('in turns with one read each, each read is exact', async () => {
    const made = await machine();
    made.readings = 0;
    for (let turn = 0; turn < 1000; turn++) {
      made.now += MICROSECOND;
      await null;
      expect(made.clock.monotonic()).toBe(made.now);
    }
    expect(made.readings).toBe(1000);
  });

  it('is found again after thousands of turns with one read each', async () => {
    const made = await machine();
    for (let turn = 0; turn < 5000; turn++) {
      burst(made, 1);
      await null;
    }
    made.readings = 0;
    burst(made, 10_000);
    expect(made.readings).toBeLessThan(2000);
  });

  it('a microtask that was queued before gets no instant from before that turn', async () => {
    const made = await machine();
    const seen: number[] = [];
    const began = made.now;
    const jobs = [1, 2, 3].map(() =>
      Promise.resolve().then(() => {
        seen.push(made.clock.monotonic());
        made.now += 5;
      }),
    );
    burst(made, 300);
    made.now += 5;
    await Promise.all(jobs);
    expect(seen.filter((instant) => instant < began)).toEqual([]);
    expect(made.clock.monotonic()).toBe(made.now);
  });
});

describe('reads that are awaited one after the other', () => {
  const turnEnds = {
    'an immediate': () => new Promise((resolve) => setImmediate(resolve)),
    'input and output': () => readFile(fileURLToPath(import.meta.url)),
  };

  it.each(Object.entries(turnEnds))('are exact after %s', async (_, turnEnd) => {
    const made = await machine('awaited');
    await turnEnd(); // reads in a timer may see input before the immediate that ends their turn
    for (let turn = 0; turn < 30; turn++) {
      await chain(made, 300);
      made.now += 5;
      await turnEnd();
      expect(made.clock.monotonic()).toBe(made.now);
    }
  });

  it('in a timer that fires before that immediate: late for a 32nd of them at most', async () => {
    const made = await machine('awaited');
    const reads = 320;
    await chain(made, reads);
    made.now += 5;
    await new Promise<void>((resolve) => process.nextTick(resolve)); // like such a timer, at any load of the machine
    let late = 0;
    while (made.clock.monotonic() < made.now) late += 1;
    expect(late).toBeGreaterThan(0); // else the test could not fail
    expect(late).toBeLessThanOrEqual(reads / PART_SKIPPED);
  });

  it('a few of them are exact, each', async () => {
    const made = await machine('awaited');
    for (let turn = 0; turn < 100; turn++) {
      expect(await chain(made, PART_SKIPPED)).toBe(0);
      made.now += 5;
      await turnEnds['an immediate']();
    }
  });

  it('with work between them are exact, each', async () => {
    const made = await machine('awaited');
    made.readings = 0;
    for (let i = 0; i < 1000; i++) {
      made.now += 0.006;
      expect(await chain(made, 1)).toBe(0);
    }
    expect(made.readings).toBe(1000);
  });

  it('do not affect synchronous reads, which are exact after a microtask', async () => {
    const made = await machine('awaited');
    const now = await imported('sync');
    await chain(made, 300);
    made.now += 5;
    expect(now.monotonic()).toBe(made.now);
  });

  it.each([
    ['without setImmediate', 'setImmediate', undefined],
    ['in workerd, which drops pending callbacks', 'navigator', { userAgent: 'Cloudflare-Workers' }],
  ])('are exact, each, %s', async (_, name, stub) => {
    vi.stubGlobal(name, stub);
    try {
      const made = await machine('awaited');
      expect(await chain(made, 1000)).toBe(0);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it.each(['before', 'after'])(
    'are exact when a test kit has faked setImmediate %s the import',
    async (when) => {
      const fake = vi.fn();
      const { setImmediate: real } = globalThis;
      if (when === 'before') vi.stubGlobal('setImmediate', fake);
      try {
        const made = await machine('awaited');
        vi.stubGlobal('setImmediate', when === 'before' ? real : fake);
        expect(await chain(made, 1000)).toBe(0);
        expect(fake).not.toHaveBeenCalled();
      } finally {
        vi.unstubAllGlobals();
      }
    },
  );

  it('follow the fake timers of Vitest at once, installed between two reads', async () => {
    const clock = await importAnew('awaited');
    for (let i = 0; i < 1000; i++) {
      clock.monotonic();
      await null;
    }
    vi.useFakeTimers();
    for (let step = 0; step < 3; step++) {
      for (let i = 0; i < 300; i++) expect(clock.monotonic()).toBe(performance.now());
      vi.advanceTimersByTime(1234);
    }
  });

  it('leave nothing behind when their turn is over', async () => {
    const clock = await importAnew('awaited');
    const timers = (['setTimeout', 'setInterval'] as const).map((name) => vi.spyOn(globalThis, name));
    await turnEnds['an immediate']();
    const before = process.getActiveResourcesInfo();
    for (let i = 0; i < 1000; i++) {
      clock.monotonic();
      await null;
    }
    for (const spy of timers) expect(spy).not.toHaveBeenCalled();
    await turnEnds['an immediate']();
    const left = process.getActiveResourcesInfo();
    // A timer of the test runner may have ended meanwhile.
    for (const one of before) if (left.includes(one)) left.splice(left.indexOf(one), 1);
    expect(left).toEqual([]);
  });
});

describe.each(['sync', 'awaited'] as const)('reads with work between them, %s', (kind) => {
  const WORK_MS = 1.33;
  const FAST_RUN = 1000;
  const rows = Array.from({ length: 3 * FAST_RUN }, (_, i) => i);
  const runs = {
    'Promise.all over rows': async (of: (row: number) => void) => {
      const one = async (row: number): Promise<void> => {
        await null;
        of(row);
      };
      await Promise.all(rows.map(one));
    },
    'a chain of nextTick': (of: (row: number) => void) =>
      new Promise<void>((resolve) => {
        const next = (row: number): void => {
          of(row);
          if (row + 1 < rows.length) process.nextTick(next, row + 1);
          else resolve();
        };
        next(0);
      }),
    'a loop': async (of: (row: number) => void) => rows.forEach(of),
  };

  describe.each(Object.entries(runs))('%s', (_, run) => {
    it('which begins after a fast run: noticed within a 32nd of its reads', async () => {
      const made = await machine(kind);
      let late = 0;
      await run((row) => {
        if (burst(made, 1) >= 1) late += 1;
        if (row >= FAST_RUN) made.now += WORK_MS;
      });
      expect(late).toBeLessThanOrEqual(FAST_RUN / PART_SKIPPED);
    });

    it('after few reads each: none is late', async () => {
      const made = await machine(kind);
      let latest = 0;
      await run((row) => {
        latest = Math.max(latest, burst(made, PART_SKIPPED));
        if (row >= FAST_RUN || row % 2 === 0) made.now += WORK_MS;
      });
      expect(latest).toBeLessThan(1);
    });
  });

  it.each([0.0001, 0.001, 0.0019, 0.0021, 0.0049, 0.02])('%d ms apart: at most 1 ms late', async (apart) => {
    const made = await machine(kind);
    let latest = 0;
    for (let i = 0; i < 100_000; i++) {
      made.now += apart;
      latest = Math.max(latest, made.now - made.clock.monotonic());
    }
    expect(latest).toBeLessThanOrEqual(1.000_001);
  });
});

type Step =
  | { readonly do: 'read'; readonly times: number; readonly apart: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'await' };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('read' as const),
      times: fc.constantFrom(1, 2, 3, 10, 200, 700),
      apart: fc.constantFrom(0, MICROSECOND, 0.004, 0.006, 0.02),
    }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(MICROSECOND, 0.1, 3, 60_000) }),
    fc.record({ do: fc.constant('await' as const) }),
  ),
  { maxLength: 40 },
);

it('whatever the reads: exact after an await, never back, at most one turn and 500 reads late', async () => {
  const made = await machine();
  let last = Number.NEGATIVE_INFINITY;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await null;
      let turnBegan = made.now;
      let isFirst = true;
      let skipped = 0;
      const read = (): void => {
        const { readings } = made;
        const instant = made.clock.monotonic();
        skipped = made.readings === readings ? skipped + 1 : 0;
        expect(instant).toBeLessThanOrEqual(made.now);
        expect(instant).toBeGreaterThanOrEqual(Math.max(last, isFirst ? made.now : turnBegan));
        expect(skipped).toBeLessThanOrEqual(MOST_SKIPPED);
        last = instant;
        isFirst = false;
      };
      for (const step of all) {
        if (step.do === 'pass') made.now += step.ms;
        else if (step.do === 'await') {
          await null;
          turnBegan = made.now;
          isFirst = true;
        } else {
          for (let i = 0; i < step.times; i++) {
            made.now += step.apart;
            read();
          }
        }
      }
    }),
    { numRuns: 200 },
  );
});

describe('the fake timers of Vitest control it in the same turn', () => {
  /** Reads and moves the fake clock, all in one turn. */
  function expectFollowed(clock: MonotonicClock): void {
    for (let step = 0; step < 10; step++) {
      for (let i = 0; i < 300; i++) expect(clock.monotonic()).toBe(performance.now());
      vi.advanceTimersByTime(1234);
      expect(clock.monotonic()).toBe(performance.now());
    }
    expect(performance.now()).toBeGreaterThanOrEqual(12_340);
  }

  async function expectReal(clock: MonotonicClock): Promise<void> {
    await null;
    for (let turn = 0; turn < 10; turn++) {
      const before = performance.now();
      expect(clock.monotonic()).toBeGreaterThanOrEqual(before);
      for (let i = 0; i < 300; i++) clock.monotonic();
      await null;
    }
  }

  it('installed after the import, removed, and installed again', async () => {
    const clock = await importAnew();
    for (let round = 0; round < 2; round++) {
      await expectReal(clock);
      await null;
      vi.useFakeTimers();
      expectFollowed(clock);
      vi.useRealTimers();
      await expectReal(clock);
    }
  });

  it('installed before the import, removed, and installed again', async () => {
    vi.useFakeTimers();
    const clock = await importAnew();
    expectFollowed(clock);
    vi.useRealTimers();
    await expectReal(clock);
    vi.useFakeTimers();
    expectFollowed(clock);
  });
});

it('a value that becomes due within a burst is reloaded at once', async () => {
  let loads = 0;
  const load = async (): Promise<number> => ++loads;
  const value = new RefreshingValue({ name: 'v', load, schedule: { hours: 1 } });
  await value.get();
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (let i = 0; i < 3000; i++) value.current;
  value.reschedule(({ endedAt }) => endedAt + 1);
  expect([value.current, value.inspect().running]).toEqual([1, true]);
});

it('a user’s clock is read at each read', async () => {
  let asked = 0;
  class Counted extends FakeClock {
    override monotonic(): number {
      asked += 1;
      return super.monotonic();
    }
  }
  const clock = new Counted();
  const load = vi.fn((key: string) => key);
  const cache = new RefreshingCache({ name: 'c', load, schedule: 1000, random: unspread, clock });
  cache.current('k');
  asked = 0;
  for (let i = 0; i < 1000; i++) cache.current('k');
  expect(asked).toBe(1000);
  asked = 0;
  await Promise.all(Array.from({ length: 1000 }, () => cache.get('k')));
  expect(asked).toBe(1000);
});

it('leaves no timer behind, nor anything else that the event loop waits for', async () => {
  const clock = await importAnew();
  const began = (['setTimeout', 'setInterval', 'setImmediate'] as const).map((name) =>
    vi.spyOn(globalThis, name),
  );
  const before = process.getActiveResourcesInfo().toSorted();
  for (let turn = 0; turn < 100; turn++) {
    for (let i = 0; i < 1000; i++) clock.monotonic();
    await null;
  }
  for (const spy of began) expect(spy).not.toHaveBeenCalled();
  expect(process.getActiveResourcesInfo().toSorted()).toEqual(before);
});

describe('the count of reads', () => {
  it('has each read of a burst: with the next look at the clock, or at the end of the burst', async () => {
    const made = await machine();
    burst(made, 31);
    expect(made.clock.counter.reads).toBe(31); // too few to share an instant
    burst(made, 100_000);
    expect(made.readings).toBeLessThan(2000);
    const { reads } = made.clock.counter;
    expect(reads).toBeGreaterThan(100_031 - MOST_SKIPPED);
    await undefined;
    expect(made.clock.counter.reads).toBe(100_031);
  });

  it('is shared by members that are read in turn, each with its part', async () => {
    const made = await machine();
    const { systemClock } = await import('../../../src/time/clock.ts');
    const { coarseClocks } = await import('../../../src/time/coarse-clock.ts');
    const { sync } = coarseClocks(systemClock);
    const members = [1, 2, 3].map(() => ({ reads: 0 }));
    for (let read = 0; read < 300_000; read++) {
      sync.update(members[read % 3]!);
      made.now += MICROSECOND;
    }
    for (const { reads } of members) expect(Math.abs(reads - 100_000)).toBeLessThan(3000);
  });
});
