import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import { Timing } from '../../../src/engine/timing.ts';
import type { Execution, Schedule } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { optionsOfTask, optionsOfValue } from '../../support/resolved-options.ts';

const HOUR = 3_600_000;
const PERIOD = 1000;

interface Made {
  readonly clock: FakeClock;
  readonly entry: Entry<unknown>;
  readonly timing: Timing;
  /** The arguments of the schedule's calls. */
  readonly asked: Execution[];
  /** Compares both clocks. */
  readonly compare: () => void;
}

/** An entry that was never loaded. The schedule returns the next of `answers`, else one period after the end. */
async function make({
  answers = [] as number[],
  optionsOf = optionsOfValue,
}: {
  answers?: number[];
  optionsOf?: typeof optionsOfValue;
} = {}): Promise<Made> {
  const clock = new FakeClock();
  await clock.advance(5000); // the monotonic clock does not begin at 0 everywhere
  const asked: Execution[] = [];
  const entry = new Entry<unknown>();
  const options = optionsOf({ clock, coolDown: 100, random: () => 0 });
  const timing = new Timing(options, (execution) => {
    asked.push(execution);
    return answers.shift() ?? execution.endedAt + PERIOD;
  });
  return {
    clock,
    entry,
    timing,
    asked,
    compare: () => void timing.compareClocks(entry, clock.monotonic()),
  };
}

/** The same, with a value that was loaded just now. */
async function makeLoaded(options: Parameters<typeof make>[0] = {}): Promise<Made> {
  const made = await make(options);
  succeed(made);
  return made;
}

function succeed({ timing, entry, clock }: Made, metadata = {}): ReturnType<Timing['succeeded']> {
  entry.isLoaded = true;
  return timing.succeeded(entry, { outcome: 'loaded', metadata }, clock.monotonic());
}

const adopted = {
  kind: 'adopted',
  value: 'x',
  isAbsent: false,
  version: 1,
  took: 30,
  maxStalenessMs: undefined,
  tags: undefined,
  isDueTimeOverridden: false,
} as const;

describe('the schedule is asked', () => {
  it('about the first execution, which was not due before', async () => {
    const { clock, asked } = await makeLoaded();
    const now = clock.now();
    expect(asked).toMatchObject([
      {
        startedAt: now,
        endedAt: now,
        since: now,
        now,
        dueAt: undefined,
        outcome: 'loaded',
        answered: undefined,
      },
    ]);
  });

  it('about the next with the time when it was due, by the wall clock as it is now', async () => {
    const made = await makeLoaded();
    const due = made.clock.now() + PERIOD;
    made.clock.stepWall(HOUR);
    await made.clock.advance(1500);
    succeed(made);
    expect(made.asked.at(-1)).toMatchObject({ dueAt: due + HOUR, endedAt: made.clock.now() });
  });

  it('after a step with its last result, moved along; with none where that was Infinity', async () => {
    for (const [answer, answered] of [
      [undefined, PERIOD + HOUR],
      [Infinity, undefined],
    ] as const) {
      const { clock, asked, compare } = await makeLoaded({ answers: answer === undefined ? [] : [answer] });
      const { endedAt } = asked[0] as Execution;
      clock.stepWall(HOUR);
      compare();
      expect(asked).toHaveLength(2);
      expect(asked[1]).toMatchObject({
        endedAt: endedAt + HOUR,
        answered: answered && endedAt + answered,
      });
      compare();
      expect(asked).toHaveLength(2);
    }
  });

  it('about an adopted snapshot with the time of its load; the due time of the instance that loaded it counts as its own result', async () => {
    const made = await make();
    const { clock, entry, timing, asked, compare } = made;
    const now = clock.monotonic();
    timing.adopted(entry, { ...adopted, loadedAt: now - 200, dueAt: now + 799.5 });
    expect(asked).toEqual([]);
    expect(entry).toMatchObject({
      loadedAt: now - 200,
      dueAt: now + 800,
      nextExecuteTime: clock.now() + 800,
    });
    const endedAt = clock.now() - 200;
    clock.stepWall(HOUR);
    compare();
    expect(asked).toMatchObject([
      {
        startedAt: endedAt - 30 + HOUR,
        endedAt: endedAt + HOUR,
        outcome: 'loaded',
        dueAt: undefined,
        answered: endedAt + PERIOD + HOUR,
      },
    ]);
  });

  it('about an adopted snapshot that is never due again without a last result', async () => {
    const { clock, entry, timing, asked, compare } = await make();
    timing.adopted(entry, { ...adopted, loadedAt: clock.monotonic(), dueAt: Infinity });
    expect(entry.dueAt).toBe(Infinity);
    clock.stepWall(HOUR);
    compare();
    expect(asked).toMatchObject([{ answered: undefined }]);
  });

  it('not about a snapshot whose load returned the due time, which moves along', async () => {
    for (const dueAt of [700, Infinity]) {
      const made = await make();
      const { clock, entry, timing, asked, compare } = made;
      timing.adopted(entry, {
        ...adopted,
        isDueTimeOverridden: true,
        loadedAt: clock.monotonic(),
        dueAt: clock.monotonic() + dueAt,
      });
      clock.stepWall(HOUR);
      compare();
      expect(asked).toEqual([]);
      expect(entry.nextExecuteTime).toBe(clock.now() + dueAt);
      succeed(made);
      expect(asked.at(-1)?.dueAt).toBe(undefined);
    }
  });

  it('about a restored value with its due time as the last result', async () => {
    const { clock, entry, timing, asked, compare } = await make();
    timing.restored(entry, 300, clock.now() + 700);
    expect(asked).toEqual([]);
    const wall = clock.now();
    clock.stepWall(-HOUR);
    compare();
    expect(asked).toMatchObject([
      { endedAt: wall - 300 - HOUR, outcome: 'loaded', answered: wall + 700 - HOUR },
    ]);
  });
});

