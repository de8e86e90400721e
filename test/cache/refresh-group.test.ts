import { describe, expect, it } from 'vitest';
import {
  absent,
  dailyAt,
  type Execution,
  isClosedError,
  isOptionError,
  loaded,
  PeriodicExecutor,
  RefreshGroup,
  type RefreshGroupOptions,
  RefreshingCache,
  RefreshingValue,
  type RefreshingValueOptions,
} from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { recordLines } from '../support/events.ts';
import { ManualLoad } from '../support/manual-load.ts';
import { rejectionOf, settled, thrownBy } from '../support/settle.ts';

const HOUR = 3_600_000;

/** Counts how often it is asked; beyond the limit it throws, so that who asks without end comes to one. */
class CountingClock extends FakeClock {
  asked = 0;
  limit: number = Infinity;

  override monotonic(): number {
    this.asked += 1;
    if (this.asked > this.limit) throw new Error(`the clock was asked ${this.asked} times`);
    return super.monotonic();
  }
}

function make(options: RefreshGroupOptions = {}) {
  const clock = new CountingClock();
  const group = new RefreshGroup({ clock, logger: false, schedule: HOUR, ...options });
  /** The names of the loads that were started, in their order. */
  const started: string[] = [];
  /** A value that was put in now, and is due by its schedule. */
  function value(name: string, schedule: number, own: Partial<RefreshingValueOptions<string>> = {}) {
    const load = async (): Promise<string> => {
      started.push(name);
      return name;
    };
    const made = group.value<string>({ name, load, schedule, ...own });
    made.set('by hand');
    return made;
  }
  return { clock, group, started, value };
}

/** The options that an action is refused for. */
function refusedOptions(action: () => unknown): string[] {
  const error = thrownBy(action);
  return isOptionError(error) ? error.problems.map(({ option }) => option) : [`no OptionError: ${error}`];
}

const load = async () => 'x';

