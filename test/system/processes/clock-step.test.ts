import { beforeAll, describe, expect, it } from 'vitest';
import { dailyAt, RefreshingValue, type ScheduleLike } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { reportOf, runFixture } from './child.ts';
import { libfaketime, withFakeTime } from './faketime.ts';
import { type ClockStepReport, DELAY_MS } from './fixtures/clock-step.ts';

const HOUR_MS = 3_600_000;

describe.concurrent('a wall clock that is stepped in a real process', () => {
  beforeAll(() => void libfaketime(), 300_000);

  async function stepBy(by: string, ...args: string[]): Promise<ClockStepReport> {
    const ended = await withFakeTime((env) => runFixture('clock-step', { args: [by, ...args], env }));
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    const report = reportOf<ClockStepReport>(ended);
    // The process saw the step, between two reloads; without that the rest would prove nothing.
    expect(Math.abs(report.stepped - Number(by) * 1000)).toBeLessThan(60_000);
    expect(report.endedAt[0]).toBeLessThan(report.steppedAt);
    expect(report.steppedAt).toBeLessThan((report.endedAt[0] as number) + DELAY_MS);
    return report;
  }

  /** The loads that began before the delay since the last one had passed. 1 ms for the rounding of clocks. */
  function early({ startedAt, beforeEndAt }: ClockStepReport): number {
    return startedAt.filter((at, i) => i > 0 && at < (beforeEndAt[i - 1] as number) + DELAY_MS - 1).length;
  }

  /** The reads that found the delay passed and no load, beside those that started one. */
  function late({ startedAt, endedAt, readAt }: ClockStepReport): number {
    const due = endedAt.flatMap((end, i) =>
      readAt.filter((at) => at >= end + DELAY_MS + 1 && at < (startedAt[i + 1] ?? Number.POSITIVE_INFINITY)),
    );
    return Math.max(0, due.length - (startedAt.length - 1));
  }

  it.each(['-3600', '+3600'])('by %s s: a reload comes when it is due by elapsed time', async (by) => {
    const report = await stepBy(by);
    expect(report.startedAt.length).toBeGreaterThanOrEqual(3);
    expect({ early: early(report), late: late(report) }).toEqual({ early: 0, late: 0 });
  });

  it('control: measured by the wall clock, a step forward makes it early', async () => {
    expect(early(await stepBy('+3600', 'wall'))).toBeGreaterThan(0);
  });

  it('control: measured by the wall clock, a step back freezes it', async () => {
    const report = await stepBy('-3600', 'wall');
    expect(report.startedAt).toHaveLength(1);
    expect(late(report)).toBeGreaterThan(10);
  });
});

describe('a wall clock that is stepped in virtual time', () => {
  interface Watched {
    readonly clock: FakeClock;
    /** What the wall clock showed at the start of each load. */
    readonly wallAtLoads: string[];
    /** Lets time pass, with a read every ten seconds. */
    read(minutes: number): Promise<void>;
  }

  async function watched(now: string, schedule: ScheduleLike): Promise<Watched> {
    const clock = new FakeClock({ now });
    const wallAtLoads: string[] = [];
    const load = async () => void wallAtLoads.push(new Date(clock.now()).toISOString().slice(0, 16));
    const value = new RefreshingValue({ name: 'v', load, schedule, clock, allowUndefined: true });
    await value.get();
    const read = async (minutes: number): Promise<void> => {
      for (let i = 0; i < minutes * 6; i++) {
        await clock.advance({ seconds: 10 });
        await value.get();
        await clock.flush();
      }
    };
    return { clock, wallAtLoads, read };
  }

  const onTheHour: ScheduleLike = ({ endedAt, since = endedAt }) =>
    (Math.floor(since / HOUR_MS) + 1) * HOUR_MS;

  it.each([
    ['dailyAt', dailyAt('05:00', { zone: 'UTC' })],
    ['a function of calendar instants', onTheHour],
  ])('forward over the instant: %s reloads within a minute of reads, once', async (_, schedule) => {
    const { clock, wallAtLoads, read } = await watched('2026-06-01T04:10', schedule);
    await read(10);
    clock.stepWall(HOUR_MS);
    await read(1);
    expect(wallAtLoads).toEqual(['2026-06-01T04:10', '2026-06-01T05:21']);
    await read(20);
    expect(wallAtLoads).toHaveLength(2);
  });

  it.each([
    ['dailyAt', dailyAt('05:00', { zone: 'UTC' })],
    ['a function of calendar instants', onTheHour],
  ])('back before the instant: %s reloads when it comes on the new clock', async (_, schedule) => {
    const { clock, wallAtLoads, read } = await watched('2026-06-01T05:10', schedule);
    await read(10);
    clock.stepWall(-HOUR_MS);
    await read(39);
    expect(wallAtLoads).toEqual(['2026-06-01T05:10']);
    await read(5);
    expect(wallAtLoads).toEqual(['2026-06-01T05:10', '2026-06-01T05:00']);
  });

  it.each([HOUR_MS, -HOUR_MS])('a delay is not moved by a step of %i ms that was noticed', async (step) => {
    const { clock, wallAtLoads, read } = await watched('2026-06-01T12:00', { minutes: 10 });
    await read(3);
    clock.stepWall(step);
    await read(6); // long enough to compare the clocks
    expect(wallAtLoads).toHaveLength(1);
    await read(1);
    expect(wallAtLoads).toHaveLength(2);
    await read(9);
    expect(wallAtLoads).toHaveLength(2);
    await read(1);
    expect(wallAtLoads).toHaveLength(3);
  });

  it('a clock that is stepped every minute, by hours, makes neither a storm nor a freeze', async () => {
    const { clock, wallAtLoads, read } = await watched('2026-06-01T12:00', { minutes: 10 });
    for (let minute = 0; minute < 100; minute++) {
      clock.stepWall((minute % 2 === 0 ? 3 : -4) * HOUR_MS);
      await read(1);
    }
    expect(wallAtLoads).toHaveLength(11);
  });
});
