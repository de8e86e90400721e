import { describe, expect, it } from 'vitest';
import type { ClusterMember } from '../../../src/cluster/cluster-member.ts';
import { Adoption, Deferral, type RemoteLoad } from '../../../src/cluster/remote-result.ts';
import { Entry } from '../../../src/engine/entry.ts';
import { Timing } from '../../../src/engine/timing.ts';
import type { Execution, Schedule } from '../../../src/index.ts';
import type { ValueSharedOptions } from '../../../src/options/shared-options.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { optionsOfTask, optionsOfValue } from '../../support/resolved-options.ts';

const HOUR = 3_600_000;
const PERIOD = 1000;

/** An entry that was never loaded. The schedule returns the next of `results`, else one period after the end. */
async function make({ results = [] as number[], optionsOf = optionsOfValue } = {}) {
  const clock = new FakeClock();
  await clock.advance(5000); // the monotonic clock does not begin at 0 everywhere
  const asked: Execution[] = [];
  const entry = new Entry<unknown>();
  const options = optionsOf({ clock, coolDown: 100, random: () => 0 });
  const timing = new Timing(options, (execution) => {
    asked.push(execution);
    return results.shift() ?? execution.endedAt + PERIOD;
  });
  return {
    clock,
    entry,
    timing,
    /** The arguments of the schedule's calls. */
    asked,
    /** A load ends now. */
    succeed: (metadata = {}, origin: 'loaded' | 'kept' = 'loaded') => {
      entry.isLoaded = true;
      return timing.succeeded(entry, { origin, metadata }, clock.monotonic());
    },
    adopt: (adopted: Pick<RemoteLoad<unknown>, 'loadedAt' | 'dueAt'> & Partial<RemoteLoad<unknown>>) =>
      new Adoption<unknown>({ options } as ClusterMember, {
        value: 'x',
        isAbsent: false,
        version: 1,
        took: 30,
        maxStalenessMs: undefined,
        tags: undefined,
        isDueTimeOverridden: false,
        pin: undefined,
        meta: undefined,
        headers: undefined,
        isLimitScheduled: false,
        round: 1,
        isKept: false,
        digest: undefined,
        ...adopted,
      }).applyTo(entry, timing),
    /** Another instance is executing. */
    defer: (forMs: number) => new Deferral<unknown>(options, forMs, true).applyTo(entry, timing),
    /** The wall clock is stepped, and both clocks are compared. */
    step: (ms: number) => {
      clock.stepWall(ms);
      timing.compareClocks(entry, clock.monotonic());
    },
    /** How long until the value is due, by both clocks. */
    due: () => [entry.dueAt - clock.monotonic(), entry.nextExecuteTime - clock.now()],
  };
}

/** The same, with a value that was loaded just now. */
async function makeLoaded(options: Parameters<typeof make>[0] = {}) {
  const made = await make(options);
  made.succeed();
  return made;
}

describe('the schedule is asked', () => {
  it('about the first execution, which was not due before', async () => {
    const { clock, asked } = await makeLoaded();
    const now = clock.now();
    const instants = { startedAt: now, endedAt: now, since: now, now };
    expect(asked).toMatchObject([{ ...instants, dueAt: undefined, outcome: 'loaded', answered: undefined }]);
  });

  it('about the next with the time when it was due, by the wall clock as it is now', async () => {
    const { clock, asked, succeed } = await makeLoaded();
    const due = clock.now() + PERIOD;
    clock.stepWall(HOUR);
    await clock.advance(1500);
    succeed();
    expect(asked.at(-1)).toMatchObject({ dueAt: due + HOUR, endedAt: clock.now() });
  });

  it.each<[results: number[], answered: number | undefined]>([
    [[], HOUR + PERIOD],
    [[Infinity], undefined],
  ])('once after a step, with its last result %j moved along', async (results, answered) => {
    const { asked, step } = await makeLoaded({ results });
    const { endedAt } = asked[0] as Execution;
    step(HOUR);
    step(0);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatchObject({ endedAt: endedAt + HOUR, answered: answered && endedAt + answered });
  });

  it('about an adopted snapshot after a step; the due time counts as its own result', async () => {
    const { clock, entry, asked, adopt, step, due } = await make();
    const now = clock.monotonic();
    adopt({ loadedAt: now - 200, dueAt: now + 799.5 });
    expect(asked).toEqual([]);
    expect([entry.loadedAt, due()]).toEqual([now - 200, [800, 800]]);
    step(HOUR);
    const endedAt = clock.now() - 200;
    const last = { startedAt: endedAt - 30, endedAt, outcome: 'loaded', dueAt: undefined };
    expect(asked).toMatchObject([{ ...last, answered: endedAt + PERIOD }]);
  });

  it('about an adopted snapshot that is never due again without a last result', async () => {
    const { clock, entry, asked, adopt, step } = await make();
    adopt({ loadedAt: clock.monotonic(), dueAt: Infinity });
    expect(entry.dueAt).toBe(Infinity);
    step(HOUR);
    expect(asked).toMatchObject([{ answered: undefined }]);
  });

  it.each([700, Infinity])(
    'not about a snapshot whose load returned the due time: in %d ms',
    async (dueIn) => {
      const { clock, asked, adopt, step, due, succeed } = await make();
      const now = clock.monotonic();
      adopt({ isDueTimeOverridden: true, loadedAt: now, dueAt: now + dueIn });
      step(HOUR);
      expect([asked, due()[1]]).toEqual([[], dueIn]);
      succeed();
      expect(asked.at(-1)?.dueAt).toBe(undefined);
    },
  );

  it('about a restored value after a step with its due time as the last result', async () => {
    const { clock, entry, timing, asked, step } = await make();
    timing.restored(entry, 300, clock.now() + 700, undefined);
    expect(asked).toEqual([]);
    step(-HOUR);
    const now = clock.now();
    expect(asked).toMatchObject([{ endedAt: now - 300, outcome: 'loaded', answered: now + 700 }]);
  });
});