describe('the options of a group', () => {
  it('hold for members that were given none of their own; undefined is none', async () => {
    const { clock, group } = make({ schedule: 5000, maxStaleness: 60_000, coolDown: 100 });
    const [a, b] = [group.value({ name: 'a', load }), group.value({ name: 'b', load, schedule: 3000 })];
    const c = group.value({ name: 'c', load, schedule: undefined, maxStaleness: 70_000 });
    const d = group.cache({ name: 'd', load, jitter: false });
    const e = group.executor(load, { name: 'e', schedule: 4000 });
    await Promise.all([a.get(), b.get(), c.get(), d.get('k'), e.execute()]);
    const all = [a.inspect(), b.inspect(), c.inspect(), d.inspect('k'), e.inspect()];
    const due = all.map((status) => (status?.nextExecuteTime ?? 0) - clock.now());
    expect(due).toEqual([5000, 3000, 5000, 5000, 4000]);
    const limits = [a.inspect(), b.inspect(), c.inspect(), d.inspect('k')].map((one) => one?.maxStaleness);
    expect(limits).toEqual([60_000, 60_000, 70_000, 60_000]);
  });

  it('about values alone are nothing to its executors', async () => {
    const { group } = make({ maxStaleness: 2 * HOUR, whenTooStale: 'throw', whenClosed: 'throw' });
    const executor = group.executor(load, { name: 'e' });
    await executor.requestStart();
    expect(executor.inspect().isDue).toBe(false);
    const own = { name: 'f', whenClosed: 'throw' } as never;
    expect(refusedOptions(() => group.executor(load, own))).toEqual(['whenClosed']);
  });

  it('that break a rule are told all at once', () => {
    const bad = {
      name: '',
      piggyback: 'yes',
      concurrency: 0,
      lookAhead: Infinity,
      schedule: -1,
      group: make().group,
      load,
      tick: 1,
    };
    const broken = refusedOptions(() => new RefreshGroup(bad as never));
    expect(broken.sort()).toEqual(Object.keys(bad).sort());
    for (const concurrency of [-1, 1.5, Number.NaN, '4', null]) {
      expect(refusedOptions(() => make({ concurrency } as never))).toEqual(['concurrency']);
    }
    for (const lookAhead of [-1, Number.NaN, '1 h', {}, null]) {
      expect(refusedOptions(() => make({ lookAhead } as never))).toEqual(['lookAhead']);
    }
    for (const fine of [{ concurrency: Infinity }, { lookAhead: { minutes: 1 } }, { name: undefined }]) {
      expect(make(fine).group.inspect().name).toBe('group');
    }
  });

  it('of a member that break a rule are told, and take no name', () => {
    const { group } = make();
    const wrong = { name: 'a', load, tick: 1, required: 'yes' } as never;
    expect(refusedOptions(() => group.value(wrong)).sort()).toEqual(['required', 'tick']);
    expect(refusedOptions(() => group.cache({ name: 'a', load, required: true } as never))).toEqual([
      'required',
    ]);
    expect(refusedOptions(() => group.executor(load, { name: 'a', lookAhead: 1 } as never))).toEqual([
      'lookAhead',
    ]);
    expect(group.inspect().members).toEqual([]);
    expect(group.value({ name: 'a', load, required: true }).inspect().name).toBe('a');
  });

  it('required and group go together, and group is one', () => {
    for (const create of [
      (own: object) => new RefreshingValue({ name: 'a', load, ...own }),
      (own: object) => new PeriodicExecutor(load, { name: 'a', ...own }),
    ]) {
      expect(refusedOptions(() => create({ required: true }))).toEqual(['required']);
      expect(refusedOptions(() => create({ group: {} }))).toEqual(['group']);
      expect(create({ group: new RefreshGroup(), required: true }).inspect().isDue).toBe(true);
    }
  });

  it('a member made by its own constructor is one like any other', async () => {
    const { clock, group, started } = make({ schedule: 5000 });
    const direct = new RefreshingValue({ name: 'a', load: () => started.push('a'), group });
    const cache = new RefreshingCache({ name: 'c', load, group });
    const executor = new PeriodicExecutor(() => started.push('e'), { name: 'e', group });
    expect(group.inspect().members.map(({ name }) => name)).toEqual(['a', 'c', 'e']);
    group.requestStart();
    await clock.flush();
    expect([started, direct.inspect().nextExecuteTime - clock.now()]).toEqual([['a', 'e'], 5000]);
    await group.close();
    expect(isClosedError(await rejectionOf(cache.get('k')))).toBe(true);
    expect(isClosedError(await rejectionOf(executor.execute()))).toBe(true);
    expect(isClosedError(await rejectionOf(direct.refresh()))).toBe(true);
  });

  it('a name is taken once, whatever the kind, until that member is closed by itself', async () => {
    const { group } = make();
    const first = group.value({ name: 'a', load });
    for (const create of [
      () => group.value({ name: 'a', load }),
      () => group.cache({ name: 'a', load }),
      () => group.executor(load, { name: 'a' }),
    ]) {
      expect(refusedOptions(create)).toEqual(['name']);
    }
    await first.close();
    const second = group.cache({ name: 'a', load });
    expect(group.inspect().members).toHaveLength(1);
    await first.close();
    expect(refusedOptions(() => group.value({ name: 'a', load }))).toEqual(['name']);
    await second.close();
    expect(group.inspect().members).toEqual([]);
  });
});

