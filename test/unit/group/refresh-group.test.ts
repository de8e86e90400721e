import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { dailyAt } from '../../../src/calendar/index.ts';
import {
  isTicklessError,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { onEnded, recordLines } from '../../support/events.ts';
import { HoldingClock } from '../../support/holding-clock.ts';
import { manualGroup as make } from '../../support/manual-group.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { optionsIn } from '../../support/option-errors.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';
import { unspread } from '../../support/unspread.ts';

const HOUR = 3_600_000;

/** The options that an action is refused for. */
function refusedOptions(action: () => unknown): string[] {
  return optionsIn(thrownBy(action));
}

const load = async () => 'x';

it('whose due time moves while the group loads it keeps its slot', async () => {
  const { clock, group, started, value } = make({ concurrency: 1 });
  const at = clock.now() + 1000;
  const hang = (): Promise<string> => new Promise(() => {});
  const long = value('long', 0, { load: hang, schedule: () => at, timeout: Infinity });
  value('next', 62_000);
  await clock.advance(2000);
  group.requestStart();
  await clock.flush();
  expect([long.inspect().running, group.inspect().running]).toEqual([true, 1]);
  clock.stepWall(-HOUR);
  await clock.advance(61_000);
  long.current; // compares the clocks
  group.requestStart();
  await clock.flush();
  expect([started, group.inspect().running]).toEqual([[], 1]);
});

it('that is found not to be due after a step of the clock takes no slot', async () => {
  const { clock, group, started, value } = make({ concurrency: 1 });
  await clock.advance(30_000);
  const at = clock.now() + 65_000;
  value('calendar', 0, { schedule: () => at });
  await clock.advance(31_000);
  group.requestStart(); // the group has compared the clocks, and does so again a minute later
  await clock.advance(35_000);
  value('next', 1);
  await clock.advance(1);
  clock.stepWall(-HOUR);
  group.requestStart();
  await clock.flush();
  expect([started, group.inspect().running]).toEqual([['next'], 0]);
});

it('which holds the process holds it for the loads that it waits for', async () => {
  const clock = new HoldingClock();
  const group = new RefreshGroup({ clock, retry: false, logger: false });
  const manual = new ManualLoad<string>();
  group.value({ name: 'v', load: manual.load });
  group.requestStart();
  await clock.flush();
  expect([clock.timerCount, clock.held]).toEqual([1, 0]);
  const promises: Promise<unknown>[] = [];
  group.requestStart({ waitUntil: (promise) => void promises.push(promise) });
  expect(clock.held).toBe(1);
  manual.call(0).resolve('x');
  await Promise.all(promises);
  expect(clock.held).toBe(0);
});

describe('the options of a group', () => {
  it('apply to members without options of their own; undefined counts as not given', async () => {
    const { clock, group } = make({ schedule: 5000, maxStaleness: 60_000, coolDown: 100 });
    const [a, b] = [group.value({ name: 'a', load }), group.value({ name: 'b', load, schedule: 3000 })];
    const c = group.value({ name: 'c', load, schedule: undefined, maxStaleness: 70_000 });
    const d = group.cache({ name: 'd', load, random: unspread });
    const e = group.executor(load, { name: 'e', schedule: 4000 });
    await Promise.all([a.get(), b.get(), c.get(), d.get('k'), e.execute()]);
    const all = [a.inspect(), b.inspect(), c.inspect(), d.inspect('k'), e.inspect()];
    const due = all.map((status) => (status?.nextExecuteTime ?? 0) - clock.now());
    expect(due).toEqual([5000, 3000, 5000, 5000, 4000]);
    const limits = [a.inspect(), b.inspect(), c.inspect(), d.inspect('k')].map((one) => one?.maxStaleness);
    expect(limits).toEqual([60_000, 60_000, 70_000, 60_000]);
  });

  it('and a member, given together, are refused where maxStaleness leaves no room for the schedule', () => {
    const refused = ['maxStaleness'];
    expect(refusedOptions(() => make({ schedule: 5000, maxStaleness: 5000 }))).toEqual(refused);
    const { group } = make({ schedule: undefined, maxStaleness: 5000 }); // the members may have schedules
    expect(group.value({ name: 'a', load, schedule: 4999 })).toBeDefined();
    for (const schedule of [undefined, 5000]) {
      expect(refusedOptions(() => group.value({ name: 'b', load, schedule }))).toEqual(refused);
      expect(refusedOptions(() => group.cache({ name: 'b', load, schedule }))).toEqual(refused);
    }
  });

  it('that are only for values do not affect its executors', async () => {
    const { group } = make({ maxStaleness: 2 * HOUR, whenTooStale: 'throw' });
    const executor = group.executor(load, { name: 'e' });
    await executor.requestStart();
    expect(executor.inspect().isDue).toBe(false);
    const own = { name: 'f', schema: {} } as never;
    expect(refusedOptions(() => group.executor(load, own))).toEqual(['schema']);
  });

  it('that break a rule are reported all at once', () => {
    const unknown = { group: make().group, load, tick: 1 };
    const bad = { name: '', piggyback: 'yes', concurrency: 0, schedule: -1, ...unknown };
    const broken = refusedOptions(() => new RefreshGroup(bad as never));
    expect(broken.sort()).toEqual(Object.keys(bad).sort());
    for (const concurrency of [-1, 1.5, Number.NaN, '4', null]) {
      expect(refusedOptions(() => make({ concurrency } as never))).toEqual(['concurrency']);
    }
    for (const fine of [{ concurrency: Infinity }, { name: undefined }]) {
      expect(make(fine).group.inspect().name).toBe('group');
    }
  });

  it('of a member that break a rule are reported, and take no name', () => {
    const { group } = make();
    const wrong = { name: 'a', load, tick: 1, required: 'yes' } as never;
    expect(refusedOptions(() => group.value(wrong)).sort()).toEqual(['required', 'tick']);
    const [ofCache, ofTask] = [{ load, required: 'all' }, { piggyback: true }];
    expect(refusedOptions(() => group.cache({ name: 'a', ...ofCache } as never))).toEqual(['required']);
    expect(refusedOptions(() => group.executor(load, { name: 'a', ...ofTask } as never))).toEqual([
      'piggyback',
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

  it('a member made by its own constructor is like any other', async () => {
    const { clock, group, started } = make({ schedule: 5000 });
    const direct = new RefreshingValue({ name: 'a', load: () => started.push('a'), group });
    const cache = new RefreshingCache({ name: 'c', load, group });
    const executor = new PeriodicExecutor(() => started.push('e'), { name: 'e', group });
    expect(group.inspect().members.map(({ name }) => name)).toEqual(['a', 'c', 'e']);
    group.requestStart();
    await clock.flush();
    expect([started, direct.inspect().nextExecuteTime - clock.now()]).toEqual([['a', 'e'], 5000]);
    await group.close();
    expect(isTicklessError(await rejectionOf(cache.get('k')), 'CLOSED')).toBe(true);
    expect(isTicklessError(await rejectionOf(executor.execute()), 'CLOSED')).toBe(true);
    expect(isTicklessError(await rejectionOf(direct.refresh()), 'CLOSED')).toBe(true);
  });

  it('members are looked at one by one as in the whole, which may leave them out', async () => {
    const group = new RefreshGroup({ logger: false, retry: false });
    const down = group.value({ name: 'down', load: () => Promise.reject(new Error('down')), required: true });
    group.cache({ name: 'c', load });
    group.executor(() => {}, { name: 'e' }).pause();
    await rejectionOf(down.refresh());
    down.pause();
    const members = group.members();
    const whole = group.inspect({ values: false });
    const timeless = (statuses: unknown): string =>
      JSON.stringify(statuses).replace(/"(nextExecuteTime|failingSince)":\d+/g, '');
    expect(timeless(members.map((member) => member.inspect()))).toBe(timeless(whole.members));
    const problems = members.flatMap((member) => member.health());
    expect(problems.map(({ name, kind }) => [name, kind])).toEqual([
      ['down', 'not-loaded'],
      ['down', 'paused'],
      ['e', 'paused'],
    ]);
    expect(group.health({ start: false }).problems).toEqual(problems);
    expect(group.inspect({ members: false })).toMatchObject({ name: 'group', closed: false, members: [] });
    expect(() => group.inspect({ members: 1 as never })).toThrow(/members/);
  });

  it('members are returned with their kind, names and backends, in their order, until they are closed', async () => {
    const lock = lockOf(memoryBackend());
    const backend = memoryBackend();
    const group = new RefreshGroup({ lock });
    const value = group.value({ name: 'v', load, backend });
    const cache = group.cache({ name: 'c', load });
    const executor = group.executor(() => {}, { name: 'e' });
    expect(group.members()).toEqual([
      { kind: 'value', name: 'v', member: value, lock: backend.lock, store: backend.store },
      { kind: 'cache', name: 'c', member: cache, lock: undefined, store: undefined },
      { kind: 'executor', name: 'e', member: executor, lock, store: undefined },
    ]);
    expect(group.members()[0]?.member).toBe(value);
    await value.close();
    expect(group.members().map(({ name }) => name)).toEqual(['c', 'e']);
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
  const reading =
    <R>(made: (group: RefreshGroup) => R, read: (reader: R) => unknown) =>
    (group: RefreshGroup) => {
      const reader = made(group);
      return () => read(reader);
    };
  const readers: Record<string, (group: RefreshGroup) => () => unknown> = {
    'get of a value': reading(aValue, (reader) => reader.get()),
    'get of a value with options': reading(aValue, (reader) => reader.get({ patience: 5 })),
    'current of a value': reading(aValue, (reader) => reader.current),
    'requestStart of a value': reading(aValue, (reader) => reader.requestStart()),
    'get of a key': reading(aCache, (reader) => reader.get('k')),
    'current of a key': reading(aCache, (reader) => reader.current('k')),
    'getMany of a cache': reading(aCache, (reader) => reader.getMany(['k'])),
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
    it(`${how} starts the other due members behind it: soonest first, at most two at a time`, async () => {
      const { clock, group, value } = make({ concurrency: 2 });
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
      const { clock, group, started, value } = make({ piggyback: false });
      const read = reader(group);
      value('a', 10);
      group.value({ name: 'never loaded', load: () => started.push('never loaded') });
      await clock.advance(5 * 60_000);
      read();
      await clock.flush();
      expect(started).toEqual([]);
    });
  }

  it('starts members that were never loaded; inspect and peek start none', async () => {
    const { clock, group, started, value } = make({});
    const reader = value('reader', HOUR);
    const other = group.value({ name: 'other', load: () => started.push('other') });
    other.peek();
    group.inspect();
    reader.inspect();
    reader.set('again');
    await reader.refresh();
    expect(started.splice(0)).toEqual(['reader']);
    reader.current;
    await clock.flush();
    expect([started, other.peek()]).toEqual([['other'], 1]);
  });

  it('does not start members that cool down or are paused, and starts them after that', async () => {
    const { clock, started, value } = make({ coolDown: 1000, random: () => 0.5 });
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
  it('by a listener of resumed starts the member that was resumed', async () => {
    const { clock, group, started, value } = make();
    const member = value('a', 100);
    member.pause();
    await clock.advance(100);
    member.on('resumed', () => group.requestStart());
    member.resume();
    await clock.flush();
    expect(started).toEqual(['a']);
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

  it('survives a waitUntil that throws, which is logged', async () => {
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

  it('starts members that became due by reschedule, by invalidate, and at the limit of age', async () => {
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
  for (const who of ['its own load', 'a listener']) {
    it(`leaves to the next request what ${who} invalidates while it goes on`, async () => {
      const { clock, group, started, value } = make();
      const load = (): Promise<string> => {
        if (started.push('a') < 20 && who === 'its own load') a.invalidate();
        return started.length < 20 ? Promise.resolve('a') : new Promise(() => {});
      };
      const a = value('a', 10, { load });
      if (who === 'a listener') onEnded(a, 'loaded', () => a.invalidate());
      await clock.advance(100);
      for (const loads of [1, 2]) {
        group.requestStart();
        await clock.advance(1);
        expect(started).toHaveLength(loads);
      }
    });
  }

  it('starts a member whose load a listener ended at its start again at the next request, if it is due', async () => {
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

  it('follows a step of the wall clock with members of calendar schedules, within a minute', async () => {
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

  it('starts no member that its own check of the clocks finds not due any more', async () => {
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

describe('a synchronous load that the group has just started', () => {
  it('is returned by current on the very first read, with piggyback and after requestStart', () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock });
    const [a, b, c] = ['a', 'b', 'c'].map((name) => group.value({ name, load: () => name }));
    expect(a?.current).toBe('a');
    expect(b?.current).toBe('b');
    group.requestStart();
    expect(c?.current).toBe('c');
  });

  it('is returned by current of a value that got too old', async () => {
    const clock = new FakeClock();
    const group = new RefreshGroup({ clock, maxStaleness: 2000, schedule: 1000 });
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
