import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import { Timing } from '../../../src/engine/timing.ts';
import type { Execution, Schedule } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { policyOfTask, policyOfValue } from '../../support/policy.ts';

const HOUR = 3_600_000;
const PERIOD = 1000;

interface Made {
  readonly clock: FakeClock;
  readonly entry: Entry<unknown>;
  readonly timing: Timing;
  /** What the schedule was told each time it was asked. */
  readonly asked: Execution[];
  /** Both clocks are compared, now. */
  readonly compare: () => void;
}

/** An entry without a past. The schedule answers with a period after the end, unless it is told what to say. */
async function make({
  answers = [] as number[],
  policyOf = policyOfValue,
}: {
  answers?: number[];
  policyOf?: typeof policyOfValue;
} = {}): Promise<Made> {
  const clock = new FakeClock();
  await clock.advance(5000); // the monotonic clock does not begin at 0 everywhere
  const asked: Execution[] = [];
  const entry = new Entry<unknown>();
  const policy = policyOf({ clock, coolDown: 100, random: () => 0 });
  const timing = new Timing(policy, (execution) => {
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

/** The same, with a value that has come just now. */
async function makeLoaded(options: Parameters<typeof make>[0] = {}): Promise<Made> {
  const made = await make(options);
  succeed(made);
  return made;
}

function succeed({ timing, entry, clock }: Made, said = {}): ReturnType<Timing['succeeded']> {
  entry.isLoaded = true;
  return timing.succeeded(entry, 'loaded', said, clock.monotonic());
}

const adopted = {
  version: 1,
  took: 30,
  maxStalenessMs: undefined,
  tags: undefined,
  isDueSaid: false,
};

describe('what the schedule is told', () => {
  it('of the first execution: that none was due', async () => {
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

  it('of the next: when it was due, in terms of the wall clock as it is now', async () => {
    const made = await makeLoaded();
    const due = made.clock.now() + PERIOD;
    made.clock.stepWall(HOUR);
    await made.clock.advance(1500);
    succeed(made);
    expect(made.asked.at(-1)).toMatchObject({ dueAt: due + HOUR, endedAt: made.clock.now() });
  });

  it('after a step: what it had answered, moved along; nothing where that was never', async () => {
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

  it('of a snapshot that was adopted: when it was loaded, and by its winner’s own answer, which is its own', async () => {
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

  it('of one that is never due again: that nothing was answered', async () => {
    const { clock, entry, timing, asked, compare } = await make();
    timing.adopted(entry, { ...adopted, loadedAt: clock.monotonic(), dueAt: Infinity });
    expect(entry.dueAt).toBe(Infinity);
    clock.stepWall(HOUR);
    compare();
    expect(asked).toMatchObject([{ answered: undefined }]);
  });

  it('of one whose due time its load had said: nothing, it moves along', async () => {
    for (const dueAt of [700, Infinity]) {
      const made = await make();
      const { clock, entry, timing, asked, compare } = made;
      timing.adopted(entry, {
        ...adopted,
        isDueSaid: true,
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

  it('of a value that was restored: as of one that it had answered for', async () => {
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

describe('what the load said itself', () => {
  it('is a duration: it moves with a step, and the schedule is not asked', async () => {
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

  it('leaves the grid of the schedule where it was, moved along', async () => {
    const made = await makeLoaded();
    const due = made.clock.now() + PERIOD;
    succeed(made, { nextExecuteTime: made.clock.now() + 400 });
    made.clock.stepWall(HOUR);
    made.compare();
    succeed(made);
    expect(made.asked.at(-1)?.dueAt).toBe(due + HOUR);
  });

  it('is named when it has passed already: the cool-down decides then', async () => {
    const made = await make();
    const coolingDown = succeed(made, { nextExecuteTime: made.clock.now() });
    expect(coolingDown).toMatchObject({ failures: 1, until: made.clock.now() + 50 });
    expect(coolingDown?.error.message).toMatch(/nextExecuteTime.*future/);
    expect(made.entry.dueAt).toBe(made.clock.monotonic() + 50);
  });
});

describe('a schedule that can not say when', () => {
  it('is not asked again by a step: the cool-down moves along', async () => {
    const made = await make({ answers: [Number.NaN] });
    expect(succeed(made)?.error.message).toMatch(/schedule/);
    made.clock.stepWall(HOUR);
    made.compare();
    expect(made.asked).toHaveLength(1);
    expect(made.entry.nextExecuteTime).toBe(made.clock.now() + 50);
  });

  it('counts as a failure also when it comes by reschedule, which mends it too', async () => {
    const { timing, entry } = await makeLoaded({ answers: [5e15, Number.NaN, Number.NaN, 5e15] });
    expect([timing.rescheduled(entry)?.failures, entry.failures]).toEqual([1, 1]);
    expect([timing.rescheduled(entry)?.failures, entry.failures]).toEqual([2, 2]);
    expect([timing.rescheduled(entry), entry.failures, entry.lastError]).toEqual([undefined, 0, undefined]);
  });

  it('a schedule that is mended says nothing of a load that fails', async () => {
    const { timing, entry } = await makeLoaded();
    timing.failed(entry, new Error('down'));
    expect([timing.rescheduled(entry), entry.failures]).toEqual([undefined, 1]);
  });
});

describe('what is invalidated', () => {
  it('stays due at once, whatever the clock does, and the schedule is not asked', async () => {
    const { clock, entry, timing, asked, compare } = await makeLoaded();
    timing.invalidated(entry);
    clock.stepWall(HOUR);
    compare();
    expect([entry.dueAt, asked.length]).toEqual([-Infinity, 1]);
    expect(timing.nextExecuteTime(entry, clock.monotonic())).toBe(clock.now());
  });

  it('is so no more once the source says that it has none', async () => {
    const { entry, timing } = await makeLoaded();
    timing.invalidated(entry);
    timing.absent(entry, 500);
    expect(entry).toMatchObject({ isInvalidated: false, failures: 0 });
  });
});

describe('the age limit', () => {
  it('that the load gave makes the value due, whatever the schedule says, and holds while the value is kept', async () => {
    const made = await make();
    const { clock, entry, timing } = made;
    succeed(made, { maxStalenessMs: 400 });
    expect(entry).toMatchObject({ maxStalenessMs: 400, dueAt: clock.monotonic() + 400 });
    expect(entry.nextExecuteTime).toBe(clock.now() + 400);
    await clock.advance(300);
    timing.succeeded(entry, 'kept', {}, clock.monotonic());
    expect(entry).toMatchObject({ maxStalenessMs: 400, dueAt: clock.monotonic() + 400 });
    succeed(made);
    expect(entry).toMatchObject({ maxStalenessMs: Infinity, dueAt: clock.monotonic() + PERIOD });
  });

  it.each([
    [300, 300],
    [700, 500],
    [undefined, 500],
  ])('of the schedule, %s, makes the option of 500 shorter, never longer: %i', async (ms, limit) => {
    const { lines, entry } = await scheduled(() => ms);
    expect([entry.maxStalenessMs, lines]).toEqual([limit, []]);
  });

  it('of the schedule that is none is told, and the option holds', async () => {
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
      policyOf: (options) => policyOfValue({ ...options, maxStaleness: 500, logger }),
    });
    made.timing.schedule = { nextExecuteTime: () => Infinity, maxStaleness } as Schedule;
    succeed(made);
    return { ...made, lines: logger.lines };
  }
});

describe('the horizon', () => {
  it('is the due time, but no more than a minute after the last look at the clocks', async () => {
    const near = await makeLoaded();
    const now = near.clock.monotonic();
    expect(near.entry).toMatchObject({ lookAt: now + 60_000, freshUntil: now + PERIOD });
    const far = await makeLoaded({ answers: [Infinity] });
    expect(far.entry).toMatchObject({ lookAt: now + 60_000, freshUntil: now + 60_000 });
    await far.clock.advance(70_000);
    far.compare();
    expect(far.entry).toMatchObject({ lookAt: now + 130_000, freshUntil: now + 130_000 });
  });
});

describe('who stands by', () => {
  it('a task that runs elsewhere has been seen to, and is due again then', async () => {
    const { clock, entry, timing } = await make({ policyOf: policyOfTask });
    timing.stoodBy(entry, 299.5);
    const now = clock.monotonic();
    expect(entry).toMatchObject({ isLoaded: true, dueAt: now + 299.5, deferredUntil: now + 299.5 });
    expect(entry.nextExecuteTime).toBe(clock.now() + 300);
    await entry.promise;
  });

  it('what was loaded here, or holds a value, stays as it is', async () => {
    const value = await make();
    value.timing.stoodBy(value.entry, 300);
    expect(value.entry).toMatchObject({ isLoaded: false, dueAt: -Infinity });
    const task = await makeLoaded({ policyOf: policyOfTask });
    const { dueAt } = task.entry;
    task.timing.stoodBy(task.entry, 300);
    expect(task.entry).toMatchObject({ dueAt, deferredUntil: task.clock.monotonic() + 300 });
  });
});

describe('nextExecuteTime', () => {
  it('is the end of a cool-down that is later than the due time, and not a moment longer', async () => {
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

  it('is the due time, where a cool-down ends before', async () => {
    const { clock, entry, timing } = await makeLoaded();
    const due = clock.now() + PERIOD;
    timing.failed(entry, new Error('a forced one'));
    expect(timing.nextExecuteTime(entry, clock.monotonic())).toBe(due);
  });
});