describe('piggyback', () => {
  const aValue = (group: RefreshGroup): RefreshingValue<string> => {
    const reader = group.value<string>({ name: 'r', load });
    reader.set('r');
    return reader;
  };
  const aCache = (group: RefreshGroup): RefreshingCache<string, string> => {
    const reader = group.cache<string, string>({ name: 'r', load });
    reader.set('k', 'r');
    return reader;
  };
  const readers: Record<string, (group: RefreshGroup) => () => unknown> = {
    'get of a value': (group) =>
      (
        (reader) => () =>
          reader.get()
      )(aValue(group)),
    'get of a value with options': (group) =>
      (
        (reader) => () =>
          reader.get({ patience: 5 })
      )(aValue(group)),
    'current of a value': (group) =>
      (
        (reader) => () =>
          reader.current
      )(aValue(group)),
    'requestStart of a value': (group) =>
      (
        (reader) => () =>
          reader.requestStart()
      )(aValue(group)),
    'get of a key': (group) =>
      (
        (reader) => () =>
          reader.get('k')
      )(aCache(group)),
    'current of a key': (group) =>
      (
        (reader) => () =>
          reader.current('k')
      )(aCache(group)),
    'getMany of a cache': (group) =>
      (
        (reader) => () =>
          reader.getMany(['k'])
      )(aCache(group)),
    'requestStart of an executor': (group) => {
      const reader = group.executor(() => 'r', { name: 'r' });
      void reader.requestStart();
      return () => reader.requestStart();
    },
    'a read of a paused value': (group) => {
      const reader = aValue(group);
      reader.pause();
      return () => reader.current;
    },
  };

  for (const [how, reader] of Object.entries(readers)) {
    it(`${how} starts what else is due behind it: soonest first, so many at a time`, async () => {
      const { clock, group, value } = make({ piggyback: true, concurrency: 2 });
      const read = reader(group);
      const manual = new ManualLoad<string>();
      const order: string[] = [];
      for (const [name, schedule] of Object.entries({ d: 40, a: 10, c: 30, later: 101, b: 20, e: 50 })) {
        value(name, schedule, { load: manual.load }).on('load-started', () => order.push(name));
      }
      await clock.advance(100);
      expect(order).toEqual([]);
      read();
      expect(manual.calls).toHaveLength(0);
      for (let call = 0; call < 5; call++) {
        await clock.flush();
        expect(order.join('')).toBe('abcde'.slice(0, call + 2));
        expect(manual.live).toBe(Math.min(2, 5 - call));
        manual.call(call).resolve('new');
      }
      await clock.flush();
      expect([order.length, manual.mostLive, group.inspect().running]).toEqual([5, 2, 0]);
    });

    it(`${how} starts nothing else without it`, async () => {
      const { clock, group, started, value } = make();
      const read = reader(group);
      value('a', 10);
      group.value({ name: 'never loaded', load: () => started.push('never loaded') });
      await clock.advance(5 * 60_000);
      read();
      await clock.flush();
      expect(started).toEqual([]);
    });
  }

  it('the load of the one that is read comes on top', async () => {
    const { clock, started, value } = make({ piggyback: true, concurrency: 1 });
    const hang = (): Promise<string> => new Promise(() => void started.push('other'));
    value('a', 10, { load: hang });
    value('b', 20, { load: hang });
    const reader = value('reader', 5);
    await clock.advance(100);
    expect(reader.current).toBe('by hand');
    await clock.flush();
    expect(started).toEqual(['reader', 'other']);
  });

  it('starts members that were never loaded, and who only looks starts none', async () => {
    const { clock, group, started, value } = make({ piggyback: true });
    const reader = value('reader', HOUR);
    const other = group.value({ name: 'other', load: () => started.push('other') });
    other.peek();
    group.inspect();
    group.health();
    reader.inspect();
    reader.set('again');
    await reader.refresh();
    expect(started.splice(0)).toEqual(['reader']);
    reader.current;
    await clock.flush();
    expect([started, other.peek()]).toEqual([['other'], 1]);
  });

  it('leaves alone what cools down, and what is paused, and starts it after that', async () => {
    const { clock, started, value } = make({ piggyback: true, coolDown: 1000, random: () => 0.5 });
    const reader = value('reader', HOUR);
    const load = (): string => {
      started.push('fails');
      throw new Error('down');
    };
    value('fails', 10, { load });
    const paused = value('paused', 20);
    paused.pause();
    const until: string[][] = [];
    for (const ms of [100, 700, 49, 1]) {
      await clock.advance(ms);
      reader.current;
      await clock.flush();
      until.push(started.splice(0));
    }
    expect(until).toEqual([['fails'], [], [], ['fails']]);
    paused.resume();
    reader.current;
    await clock.flush();
    expect(started).toEqual(['paused']);
  });
});