describe('nextExecuteTime of the load', () => {
  it('counts as a duration: it moves with a step, and the schedule is not asked', async () => {
    const made = await make();
    const { clock, entry, asked, compare } = made;
    succeed(made, { nextExecuteTime: clock.now() + 400 });
    const { dueAt } = entry;
    clock.stepWall(HOUR);
    compare();
    expect([entry.dueAt, entry.nextExecuteTime]).toEqual([dueAt, clock.now() + 400]);
    clock.stepWall(-HOUR);
    compare();
    expect([entry.dueAt, entry.nextExecuteTime]).toEqual([dueAt, clock.now() + 400]);
    expect(asked).toEqual([]);
    succeed(made);
    expect(asked).toMatchObject([{ dueAt: undefined }]);
  });

  it('leaves the grid of the schedule in place, moved along by a step', async () => {
    const made = await makeLoaded();
    const due = made.clock.now() + PERIOD;
    succeed(made, { nextExecuteTime: made.clock.now() + 400 });
    made.clock.stepWall(HOUR);
    made.compare();
    succeed(made);
    expect(made.asked.at(-1)?.dueAt).toBe(due + HOUR);
  });

  it('in the past is an error that names it, and starts a cool-down', async () => {
    const made = await make();
    const coolingDown = succeed(made, { nextExecuteTime: made.clock.now() });
    expect(coolingDown).toMatchObject({ failures: 1, until: made.clock.now() + 50 });
    expect(coolingDown?.error.message).toMatch(/nextExecuteTime.*future/);
    expect(made.entry.dueAt).toBe(made.clock.monotonic() + 50);
  });
});

describe('a broken schedule', () => {
  it('is not asked again by a step: the cool-down moves along', async () => {
    const made = await make({ answers: [Number.NaN] });
    expect(succeed(made)?.error.message).toMatch(/schedule/);
    made.clock.stepWall(HOUR);
    made.compare();
    expect(made.asked).toHaveLength(1);
    expect(made.entry.nextExecuteTime).toBe(made.clock.now() + 50);
  });

  it('counts as a failure after reschedule too, and another schedule mends it', async () => {
    const { timing, entry } = await makeLoaded({ answers: [5e15, Number.NaN, Number.NaN, 5e15] });
    expect([timing.rescheduled(entry)?.failures, entry.failures]).toEqual([1, 1]);
    expect([timing.rescheduled(entry)?.failures, entry.failures]).toEqual([2, 2]);
    expect([timing.rescheduled(entry), entry.failures, entry.lastError]).toEqual([undefined, 0, undefined]);
  });

  it('another schedule does not clear the failure of a load', async () => {
    const { timing, entry } = await makeLoaded();
    timing.failed(entry, new Error('down'));
    expect([timing.rescheduled(entry), entry.failures]).toEqual([undefined, 1]);
  });
});

