import { beforeAll, describe, expect, it } from 'vitest';
import { reportOf, runFixture } from './child.ts';
import { libfaketime, withFakeTime } from './faketime.ts';
import { type ClockStepReport, DELAY_MS } from './fixtures/clock-step.ts';

describe.concurrent('a wall clock that is stepped in a real process', () => {
  beforeAll(() => libfaketime().then(() => {}), 300_000);

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

  it('a clock that takes the wall clock for its monotonic one goes on after a step back', async () => {
    const report = await stepBy('-3600', 'wall');
    expect(report.startedAt.length).toBeGreaterThanOrEqual(3);
  });
});