describe('dueAfter of the load', () => {
  it('counts from now, moves with a step, and the schedule is not asked', async () => {
    const { asked, step, due, succeed } = await make();
    succeed({ dueAfterMs: 400 });
    for (const ms of [HOUR, -HOUR]) {
      step(ms);
      expect(due()).toEqual([400, 400]);
    }
    expect(asked).toEqual([]);
    succeed();
    expect(asked).toMatchObject([{ dueAt: undefined }]);
  });

  it('leaves the grid of the schedule in place, moved along by a step', async () => {
    const { clock, asked, step, succeed } = await makeLoaded();
    const due = clock.now() + PERIOD;
    succeed({ dueAfterMs: 400 });
    step(HOUR);
    succeed();
    expect(asked.at(-1)?.dueAt).toBe(due + HOUR);
  });

  it('may be without end', async () => {
    const { due, succeed } = await make();
    succeed({ dueAfterMs: Infinity });
    expect(due()[0]).toBe(Infinity);
  });
});

describe('a broken schedule', () => {
  it('is not asked again after a step: the cool-down moves along', async () => {
    const { asked, step, due, succeed } = await make({ results: [Number.NaN] });
    const error = succeed()?.error;
    expect(error).toMatchObject({ code: 'OPTION', member: 'v' });
    expect(error?.message).toMatch(/schedule must be a future instant/);
    step(HOUR);
    expect([asked.length, due()[1]]).toEqual([1, 50]);
  });
});

describe('an invalidated value', () => {
  it('stays due at each step of the clock, and the schedule is not asked', async () => {
    const { clock, entry, timing, asked, step } = await makeLoaded();
    timing.invalidated(entry);
    step(HOUR);
    expect([entry.dueAt, asked.length]).toEqual([-Infinity, 1]);
    expect(timing.nextExecuteTime(entry, clock.monotonic())).toBe(clock.now());
  });

  it('is no longer invalidated once the key is absent', async () => {
    const { entry, timing } = await makeLoaded();
    timing.invalidated(entry);
    timing.absent(entry, 500);
    expect(entry).toMatchObject({ isInvalidated: false, failures: 0 });
  });
});

describe('the age limit', () => {
  it('of the load makes the value due before the schedule does, and holds while the value is kept', async () => {
    const { clock, entry, due, succeed } = await make();
    succeed({ maxStalenessMs: 400 });
    expect([entry.maxStalenessMs, due()]).toEqual([400, [400, 400]]);
    await clock.advance(300);
    succeed({}, 'kept');
    expect([entry.maxStalenessMs, due()[0]]).toEqual([400, 400]);
    succeed();
    expect([entry.maxStalenessMs, due()[0]]).toEqual([Infinity, PERIOD]);
  });

  const notANumber = /maxStaleness of the schedule must be a number over 0, ignored/;
  it.each<[maxStaleness: () => unknown, limit: number, errors: RegExp[]]>([
    [() => 300, 300, []],
    [() => 700, 500, []],
    [() => undefined, 500, []],
    [() => 0, 500, [notANumber]],
    [() => -1, 500, [notANumber]],
    [() => Number.NaN, 500, [notANumber]],
    [() => '300', 500, [notANumber]],
    [() => JSON.parse('{'), 500, [/maxStaleness of the schedule threw, ignored/]],
  ])(
    'of the schedule shortens the option of 500, never lengthens it; errors are logged (%#)',
    async (maxStaleness, limit, errors) => {
      const { lines, ...logger } = recordLines();
      const optionsOf: typeof optionsOfValue = (options) =>
        optionsOfValue({ ...options, schedule: Infinity, maxStaleness: 500, logger });
      const { timing, entry, succeed } = await make({ optionsOf, results: [Infinity] });
      timing.schedule = { nextExecuteTime: () => Infinity, maxStaleness } as Schedule;
      succeed();
      expect([entry.maxStalenessMs, lines]).toEqual([
        limit,
        errors.map((error) => expect.stringMatching(error)),
      ]);
    },
  );
});

