import { describe, expect, it } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

describe('FakeClock', () => {
  it('moves only when it is moved', async () => {
    const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' });
    const start = Date.UTC(2026, 10, 20, 12);
    expect([clock.now(), clock.monotonic()]).toEqual([start, 0]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([clock.now(), clock.monotonic()]).toEqual([start, 0]);
    await clock.advance({ minutes: 1 });
    expect([clock.now(), clock.monotonic()]).toEqual([start + 60_000, 60_000]);
    clock.stepWall({ hours: -1 });
    expect([clock.now(), clock.monotonic()]).toEqual([start - 3_540_000, 60_000]);
  });

  it('fires timers in their order, each at its own instant, with what follows from it', async () => {
    const clock = new FakeClock();
    const fired: [string, number][] = [];
    const note = (name: string) => (): void => void fired.push([name, clock.monotonic()]);
    clock.setTimeout(note('b'), 20);
    clock.setTimeout(note('a'), 10);
    clock.setTimeout(note('never'), 15).cancel();
    clock.setTimeout(async () => {
      await Promise.resolve();
      clock.setTimeout(note('c'), 25);
    }, 5);
    clock.setTimeout(note('late'), 101);
    await clock.advance(100);
    expect(fired).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 30],
    ]);
    expect(clock.timerCount).toBe(1);
  });

  it('fires a timer of 0 ms by itself, once', async () => {
    const clock = new FakeClock();
    let fired = 0;
    clock.setTimeout(() => {
      fired += 1;
    }, 0);
    expect(fired).toBe(0);
    await clock.flush();
    expect(fired).toBe(1);
    await clock.advance(10);
    expect(fired).toBe(1);
  });

  it('rejects invalid instants and durations', async () => {
    expect(thrownBy(() => new FakeClock({ now: 'soon' }))).toMatchObject({ code: 'OPTION' });
    const clock = new FakeClock();
    for (const duration of [-1, Number.NaN, Number.POSITIVE_INFINITY, {}]) {
      expect(isTicklessError(await rejectionOf(clock.advance(duration)), 'OPTION')).toBe(true);
    }
    expect(thrownBy(() => clock.stepWall(Number.NaN))).toMatchObject({ code: 'OPTION' });
  });
});