describe('an invalidated value', () => {
  it('stays due at each step of the clock, and the schedule is not asked', async () => {
    const { clock, entry, timing, asked, compare } = await makeLoaded();
    timing.invalidated(entry);
    clock.stepWall(HOUR);
    compare();
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
    const made = await make();
    const { clock, entry, timing } = made;
    succeed(made, { maxStalenessMs: 400 });
    expect(entry).toMatchObject({ maxStalenessMs: 400, dueAt: clock.monotonic() + 400 });
    expect(entry.nextExecuteTime).toBe(clock.now() + 400);
    await clock.advance(300);
    timing.succeeded(entry, { outcome: 'kept', metadata: {} }, clock.monotonic());
    expect(entry).toMatchObject({ maxStalenessMs: 400, dueAt: clock.monotonic() + 400 });
    succeed(made);
    expect(entry).toMatchObject({ maxStalenessMs: Infinity, dueAt: clock.monotonic() + PERIOD });
  });

  it.each([
    [300, 300],
    [700, 500],
    [undefined, 500],
  ])('of the schedule (%s) shortens the option of 500, never lengthens it: %i', async (ms, limit) => {
    const { lines, entry } = await scheduled(() => ms);
    expect([entry.maxStalenessMs, lines]).toEqual([limit, []]);
  });

  it('of the schedule is logged if it is not a positive number, and the option holds', async () => {
    for (const ms of [0, -1, Number.NaN, '300']) {
      const { lines, entry } = await scheduled(() => ms as number);
      expect([entry.maxStalenessMs, lines.length]).toEqual([500, 1]);
      expect(lines[0]).toMatch(/^error tickless: v: .*maxStaleness of the schedule/);
    }
    const { lines, entry } = await scheduled(() => {
      throw new Error('no headers');
    });
    expect([entry.maxStalenessMs, lines.length]).toEqual([500, 1]);
    expect(lines[0]).toMatch(/^error tickless: v: .*maxStaleness of the schedule threw/);
  });

  /** A value with an age limit of 500, whose schedule has one too. */
  async function scheduled(maxStaleness: () => number | undefined) {
    const logger = recordLines();
    const made = await make({
      optionsOf: (options) => optionsOfValue({ ...options, maxStaleness: 500, logger }),
    });
    made.timing.schedule = { nextExecuteTime: () => Infinity, maxStaleness } as Schedule;
    succeed(made);
    return { ...made, lines: logger.lines };
  }
});

describe('freshUntil', () => {
  it('is the due time, at most a minute after the clocks were compared', async () => {
    const near = await makeLoaded();
    const now = near.clock.monotonic();
    expect(near.entry).toMatchObject({ checkClocksAt: now + 60_000, freshUntil: now + PERIOD });
    const far = await makeLoaded({ answers: [Infinity] });
    expect(far.entry).toMatchObject({ checkClocksAt: now + 60_000, freshUntil: now + 60_000 });
    await far.clock.advance(70_000);
    far.compare();
    expect(far.entry).toMatchObject({ checkClocksAt: now + 130_000, freshUntil: now + 130_000 });
  });
});

describe('deferred', () => {
  it('a task that runs on another instance counts as done, and is due again then', async () => {
    const { clock, entry, timing } = await make({ optionsOf: optionsOfTask });
    timing.deferred(entry, 299.5);
    const now = clock.monotonic();
    expect(entry).toMatchObject({ isLoaded: true, dueAt: now + 299.5, deferredUntil: now + 299.5 });
    expect(entry.nextExecuteTime).toBe(clock.now() + 300);
    await entry.promise;
  });

  it('values and tasks that have run here stay as they are', async () => {
    const value = await make();
    value.timing.deferred(value.entry, 300);
    expect(value.entry).toMatchObject({ isLoaded: false, dueAt: -Infinity });
    const task = await makeLoaded({ optionsOf: optionsOfTask });
    const { dueAt } = task.entry;
    task.timing.deferred(task.entry, 300);
    expect(task.entry).toMatchObject({ dueAt, deferredUntil: task.clock.monotonic() + 300 });
  });
});

describe('nextExecuteTime', () => {
  it('is the end of a cool-down that ends after the due time, until that has passed', async () => {
    const { clock, entry, timing } = await makeLoaded();
    const due = clock.now() + PERIOD;
    const next = (): number => timing.nextExecuteTime(entry, clock.monotonic());
    await clock.advance(PERIOD);
    timing.failed(entry, new Error('down'));
    expect(next()).toBe(due + 50);
    await clock.advance(49);
    expect(next()).toBe(due + 50);
    await clock.advance(1);
    expect(next()).toBe(due);
  });

  it('is the due time where the cool-down ends before', async () => {
    const { clock, entry, timing } = await makeLoaded();
    const due = clock.now() + PERIOD;
    timing.failed(entry, new Error('a forced one'));
    expect(timing.nextExecuteTime(entry, clock.monotonic())).toBe(due);
  });
});