describe('a due time beyond maxStaleness, of a schedule that is known only at run time', () => {
  const LIMIT = 500;

  /** The lines after loads that are due so much later. */
  async function linesAfter(delays: readonly number[], own: Partial<ValueSharedOptions> = {}) {
    const { lines, ...logger } = recordLines();
    const { entry, clock } = await make();
    let loads = 0;
    const schedule = (): number => clock.now() + (delays[loads++] as number);
    const timing = new Timing(
      optionsOfValue({ clock, schedule, maxStaleness: LIMIT, logger, ...own }),
      schedule,
    );
    while (loads < delays.length)
      timing.succeeded(entry, { origin: 'loaded', metadata: {} }, clock.monotonic());
    return lines;
  }

  it.each([
    ['from the first load on', [LIMIT, LIMIT + 1, LIMIT]],
    ['later on', [LIMIT - 1, LIMIT + 1]],
  ])('is warned about once: %s', async (_, delays) => {
    expect(await linesAfter(delays)).toEqual([
      expect.stringMatching(/^warn .*due .* after the load, maxStaleness is 500 ms: reads .* wait/),
    ]);
    expect(await linesAfter(delays, { whenTooStale: 'throw' })).toEqual([
      expect.stringMatching(/reads .* are refused/),
    ]);
  });

  it('is not warned about where it is within the limit, and where it is never due', async () => {
    for (const [delays, own] of [
      [[LIMIT - 1], {}],
      [[Infinity], {}],
      [[LIMIT], { maxStaleness: Infinity }],
    ] as const) {
      expect(await linesAfter(delays, own)).toEqual([]);
    }
  });
});

it('freshUntil is the due time, at most a minute after the clocks were compared', async () => {
  const near = await makeLoaded();
  const now = near.clock.monotonic();
  expect(near.entry).toMatchObject({ checkClocksAt: now + 60_000, freshUntil: now + PERIOD });
  const far = await makeLoaded({ results: [Infinity] });
  expect(far.entry).toMatchObject({ checkClocksAt: now + 60_000, freshUntil: now + 60_000 });
  await far.clock.advance(70_000);
  far.step(0);
  expect(far.entry).toMatchObject({ checkClocksAt: now + 130_000, freshUntil: now + 130_000 });
});

describe('deferred', () => {
  it('a task that runs on another instance counts as done, and is due again then', async () => {
    const { clock, entry, due, defer } = await make({ optionsOf: optionsOfTask });
    defer(299.5);
    expect(entry).toMatchObject({ isLoaded: true, deferredUntil: clock.monotonic() + 299.5 });
    expect(due()).toEqual([299.5, 300]);
    await entry.promise;
  });

  it('values and tasks that have run here stay as they are', async () => {
    const value = await make();
    value.defer(300);
    expect(value.entry).toMatchObject({ isLoaded: false, dueAt: -Infinity });
    const task = await makeLoaded({ optionsOf: optionsOfTask });
    const { dueAt } = task.entry;
    task.defer(300);
    expect(task.entry).toMatchObject({ dueAt, deferredUntil: task.clock.monotonic() + 300 });
  });
});

describe('nextExecuteTime', () => {
  it('is the end of a cool-down that ends after the due time, until that has passed', async () => {
    const { clock, entry, timing } = await makeLoaded();
    const due = clock.now() + PERIOD;
    const next = (): number => timing.nextExecuteTime(entry, clock.monotonic()) - due;
    await clock.advance(PERIOD);
    timing.failed(entry, new Error('down'));
    expect(next()).toBe(50);
    await clock.advance(49);
    expect(next()).toBe(50);
    await clock.advance(1);
    expect(next()).toBe(0);
  });

  it('is the due time where the cool-down ends before', async () => {
    const { clock, entry, timing } = await makeLoaded();
    timing.failed(entry, new Error('a forced one'));
    expect(timing.nextExecuteTime(entry, clock.monotonic())).toBe(clock.now() + PERIOD);
  });
});