describe('requestStart of a group', () => {
  it('starts what is due, and with lookAhead what soon will be', async () => {
    for (const [lookAhead, due] of [
      [0, ['c', 'b']],
      [50, ['c', 'b', 'd']],
      [51, ['c', 'b', 'd', 'a']],
    ] as const) {
      const { clock, group, started, value } = make({ lookAhead });
      for (const [name, schedule] of Object.entries({ a: 151, b: 100, c: 99, d: 150 })) value(name, schedule);
      await clock.advance(100);
      group.requestStart();
      expect(started).toEqual([]);
      await clock.flush();
      expect(started).toEqual(due);
    }
  });

  it('starts nothing in the first half of its time, however far it looks ahead', async () => {
    const { clock, group, started, value } = make({ lookAhead: HOUR });
    value('a', 10_000);
    for (const [ms, loads] of [
      [4999, 0],
      [1, 1],
      [4999, 1],
      [1, 2],
    ] as const) {
      await clock.advance(ms);
      group.requestStart();
      await clock.flush();
      expect(started).toHaveLength(loads);
    }
  });

  it('gives waitUntil a promise that resolves when the last has ended, also with failures', async () => {
    const { clock, group, value } = make({ concurrency: 1 });
    const manual = new ManualLoad<string>();
    value('a', 10, { load: manual.load });
    value('b', 20, { load: manual.load });
    await clock.advance(100);
    const ends: Promise<unknown>[] = [];
    group.requestStart({ waitUntil: (end) => void ends.push(end) });
    await clock.flush();
    manual.call(0).reject(new Error('down'));
    await clock.flush();
    expect([manual.calls.length, await settled(ends[0] as Promise<void>)]).toEqual([2, 'pending']);
    manual.call(1).resolve('new');
    expect(await settled(ends[0] as Promise<void>)).toEqual({ value: undefined });
    group.requestStart({ waitUntil: (end) => void ends.push(end) });
    expect(await settled(ends[1] as Promise<void>)).toEqual({ value: undefined });
    expect([ends.length, manual.calls.length]).toEqual([2, 2]);
  });

  it('gives waitUntil a promise that is not held up by what a later request starts', async () => {
    const { clock, group, value } = make();
    const [first, second] = [new ManualLoad<string>(), new ManualLoad<string>()];
    value('a', 10, { load: first.load });
    value('b', 200, { load: second.load });
    await clock.advance(100);
    const ends: Promise<unknown>[] = [];
    group.requestStart({ waitUntil: (end) => void ends.push(end) });
    await clock.advance(100);
    group.requestStart();
    await clock.flush();
    first.call(0).resolve('new');
    await clock.flush();
    expect(second.live).toBe(1);
    expect(await settled(ends[0] as Promise<void>)).toEqual({ value: undefined });
  });

  it('survives a waitUntil that throws, which is told to the logger', async () => {
    const logger = recordLines();
    const { clock, group, started, value } = make({ logger });
    value('a', 10);
    await clock.advance(100);
    const waitUntil = (): never => {
      throw new Error('no context');
    };
    group.requestStart({ waitUntil });
    await clock.flush();
    expect([started, logger.lines]).toEqual([['a'], ['error tickless: group: waitUntil threw: no context']]);
  });

  it('sees what became due by reschedule, by invalidate, and at the limit of age', async () => {
    const { clock, group, started, value } = make();
    const members = ['a', 'b', 'c'].map((name) => value(name, HOUR));
    value('d', Infinity, { maxStaleness: 90_000 });
    await clock.advance(90_000);
    members[0]?.reschedule({ minutes: 1 });
    members[2]?.invalidate();
    group.requestStart();
    await clock.flush();
    expect(started.sort()).toEqual(['a', 'c', 'd']);
  });

  // Each of these loads stops itself after a while, where the group does not.
  it('starts each once in a round, also where lookAhead is longer than the schedule', async () => {
    const { clock, group, started, value } = make({ lookAhead: 60_000 });
    const load = (): Promise<string> =>
      started.push('a') < 20 ? Promise.resolve('a') : new Promise(() => {});
    value('a', 10_000, { load });
    await clock.advance(6000);
    const ends: Promise<unknown>[] = [];
    group.requestStart({ waitUntil: (end) => void ends.push(end) });
    await clock.flush();
    expect([started.length, await settled(ends[0] as Promise<void>)]).toEqual([1, { value: undefined }]);
  });

  for (const who of ['its own load', 'a listener']) {
    it(`leaves to the next request what ${who} invalidates while it goes on`, async () => {
      const { clock, group, started, value } = make();
      const load = (): Promise<string> => {
        if (started.push('a') < 20 && who === 'its own load') a.invalidate();
        return started.length < 20 ? Promise.resolve('a') : new Promise(() => {});
      };
      const a = value('a', 10, { load });
      if (who === 'a listener') a.on('load-succeeded', () => a.invalidate());
      await clock.advance(100);
      for (const loads of [1, 2]) {
        group.requestStart();
        await clock.advance(1);
        expect(started).toHaveLength(loads);
      }
    });
  }

  it('starts what a listener ended at its start, at the next request if it is due', async () => {
    const { clock, group, started, value } = make();
    const [a, b] = [value('a', 10), value('b', 20)];
    const offs = [
      a.on('load-started', () => a.invalidate()),
      b.on('load-started', () => b.set('by the listener')),
    ];
    await clock.advance(100);
    group.requestStart();
    await clock.flush();
    expect([started, group.inspect().running]).toEqual([[], 0]);
    for (const off of offs) off();
    await clock.advance(1);
    group.requestStart();
    await clock.flush();
    expect(started).toEqual(['a']);
    await clock.advance(20);
    group.requestStart();
    await clock.flush();
    expect(started).toEqual(['a', 'a', 'b']);
  });

  it('follows a step of the wall clock with members that go by it, within a minute', async () => {
    for (const piggyback of [false, true]) {
      const clock = new FakeClock({ now: '2026-06-01T04:00:00Z' });
      const { group, started, value } = make({ clock, piggyback });
      const reader = value('reader', HOUR);
      const schedule = dailyAt('05:00', { zone: 'UTC' });
      const daily = value('daily', 1, { schedule } as never);
      clock.stepWall({ hours: 2 });
      for (let second = 0; second < 180; second++) {
        await clock.advance(1000);
        if (piggyback) reader.current;
        else group.requestStart();
      }
      await clock.flush();
      expect(started).toEqual(['daily']);
      expect(daily.inspect().nextExecuteTime).toBe(Date.UTC(2026, 5, 2, 5));
    }
  });

  it('starts nothing that its own look at the clocks finds not due any more', async () => {
    const clock = new FakeClock({ now: '2026-06-01T04:00:00Z' });
    const { group, started, value } = make({ clock });
    value('daily', 1, { schedule: dailyAt('05:00', { zone: 'UTC' }) } as never);
    await clock.advance({ minutes: 59, seconds: 20 });
    group.requestStart(); // which looks at the clocks, and not again for a minute
    clock.stepWall({ hours: -2 });
    await clock.advance(50_000);
    group.requestStart(); // an hour has passed, and it is ten past three
    await clock.flush();
    expect(started).toEqual([]);
  });
});

/** A cache whose keys are due one after the other, and whose loads end when the test says so. */
async function dueKeys(own: { readonly group?: RefreshGroup; readonly clock: FakeClock }, keys: string) {
  const manual = new ManualLoad<string>();
  const order: string[] = [];
  const cache = new RefreshingCache<string, string>({
    name: 'c',
    load: (key, context) => {
      order.push(key);
      return manual.load(context);
    },
    schedule: 1000,
    jitter: false,
    logger: false,
    ...own,
  });
  for (const key of keys) {
    cache.set(key, 'old');
    await own.clock.advance(1);
  }
  return { cache, manual, order };
}

describe('a cache in a group', () => {
  for (const how of ['a read of another', 'a request']) {
    it(`has its due keys started by ${how}: soonest first, so many at a time`, async () => {
      const { clock, group, value } = make({ piggyback: how === 'a read of another', concurrency: 2 });
      const reader = value('reader', HOUR);
      const { cache, manual, order } = await dueKeys({ group, clock }, 'badce');
      await clock.advance(998); // but for the last, which is due in a millisecond
      void cache.get('b'); // its own load comes on top
      if (how === 'a request') group.requestStart();
      else reader.current;
      await clock.flush();
      expect(order.join('')).toBe('bad');
      for (const started of ['bad', 'badc', 'badc', 'badc']) {
        manual.call(manual.calls.length - manual.live).resolve('new');
        await clock.flush();
        expect(order.join('')).toBe(started);
      }
    });
  }

  it('with loadMany has its due keys come in batches, each of which is one load', async () => {
    const { clock, group } = make({ concurrency: 2 });
    const calls: { keys: readonly number[]; end: () => void }[] = [];
    const cache = group.cache<number, string>({
      name: 'c',
      loadMany: (keys) =>
        new Promise((resolve) => {
          const end = (): void => resolve(new Map(keys.map((key) => [key, 'new'])));
          calls.push({ keys, end });
        }),
      batchSize: 3,
      jitter: false,
      schedule: 1000,
    });
    for (let key = 0; key < 10; key++) cache.set(key, 'old');
    await clock.advance(1000);
    group.requestStart();
    for (const sizes of [
      [3, 3],
      [3, 3, 3],
      [3, 3, 3, 1],
    ]) {
      await clock.flush();
      expect(calls.map(({ keys }) => keys.length)).toEqual(sizes);
      calls[sizes.length - 2]?.end();
    }
    for (const { end } of calls) end();
    await clock.flush();
    expect([group.inspect().running, calls.length, cache.peek(9)]).toEqual([0, 4, 'new']);
    expect(calls.flatMap(({ keys }) => keys).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('has those keys started that it holds, once they were invalidated or their cool-down is over', async () => {
    const { clock, group, started } = make({ coolDown: 10_000, random: () => 0 });
    const load = async (key: string) => {
      started.push(key);
      if (key === 'absent') return absent();
      if (key === 'fails' && started.length > 4) throw new Error('down');
      return loaded(key, { tags: [key.slice(0, 1)] });
    };
    const cache = group.cache<string, string>({ name: 'c', load, jitter: false, max: 4 });
    for (const key of ['pushed out', 'fails', 'a1', 'a2', 'deleted', 'absent'])
      await cache.get(key).catch(() => {});
    cache.delete('deleted');
    async function startedBy(action: () => void): Promise<string> {
      started.splice(0, started.length, ...'....');
      action();
      group.requestStart();
      await clock.flush();
      return started.slice(4).sort().join();
    }
    expect(await startedBy(() => {})).toBe('');
    expect(await startedBy(() => cache.invalidateTag('a'))).toBe('a1,a2');
    expect(await startedBy(() => cache.invalidate('fails'))).toBe('fails');
    expect(await startedBy(() => cache.invalidate())).toBe('a1,a2');
    await clock.advance(4999);
    expect(await startedBy(() => cache.invalidateWhere((key) => key === 'a2'))).toBe('a2');
    await clock.advance(1);
    expect(await startedBy(() => {})).toBe('fails');
    await clock.advance(HOUR);
    expect(await startedBy(() => cache.pause())).toBe('');
    expect(await startedBy(() => cache.resume())).toBe('a1,a2,fails');
  });

  for (const how of ['pause', 'close'] as const) {
    it(`may be told to ${how} in the midst of a batch that is being started`, async () => {
      const { clock, group } = make();
      const loadMany = async (keys: readonly number[]) => new Map(keys.map((key) => [key, 'new']));
      const cache = group.cache<number, string>({ name: 'c', loadMany, jitter: false, schedule: 1000 });
      for (let key = 0; key < 5; key++) cache.set(key, 'old');
      let starts = 0;
      cache.on('load-started', () => {
        starts += 1;
        void cache[how]();
      });
      await clock.advance(1000);
      clock.limit = clock.asked + 1000;
      try {
        group.requestStart();
      } finally {
        clock.limit = Infinity;
      }
      await clock.flush();
      expect([starts, group.inspect().running]).toEqual([1, 0]);
    });
  }
});

describe('requestStart of a cache', () => {
  it('starts its due keys, the soonest first and four at a time, and resolves at the end if it is to', async () => {
    const clock = new FakeClock();
    const { cache, manual, order } = await dueKeys({ clock }, 'fbacde.');
    await clock.advance(998);
    const ends: Promise<unknown>[] = [];
    const waitUntil = (end: Promise<unknown>) => void ends.push(end);
    expect(await settled(cache.requestStart({ waitUntil }))).toEqual({ value: undefined });
    const wait = cache.requestStart({ wait: true });
    await clock.flush();
    for (let call = 0; call < 6; call++) {
      expect([order.join(''), manual.live]).toEqual(['fbacde'.slice(0, call + 4), Math.min(4, 6 - call)]);
      expect([await settled(wait), await settled(ends[0] as Promise<void>)]).toEqual(['pending', 'pending']);
      if (call % 2 === 0) manual.call(call).reject(new Error('down'));
      else manual.call(call).resolve('new');
      await clock.flush();
    }
    expect([await settled(wait), await settled(ends[0] as Promise<void>)]).toEqual([
      { value: undefined },
      { value: undefined },
    ]);
    expect([order.length, cache.peek('f'), cache.peek('b')]).toEqual([6, 'old', 'new']);
  });

  it('survives a waitUntil that throws, and has nothing to wait for where nothing is due', async () => {
    const logger = recordLines();
    const cache = new RefreshingCache<string, string>({ name: 'c', load, clock: new FakeClock(), logger });
    const waitUntil = (): never => {
      throw new Error('no context');
    };
    expect(await settled(cache.requestStart({ wait: true, waitUntil }))).toEqual({ value: undefined });
    expect(logger.lines).toEqual(['error tickless: c: waitUntil threw: no context']);
  });

  it('ends with the cache: who waits is let go, and a later one rejects with ClosedError', async () => {
    const clock = new FakeClock();
    const { cache, manual } = await dueKeys({ clock }, 'abcdef');
    await clock.advance(2000);
    const wait = cache.requestStart({ wait: true });
    await clock.flush();
    await cache.close({ timeout: 0 });
    expect([await settled(wait), manual.calls.length, manual.live]).toEqual([{ value: undefined }, 4, 0]);
    expect(isClosedError(await rejectionOf(cache.requestStart()))).toBe(true);
    expect(clock.timerCount).toBe(0);
  });
});

describe('what it costs', () => {
  /** A group of so many members with 10 that are due, each time anew: 10 ms after they were loaded. */
  async function ofMembers(count: number) {
    const { clock, group, started, value } = make({ piggyback: true, timeout: Infinity });
    const reader = value('reader', 24 * HOUR);
    for (let at = 1; at < count; at++) value(`${at}`, at <= 10 ? 10 : 24 * HOUR);
    await clock.advance(10);
    return { clock, group, started, reader };
  }

  it('a request touches the 10 that are due, of 10,000 as of 100', async () => {
    const asked: number[] = [];
    for (const count of [100, 10_000]) {
      const { clock, group, started } = await ofMembers(count);
      const before = clock.asked;
      group.requestStart();
      for (let i = 0; i < 5; i++) await clock.flush();
      expect(started.sort()).toEqual(Array.from({ length: 10 }, (_, at) => `${at + 1}`).sort());
      asked.push(clock.asked - before);
    }
    expect(asked[1]).toBe(asked[0]);
    expect(asked[0]).toBeLessThan(200);
  });

  it('a request of a cache touches the 10 keys that are due, and costs the same with 10,000 keys as with 100', async () => {
    const caches = [100, 10_000].map((count) => {
      const clock = new CountingClock();
      const started = new Set<number>();
      const load = async (key: number) => {
        started.add(key);
        return key;
      };
      const schedule = ({ endedAt, result }: Execution) => endedAt + ((result as number) < 10 ? 10 : HOUR);
      const cache = new RefreshingCache<number, number>({ name: 'c', load, schedule, jitter: false, clock });
      for (let key = 0; key < count; key++) cache.set(key, key);
      return { clock, cache, started, times: [] as number[], asked: [] as number[] };
    });
    for (let round = 0; round < 60; round++) {
      for (const { clock, cache, started, times, asked } of caches) {
        await clock.advance(10);
        started.clear();
        const before = clock.asked;
        const start = performance.now();
        const end = cache.requestStart({ wait: true });
        times.push(performance.now() - start);
        await end;
        asked.push(clock.asked - before);
        expect([...started].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      }
    }
    expect(caches[1]?.asked.slice(1)).toEqual(caches[0]?.asked.slice(1)); // the first looked at all keys
    const [small = 0, large = 0] = caches.map(({ times }) => times.sort((a, b) => a - b)[30] as number);
    expect(large / small).toBeLessThan(5); // to look at all keys each time: 20 times as long and more
  });

  it('a read asks the clock once while nothing is due, and as often with 10,000 members as with 10 else', async () => {
    const asked: number[] = [];
    for (const count of [11, 10_000]) {
      const { clock, started, reader } = await ofMembers(count);
      let before = clock.asked;
      reader.current;
      asked.push(clock.asked - before);
      for (let i = 0; i < 5; i++) await clock.flush();
      expect(started).toHaveLength(10);
      before = clock.asked;
      reader.current;
      void reader.get();
      expect(clock.asked - before).toBe(2);
    }
    expect(asked[1]).toBe(asked[0]);
  });

  it('a read takes as long with 10,000 members as with 10, fresh or piggybacking', async () => {
    const groups = [await ofMembers(11), await ofMembers(10_000)];
    /** The longer of both medians by the shorter, for reads that are measured in turns. */
    async function ratio(reads: number, pause: number): Promise<number> {
      const times: number[][] = [[], []];
      for (let round = 0; round < 300; round++) {
        for (const [which, { clock, reader }] of groups.entries()) {
          await clock.advance(pause);
          const start = performance.now();
          for (let read = 0; read < reads; read++) reader.current;
          times[which]?.push(performance.now() - start);
          await clock.flush();
        }
      }
      const [small = 0, large = 0] = times.map((list) => list.sort((a, b) => a - b)[150] as number);
      return large / small;
    }
    for (const [reads, pause] of [
      [2000, 0],
      [1, 10],
    ] as const) {
      await ratio(reads, pause); // warm
      const loadsBefore = groups.map(({ started }) => started.length);
      const ratios = [await ratio(reads, pause), await ratio(reads, pause), await ratio(reads, pause)];
      const loads = groups.map(({ started }, which) => started.length - (loadsBefore[which] as number));
      expect(loads.every((count) => (pause === 0 ? count === 0 : count > 900))).toBe(true);
      expect(Math.min(...ratios)).toBeLessThan(1.5);
    }
  });
});

describe('a synchronous load that the group has just started', () => {
  it('is there for current on the very first read, with piggyback and after requestStart', () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, piggyback: true });
    const [a, b, c] = ['a', 'b', 'c'].map((name) => group.value({ name, load: () => name }));
    expect(a?.current).toBe('a');
    expect(b?.current).toBe('b');
    group.requestStart();
    expect(c?.current).toBe('c');
  });

  it('is there for current of a value that got too old', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, piggyback: true, maxStaleness: 2000, schedule: 1000 });
    let loads = 0;
    const [a, b] = ['a', 'b'].map((name) => group.value({ name, load: () => ++loads }));
    expect([a?.current, b?.current]).toEqual([1, 2]);
    await clock.advance(5000);
    group.requestStart();
    expect([a?.current, b?.current, loads]).toEqual([3, 4, 4]);
    await clock.flush();
    expect(loads).toBe(4);
  });
});
